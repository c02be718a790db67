"""Twins for threads that end while others meet."""

from exogpu.skeleton import *


def told(first, everybody=1):
    """One half of the threads ends when the other one has told it to, `first` of all or not."""

    @skeleton
    def kernel():
        b = mbarrier(count=1)
        with role("a", threads=64):
            if first == 1:
                with elect():
                    arrive(b)
            if everybody == 1:
                cta_sync()
            else:
                bar_sync(0, 128)
            if first == 0:
                with elect():
                    arrive(b)
        with role("b", threads=64):
            wait(b, parity=0)
            exit()

    return kernel


def some_work(otherwise):
    """A role ends if there is little to do; if not, it is there when the others meet, or it is not."""

    @skeleton
    def kernel(n: size):
        x = smem(128)
        with role("a", threads=64):
            store(x[tid])
            cta_sync()
            load(x[0:64])
        with role("b", threads=64):
            if n > 3:
                exit()
            if otherwise == 1:
                cta_sync()

    return kernel


def no_more(waits):
    """Who has ended has not waited for the others' last store."""

    @skeleton
    def kernel():
        x = smem(64)
        with role("a", threads=64):
            cta_sync()
            store(x[tid])
            cta_sync()
            load(x)
        with role("b", threads=64):
            if waits == 0:
                cta_sync()
                load(x)
                exit()
            if waits == 1:
                load(x)
                cta_sync()
                exit()

    return kernel


def in_flight(waits, everybody=1):
    """All threads end, the one that copies when its memory has been read or another when it has seen that, or not."""

    @skeleton
    def kernel():
        x = smem(64)
        full = mbarrier(count=1)
        with role("a", threads=32):
            if tid == 0:
                if everybody == 1:
                    tma_store(x)
                    bulk_commit()
                    if waits == 1:
                        bulk_wait_read(0)
                else:
                    arrive(full, tx=512)
                    tma_load(x, full, bytes=512)
            exit()
        with role("b", threads=32):
            if everybody == 0:
                if waits == 1:
                    if tid == 31:
                        wait(full, parity=0)
            exit()

    return kernel


def in_turns(left):
    """All threads end. Two roles wait for copies by turns, so no thread waits for all; one may leave its last ones."""

    @skeleton
    def kernel(evens: size, odds: size, steps: size):
        require(evens >= odds)
        require(evens <= odds + 1)
        x = smem(2)
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=32)
        with role("copies", warps=1):
            with elect():
                p = 0
                for t in range(evens + odds):
                    for k in range(steps):
                        wait(empty[p % 2], parity=p // 2 + 1)
                        arrive(full[p % 2], tx=512)
                        tma_load(x[p % 2], full[p % 2], bytes=512)
                        p += 1
            exit()
        with role("even", warps=1):
            c = 0
            for u in range(evens):
                bar_sync(1, 64)
                for k in range(steps):
                    wait(full[c % 2], parity=c // 2)
                    load(x[c % 2])
                    proxy_fence()
                    arrive(empty[c % 2])
                    c += 1
                bar_arrive(2, 64)
                for k in range(steps):
                    c += 1
            exit()
        with role("odd", warps=1):
            bar_arrive(1, 64)
            c = 0
            for u in range(odds):
                for k in range(steps):
                    c += 1
                bar_sync(2, 64)
                if u + left < odds:
                    for k in range(steps):
                        wait(full[c % 2], parity=c // 2)
                        load(x[c % 2])
                        proxy_fence()
                        arrive(empty[c % 2])
                        c += 1
                bar_arrive(1, 64)
            exit()

    return kernel


def last_read(others):
    """What a CTA reads last is another's memory, which can be gone, or its own."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        x = smem(128)
        with role("all", threads=128):
            for i in range(n):
                cluster_sync()
                store(peer(x[tid], 1 - rank))
                cluster_sync()
                if others == 1:
                    load(peer(x, 1 - rank))
                else:
                    load(x)
            exit()

    return kernel


def idle(early=0, count=0):
    """Some warps have no work, nobody knows which, and end before the others meet in a loop. `early`: their last store
    is read; `count`: the barrier counts them."""

    @skeleton
    def kernel(n: size):
        x = smem(64)
        with role("all", warps=2):
            if early == 1:
                store(x[tid])
            if pred("idle", warp):
                exit()
            if early == 0:
                store(x[tid])
            for i in range(n):
                if count == 0:
                    cta_sync()
                else:
                    bar_sync(1, 64)
                load(x)

    return kernel


def no_tile(meets):
    """A CTA without work meets the others where it stands, and as often as they do, or once more."""

    @skeleton
    def kernel():
        cluster(2)
        x = smem(32)
        with role("all", warps=1):
            if pred("no_tile", rank):
                for s in range(meets):
                    cluster_sync()
                exit()
            store(x[tid])
            cluster_sync()
            cluster_sync()
            load(x)

    return kernel


def arms(other):
    """Warps meet in one of two arms, in the same order or not."""

    @skeleton
    def kernel():
        x = smem(32)
        with role("a", warps=1):
            if pred("first", 0):
                bar_sync(1, 64)
                store(x[lane])
                bar_sync(2, 64)
            else:
                bar_sync(2, 64)
                bar_sync(1, 64)
        with role("b", warps=1):
            if pred("first", other):
                bar_sync(1, 64)
                bar_sync(2, 64)
                load(x)
            else:
                bar_sync(2, 64)
                bar_sync(1, 64)

    return kernel


TWINS = [
    ("deadlock.cycle", no_tile(3), no_tile(2)),
    ("deadlock.cycle", arms(1), arms(0)),
    ("race.raw", idle(early=1), idle()),
    ("deadlock.cycle", idle(count=1), idle()),
    ("exit", in_turns(1), in_turns(0)),
    ("exit", in_flight(0), in_flight(1)),
    ("exit", in_flight(0, 0), in_flight(1, 0)),
    ("progress", told(0), told(1)),
    ("count/barrier 0", told(1, 0), told(1)),
    ("race.raw", no_more(0), no_more(1)),
    ("count/barrier 0", some_work(0), some_work(1)),
    ("exit", last_read(1), last_read(0)),
]
