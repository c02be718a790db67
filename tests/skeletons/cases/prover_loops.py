"""Twins for a ring that one role goes through in one loop, and the other in several that go on from each other."""

from exogpu.skeleton import *

S = 3


def by_counter(slip=0):
    """A counter runs on. `slip`: the last loop takes a slot too far on."""

    @skeleton
    def kernel(masked: size, others: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=4)
        x = smem(S)
        with role("load", threads=1):
            for i in range(masked + others):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=64)
                tma_load(x[i % S], full[i % S], bytes=64)
        with role("math", warps=4):
            r = 0
            for i in range(masked):
                wait(full[r % S], parity=r // S)
                load(x[r % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[r % S])
                r += 1
            for i in range(others):
                wait(full[r % S], parity=r // S)
                load(x[(r + slip) % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[r % S])
                r += 1

    return kernel


def by_sum(slip=0):
    """The same with sums in the place of a counter, and the loops in the role that fills the ring."""

    @skeleton
    def kernel(masked: size, others: size):
        full = mbarrier(S, count=2)
        empty = mbarrier(S, count=2)
        x = smem(S, 2)
        with role("load", warps=2):
            for i in range(masked):
                wait(empty[i % S], parity=i // S + 1)
                with elect():
                    store(x[i % S, warp])
                    arrive(full[i % S])
            for i in range(others):
                wait(empty[(masked + i) % S], parity=(masked + i) // S + 1)
                with elect():
                    store(x[(masked + i + slip) % S, warp])
                    arrive(full[(masked + i) % S])
        with role("math", warps=2):
            for i in range(masked + others):
                wait(full[i % S], parity=i // S)
                load(x[i % S])
                warp_sync()
                with elect():
                    arrive(empty[i % S])

    return kernel


def by_state(slip=0):
    """A slot and a phase, as a pipeline's state has them."""

    @skeleton
    def kernel(masked: size, others: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=2)
        x = smem(S)
        with role("load", threads=1):
            for i in range(masked + others):
                wait(empty[i % S], parity=i // S + 1)
                store(x[i % S])
                arrive(full[i % S])
        with role("math", warps=2):
            slot = 0
            phase = 0
            for i in range(masked):
                wait(full[slot], parity=phase)
                load(x[slot])
                warp_sync()
                with elect():
                    arrive(empty[slot])
                slot += 1
                if slot == S:
                    slot = 0
                    phase ^= 1
            for i in range(others):
                wait(full[slot], parity=phase)
                load(x[(slot + slip) % S])
                warp_sync()
                with elect():
                    arrive(empty[slot])
                slot += 1
                if slot == S:
                    slot = 0
                    phase ^= 1

    return kernel


def by_changing(ahead):
    """The first loop has as many trips as a counter says, which the second one steps."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        with role("all", threads=1):
            c = 2
            for i in range(c):
                wait(full, parity=1)
            for j in range(n):
                wait(full, parity=1)
                check(c == j + ahead)
                c += 1

    return kernel


def levels(early, stages):
    """A ring of the outer loop around one of the inner loop, which may have no iteration: attention's Q and K. The slot
    of Q is given back behind its last use, or before it."""

    @skeleton
    def kernel(tiles: size, n: size):
        qf = mbarrier(stages, count=1)
        qe = mbarrier(stages, count=2)
        kf = mbarrier(2, count=1)
        ke = mbarrier(2, count=2)
        q = smem(stages)
        k = smem(2)
        with role("load", threads=1):
            c = 0
            for t in range(tiles):
                wait(qe[t % stages], parity=t // stages + 1)
                arrive(qf[t % stages], tx=16)
                tma_load(q[t % stages], qf[t % stages], bytes=16)
                for i in range(n):
                    wait(ke[c % 2], parity=c // 2 + 1)
                    arrive(kf[c % 2], tx=16)
                    tma_load(k[c % 2], kf[c % 2], bytes=16)
                    c += 1
        with role("math", warps=2):
            c = 0
            for t in range(tiles):
                wait(qf[t % stages], parity=t // stages)
                for i in range(n):
                    wait(kf[c % 2], parity=c // 2)
                    load(q[t % stages])
                    load(k[c % 2])
                    proxy_fence()
                    warp_sync()
                    with elect():
                        arrive(ke[c % 2])
                    c += 1
                if early == 0:
                    load(q[t % stages])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(qe[t % stages])
                if early == 1:
                    load(q[t % stages])

    return kernel


TWINS = [
    ("race.raw", levels(1, 1), levels(0, 2)),
    ("race.raw", levels(1, 1), levels(0, 1)),
    ("race.raw", levels(1, 1), levels(0, 3)),
    ("check", by_changing(3), by_changing(2)),
    ("race.raw", by_counter(slip=1), by_counter()),
    ("race.raw", by_sum(slip=2), by_sum()),
    ("race.raw", by_state(slip=1), by_state()),
]
