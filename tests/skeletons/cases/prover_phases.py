"""Twins for what is shown of mbarriers: the obligation that the first of a pair leaves open, and the pair."""

from exogpu.skeleton import *


def ring(slots=1, ahead=0, turn=0, produced=1, arrivals=1, count=1):
    """A ring of three slots between two threads; each argument spoils one thing."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(3, count=count)
        empty = mbarrier(3, count=1)
        x = smem(3)
        with role("p", threads=1):
            for i in range(n):
                wait(empty[i % 3], parity=i // 3 + produced)
                store(x[i % 3])
                arrive(full[(slots * i + ahead) % 3], count=arrivals)
        with role("c", threads=1):
            for i in range(n):
                wait(full[i % 3], parity=i // 3 + turn)
                load(x[i % 3])
                arrive(empty[i % 3])

    return kernel


def halves(times, count):
    """One thread arrives several times for a phase."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=count)
        empty = mbarrier(count=1)
        x = smem(2)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                for k in range(times):
                    store(x[k])
                    arrive(full)
        with role("c", threads=1):
            for i in range(n):
                wait(full, parity=i)
                load(x)
                arrive(empty)

    return kernel


def overtaken(two):
    """A second waiter is lapped, unless it takes part in the release."""
    count = 1 + two

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=count)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                arrive(full)
        with role("c", threads=1):
            for i in range(n):
                wait(full, parity=i)
                arrive(empty)
        with role("d", threads=1):
            for i in range(n):
                wait(full, parity=i)
                if two:
                    arrive(empty)

    return kernel


def opened(waits):
    """A phase gets its arrivals only when the one before is over."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=2)
        with role("a", threads=1):
            for i in range(n):
                arrive(full)
                wait(full, parity=i)
        with role("b", threads=1):
            for i in range(n):
                arrive(full)
                if waits:
                    wait(full, parity=i)

    return kernel


def nested(inner, counted):
    """Rounds counted across nested loops, or those of the inner loop alone."""

    @skeleton
    def kernel(n: size, m: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        x = smem(2)
        with role("p", threads=1):
            c = 0
            for t in range(n):
                for k in range(inner):
                    wait(empty[c % 2], parity=c // 2 + 1)
                    store(x[c % 2])
                    arrive(full[c % 2])
                    c += 1
        with role("c", threads=1):
            d = 0
            for t in range(n):
                for k in range(inner):
                    if counted:
                        wait(full[d % 2], parity=d // 2)
                        load(x[d % 2])
                        arrive(empty[d % 2])
                    else:
                        wait(full[k % 2], parity=k // 2)
                        load(x[k % 2])
                        arrive(empty[k % 2])
                    d += 1

    return kernel


def skipping(both):
    """Rounds that a predicate skips, in one role or in both."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=1)
        x = smem()
        with role("p", threads=1):
            c = 0
            for i in range(n):
                if pred("work", i):
                    wait(empty, parity=c + 1)
                    store(x)
                    arrive(full)
                    c += 1
        with role("c", threads=1):
            d = 0
            for i in range(n):
                if both:
                    if pred("work", i):
                        wait(full, parity=d)
                        load(x)
                        arrive(empty)
                        d += 1
                else:
                    wait(full, parity=d)
                    load(x)
                    arrive(empty)
                    d += 1

    return kernel


def cyclic(first):
    """Both wait before they arrive, or one arrives first."""

    @skeleton
    def kernel(n: size):
        a = mbarrier(count=1)
        b = mbarrier(count=1)
        with role("p", threads=1):
            for i in range(n):
                if first:
                    arrive(a)
                wait(b, parity=i)
                if not first:
                    arrive(a)
        with role("c", threads=1):
            for i in range(n):
                wait(a, parity=i)
                arrive(b)

    return kernel


def too_rarely(rounds):
    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=1)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                arrive(full)
        with role("c", threads=1):
            for i in range(n + rounds):
                wait(full, parity=i)
                arrive(empty)

    return kernel


def tiles(rounds):
    """Slots and parities start anew in each tile: that fits if its rounds turn the ring an even number of times."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        x = smem(2)
        with role("p", threads=1):
            for t in range(n):
                for k in range(rounds):
                    wait(empty[k % 2], parity=k // 2 + 1)
                    store(x[k % 2])
                    arrive(full[k % 2])
        with role("c", threads=1):
            for t in range(n):
                for k in range(rounds):
                    wait(full[k % 2], parity=k // 2)
                    load(x[k % 2])
                    arrive(empty[k % 2])

    return kernel


def never_freed(trips):
    """Nobody gives slots back: there are as many as are used, or one less."""

    @skeleton
    def kernel():
        full = mbarrier(4, count=1)
        empty = mbarrier(4, count=1)
        x = smem(4)
        with role("p", threads=1):
            for i in range(trips):
                wait(empty[i % 4], parity=i // 4 + 1)
                store(x[i % 4])
                arrive(full[i % 4])
        with role("c", threads=1):
            for i in range(trips):
                wait(full[i % 4], parity=i // 4)
                load(x[i % 4])

    return kernel


def nobody_arrives(parity):
    """A wait on an mbarrier that nobody arrives at, for the phase before the first or for the first."""

    @skeleton
    def kernel():
        b = mbarrier(count=1)
        with role("p", threads=1):
            wait(b, parity)

    return kernel


TWINS = [
    ("parity/empty", never_freed(5), never_freed(4)),
    ("parity/b", nobody_arrives(0), nobody_arrives(1)),
    ("slot/full", ring(slots=2), ring()),
    ("race.raw", ring(ahead=1), ring()),
    ("parity/full", ring(turn=1), ring(turn=2)),
    ("progress", ring(produced=0), ring(produced=3)),
    ("progress", ring(arrivals=1, count=2), ring(arrivals=2, count=2)),
    ("progress", halves(2, 3), halves(2, 2)),
    ("observed/full", halves(2, 1), halves(1, 1)),
    ("parity/full", overtaken(False), overtaken(True)),
    ("open/full", opened(False), opened(True)),
    ("slot/empty", nested(3, False), nested(3, True)),
    ("open/full", skipping(False), skipping(True)),
    ("parity/full", tiles(2), tiles(4)),
    ("progress", cyclic(False), cyclic(True)),
    ("progress", too_rarely(1), too_rarely(0)),
]
