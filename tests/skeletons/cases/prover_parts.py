"""Twins for what only some threads or some phases have: work of single warps, bytes of single tiles."""

from exogpu.skeleton import *

INSIDE, OUTSIDE = 1, 2
LAST, BIG, THIRD, SCALED, MASKED = range(5)


def stealing(stands=0, by_trip=False):
    """Every warp takes tiles of its own; a barrier of all warps stands where all of them come by, or where not."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(4, count=1)
        tile = smem(4)
        with role("worker", warps=4):
            taken = 0
            for i in range(n):
                if pred("stolen", i, warp):
                    with elect():
                        arrive(full[warp], tx=4096)
                        tma_load(tile[warp], full[warp], bytes=4096)
                    if by_trip:
                        wait(full[warp], parity=i)
                    else:
                        wait(full[warp], parity=taken)
                    if stands == INSIDE:
                        bar_sync(1, 128)
                    load(tile[warp])
                    proxy_fence()
                    warp_sync()
                    taken += 1
                if stands == OUTSIDE:
                    bar_sync(1, 128)

    return kernel


def own_lists(both):
    """Each CTA has a list of its own, as long as it may be; producer and consumer go by the same one."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        x = smem(2)
        with role("p", threads=1):
            c = 0
            for i in range(n):
                if pred("mine", i, rank):
                    wait(empty[c % 2], parity=c // 2 + 1)
                    store(x[c % 2])
                    arrive(full[c % 2])
                    c += 1
        with role("c", threads=1):
            d = 0
            for i in range(n):
                if both:
                    if pred("mine", i, rank):
                        wait(full[d % 2], parity=d // 2)
                        load(x[d % 2])
                        arrive(empty[d % 2])
                        d += 1
                else:
                    if pred("mine", i, 0):
                        wait(full[d % 2], parity=d // 2)
                        load(x[d % 2])
                        arrive(empty[d % 2])
                        d += 1

    return kernel


def fewer_trips(step):
    """Later warps have fewer trips, and wait for so many."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(4, count=1)
        empty = mbarrier(4, count=1)
        x = smem(4)
        with role("p", threads=1):
            for w in range(4):
                for i in range(n):
                    if i < n - w:
                        wait(empty[w], parity=i + 1)
                        store(x[w])
                        arrive(full[w])
        with role("c", warps=4):
            for i in range(n - step * warp):
                wait(full[warp], parity=i)
                load(x[warp])
                warp_sync()
                with elect():
                    arrive(empty[warp])

    return kernel


def ring(announced, tile, loads, too_many=0):
    """A ring whose tiles have different bytes; `tile` tells which, `loads` how many."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        x = smem(2)
        y = smem(2)
        with role("p", threads=1):
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1)
                if tile == LAST:
                    if i + 1 < n:
                        arrive(full[i % 2], tx=512)
                        tma_load(x[i % 2], full[i % 2], bytes=512)
                    else:
                        arrive(full[i % 2], tx=announced)
                        tma_load(x[i % 2], full[i % 2], bytes=128)
                if tile == BIG:
                    if pred("big", i):
                        arrive(full[i % 2], tx=512)
                    else:
                        arrive(full[i % 2], tx=announced)
                    if pred("big", i):
                        tma_load(x[i % 2], full[i % 2], bytes=512)
                    else:
                        tma_load(x[i % 2], full[i % 2], bytes=128)
                if tile == THIRD:
                    if i % 3 == 0:
                        arrive(full[i % 2], tx=512)
                    else:
                        arrive(full[i % 2], tx=announced)
                    if i % 3 == loads:
                        tma_load(x[i % 2], full[i % 2], bytes=512)
                    if i % 3 != loads:
                        tma_load(x[i % 2], full[i % 2], bytes=128)
                if tile == SCALED:
                    if pred("scaled", i):
                        expect(full[i % 2], announced)
                        tma_load(y[i % 2], full[i % 2], bytes=128)
                    arrive(full[i % 2], tx=512)
                    tma_load(x[i % 2], full[i % 2], bytes=512)
                if tile == MASKED:
                    if pred("masked", i):
                        if too_many == 1:
                            arrive(full[i % 2], tx=128)
                        else:
                            arrive(full[i % 2])
                    else:
                        arrive(full[i % 2], tx=announced)
                        tma_load(x[i % 2], full[i % 2], bytes=128)
        with role("c", threads=1):
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                load(x[i % 2])
                load(y[i % 2])
                proxy_fence()
                arrive(empty[i % 2])

    return kernel


def another_word(shared):
    """A name for the number of the warp, which takes its turn."""

    @skeleton
    def kernel(n: size):
        x = smem(2)
        with role("all", warps=2):
            for i in range(n):
                w = warp
                slot = w * (1 - shared)
                if w == i % 2:
                    with elect():
                        store(x[slot])
                    warp_sync()

    return kernel


def turn_by_turn(early):
    """Two warps write in turn, each when a flag has come to what a name stands for."""

    @skeleton
    def kernel(n: size):
        f = flags()
        x = gmem(1)
        with role("all", warps=2):
            for i in range(n):
                turn = 2 * i + warp
                with elect():
                    spin(f, turn - early)
                    store(x[0])
                    signal(f, turn + 1)

    return kernel


def shares(first):
    """The CTAs of a cluster write every other tile each."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        y = gmem(2 * n, result=True)
        with role("all", threads=1):
            for i in range(first, n):
                store(y[2 * i + rank])

    return kernel


TWINS = [
    ("result", shares(1), shares(0)),
    ("race.waw", another_word(1), another_word(0)),
    ("race.waw", turn_by_turn(1), turn_by_turn(0)),
    ("progress", stealing(INSIDE), stealing(OUTSIDE)),
    ("open/full", stealing(by_trip=True), stealing()),
    ("progress", own_lists(False), own_lists(True)),
    ("open/empty", fewer_trips(2), fewer_trips(1)),
    ("tx/full", ring(256, LAST, 0), ring(128, LAST, 0)),
    ("tx/full", ring(256, BIG, 0), ring(128, BIG, 0)),
    ("tx/full", ring(128, THIRD, 1), ring(128, THIRD, 0)),
    ("tx/full", ring(256, SCALED, 0), ring(128, SCALED, 0)),
    ("tx/full", ring(128, MASKED, 0, too_many=1), ring(128, MASKED, 0)),
]
