"""Twins for rings that are a part of an mbarrier array."""

from exogpu.skeleton import *

S = 3


def ring(step=1, first=S, elements=2 * S, turn=0, slip=0):
    """Full and empty barriers of a ring in one array: behind each other, or in turn."""

    @skeleton
    def kernel(n: size):
        bar = mbarrier(elements, count=1)
        x = smem(S)
        with role("p", threads=1):
            for i in range(n):
                wait(bar[step * (i % S) + first], parity=i // S + 1)
                store(x[i % S])
                arrive(bar[step * ((i + slip) % S)])
        with role("c", threads=1):
            for i in range(n):
                wait(bar[step * (i % S)], parity=i // S + turn)
                load(x[i % S])
                arrive(bar[step * (i % S) + first])

    return kernel


def common(first):
    """The two parts have an element in common, or none."""

    @skeleton
    def kernel(n: size):
        bar = mbarrier(4, count=1)
        x = smem(2)
        with role("p", threads=1):
            for i in range(n):
                wait(bar[first + i % 2], parity=i // 2 + 1)
                store(x[i % 2])
                arrive(bar[i % 2])
        with role("c", threads=1):
            for i in range(n):
                wait(bar[i % 2], parity=i // 2)
                load(x[i % 2])
                arrive(bar[first + i % 2])

    return kernel


def initialised(count, slots):
    """Parts of one array with different arrival counts."""

    @skeleton
    def kernel(n: size):
        bar = mbarrier(2 * S + 1)
        x = smem(S)
        with role("all", threads=64):
            if tid == 0:
                for k in range(slots):
                    init(bar[k], 1)
                    init(bar[S + k], count)
                init(bar[2 * S], 1)
            cta_sync()
            if tid == 0:
                slot = 0
                phase = 0
                for i in range(n):
                    wait(bar[S + slot], parity=phase + 1)
                    arrive(bar[slot], tx=64)
                    tma_load(x[slot], bar[slot], bytes=64)
                    slot += 1
                    if slot == S:
                        slot = 0
                        phase ^= 1
            elif tid >= 32:
                for i in range(n):
                    wait(bar[i % S], parity=i // S)
                    load(x[i % S])
                    proxy_fence()
                    arrive(bar[S + i % S])

    return kernel


def by_warp(other):
    """Each warp has a ring of its own in the array."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(4, count=1)
        empty = mbarrier(4, count=1)
        x = smem(4)
        with role("p", warps=2), elect():
            for i in range(n):
                wait(empty[warp * 2 + i % 2], parity=i // 2 + 1)
                arrive(full[warp * 2 + i % 2], tx=64)
                tma_load(x[warp * 2 + i % 2], full[warp * 2 + i % 2], bytes=64)
        with role("c", warps=2), elect():
            for i in range(n):
                wait(full[warp * 2 + i % 2], parity=i // 2)
                load(x[(warp + other) % 2 * 2 + i % 2])
                proxy_fence()
                arrive(empty[warp * 2 + i % 2])

    return kernel


def by_hand(slots, pace=1, last=0, counts=False):
    """The consumer's loop is unrolled by hand: two slots in an iteration, which may be half of the ring."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(slots, count=1)
        empty = mbarrier(slots, count=1)
        x = smem(slots)
        with role("p", threads=1):
            for i in range(2 * n):
                wait(empty[i % slots], parity=i // slots + 1)
                store(x[i % slots])
                arrive(full[i % slots])
        with role("c", threads=1):
            c = 0
            for i in range(n):
                if counts:
                    wait(full[c % slots], parity=c // slots)
                    load(x[c % slots])
                    arrive(empty[c % slots])
                    c += 1
                    wait(full[c % slots], parity=c // slots)
                    load(x[c % slots])
                    arrive(empty[(c + last) % slots])
                    c += pace
                else:
                    wait(full[(2 * i) % slots], parity=(2 * i) // slots)
                    load(x[(2 * i) % slots])
                    arrive(empty[(2 * i) % slots])
                    wait(full[(2 * i + pace) % slots], parity=(2 * i + 1) // slots)
                    load(x[(2 * i + 1) % slots])
                    arrive(empty[(2 * i + 1 + last) % slots])

    return kernel


def mailbox(early):
    """A role hands on tiles without going through their steps, and two others go through a ring of these."""

    @skeleton
    def kernel(tiles: size, steps: size):
        require(steps >= 1)
        told = mbarrier(count=1)
        read = mbarrier(count=2)
        tile = smem()
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=1)
        with role("scheduler", threads=1):
            for t in range(tiles):
                wait(read, parity=t + 1)
                store(tile)
                arrive(told)
        with role("p", threads=1):
            c = 0
            for t in range(tiles):
                wait(told, parity=t)
                load(tile)
                arrive(read)
                for k in range(steps):
                    wait(empty[c % S], parity=c // S + 1)
                    arrive(full[c % S])
                    c += 1
        with role("c", threads=1):
            c = 0
            for t in range(tiles):
                wait(told, parity=t)
                if early == 1:
                    arrive(read)
                    load(tile)
                else:
                    load(tile)
                    arrive(read)
                for k in range(steps):
                    wait(full[c % S], parity=c // S)
                    arrive(empty[c % S])
                    c += 1

    return kernel


def by_slot(first):
    """Slots have mbarriers by themselves, and conditions on the slot tell which; they are released in turn."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        even = mbarrier(count=1)
        odd = mbarrier(count=1)
        x = smem(2)
        with role("p", threads=1):
            s = 0
            ph = 0
            for i in range(n):
                if s == 0:
                    wait(even, parity=ph + 1)
                else:
                    wait(odd, parity=ph + 1)
                store(x[s])
                arrive(full[s])
                s = (s + 1) % 2
                if s == 0:
                    ph ^= 1
        with role("c", threads=1):
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                load(x[i % 2])
                if i % 2 == first:
                    arrive(even)
                else:
                    arrive(odd)

    return kernel


def strides(first, second):
    """What is done for two slots, one after the other, with steps of this length through memory."""

    @skeleton
    def kernel(n: size):
        b = mbarrier(2, count=1)
        x = gmem(4 * n)
        with role("p", threads=1):
            for i in range(n):
                wait(b[0], parity=i)
                load(x[first * i])
                wait(b[1], parity=i)
                load(x[second * i])

    return kernel


TWINS = [
    ("observed/odd", by_slot(1), by_slot(0)),
    ("deadlock.cycle", by_hand(2, last=1), by_hand(2)),
    ("race.raw", by_hand(4, pace=2), by_hand(4)),
    ("deadlock.cycle", by_hand(3, counts=True, pace=2), by_hand(3, counts=True)),
    ("race.raw", ring(slip=1), ring()),
    ("parity/bar[0:5:2]", ring(step=2, first=1, turn=1), ring(step=2, first=1)),
    ("race.raw", ring(first=4, elements=8, slip=2), ring(first=4, elements=8)),
    ("wait/bar[3:5]", ring(elements=2 * S - 1), ring(elements=2 * S)),
    ("mbar.count", common(1), common(2)),
    ("count/bar[3:6]", initialised(33, S), initialised(32, S)),
    ("init/bar[0:3]/all", initialised(32, S - 1), initialised(32, S)),
    ("race.raw", by_warp(1), by_warp(0)),
    ("tile", mailbox(1), mailbox(0)),
]

ROLLED = [
    (strides(2, 4), strides(2, 2)),
    (strides(4, 2), strides(4, 4)),
    (strides(3, 1), strides(3, 3)),
]
"""Of each pair the second one repeats itself in a loop of slots; that of the first would have products of variables."""
