"""Slots that go round and phases that flip with them, each beside a twin that differs in one place."""

from exogpu.skeleton import *


def turns(both):
    """A phase bit flips whenever the slot has come round, or only in one place of two."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        with role("p", threads=1):
            for i in range(n):
                for k in range(2):
                    wait(empty[k], parity=i + 1)
                    arrive(full[k])
        with role("q", threads=1):
            s = 0
            ph = 0
            for i in range(n):
                wait(full[s], parity=ph)
                arrive(empty[s])
                s = (s + 1) % 2
                if s == 0:
                    ph ^= 1
                wait(full[s], parity=ph)
                arrive(empty[s])
                s = (s + 1) % 2
                if both:
                    if s == 0:
                        ph ^= 1

    return kernel


def wraps(first, top):
    """A slot that goes back to 0 behind the last one, unless it has started beyond."""

    @skeleton
    def kernel(n: size):
        x = smem(64)
        with role("p", threads=1):
            s = first
            for i in range(min(n, 20)):
                s += 1
                if s == top:
                    s = 0
                store(x[s])
        with role("q", threads=1):
            store(x[7])

    return kernel


def wraps_behind(used):
    """What stands before the slot goes back to 0 sees the last one."""

    @skeleton
    def kernel(n: size):
        x = smem(4)
        with role("p", threads=1):
            s = 0
            ph = 0
            for i in range(n):
                s += 1
                if s == 3:
                    if used:
                        store(x[s])
                    s = 0
                    ph ^= 1
                store(x[ph])
        with role("q", threads=1):
            store(x[3])

    return kernel


def wraps_or_steps(first, top, least=False):
    """The slot goes back to 0 from the last one and is stepped otherwise, unless it has started beyond."""

    @skeleton
    def kernel(n: size):
        x = smem(64)
        with role("p", threads=1):
            s = first
            for i in range(min(n, 20)):
                if least:
                    if s < top - 1:
                        s += 1
                    else:
                        s = 0
                else:
                    if s == top - 1:
                        s = 0
                    else:
                        s += 1
                store(x[s])
        with role("q", threads=1):
            store(x[7])

    return kernel


def flips(last):
    """A phase bit flips where the slot goes back to 0, from the last one or from the one before."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(3, count=1)
        empty = mbarrier(3, count=1)
        x = smem(3)
        with role("p", threads=1):
            for i in range(n):
                wait(empty[i % 3], parity=i // 3 + 1)
                store(x[i % 3])
                arrive(full[i % 3])
        with role("q", threads=1):
            s = 0
            ph = 0
            for i in range(n):
                wait(full[s], parity=ph)
                load(x[s])
                arrive(empty[s])
                if s + 1 == last:
                    s = 0
                    ph ^= 1
                else:
                    s += 1

    return kernel


def laps(first, phase, ahead=0):
    """What a slot and its phase are in each iteration, wherever they begin."""

    @skeleton
    def kernel(n: size):
        with role("p", threads=1):
            s = first
            ph = phase
            for i in range(n):
                check(s == (i + first) % 3)
                check(ph == ((i + 1) // 3 + ahead) % 2)
                s = (s + 1) % 3
                if s == 0:
                    ph ^= 1

    return kernel


def phase_from(first):
    """A phase that begins with a value which it never comes back to, and one that never has that value."""

    @skeleton
    def kernel(n: size):
        x = smem()
        with role("p", threads=1):
            s = 0
            ph = first
            for i in range(n):
                if ph == 2:
                    store(x)
                s = (s + 1) % 2
                if s == 0:
                    ph ^= 1
        with role("q", threads=1):
            store(x)

    return kernel


TWINS = [
    ("race.waw", phase_from(2), phase_from(0)),
    ("seq.mismatch", laps(1, 1), laps(1, 0)),
    ("seq.mismatch", laps(2, 0), laps(1, 0)),
    ("seq.mismatch", laps(1, 0, ahead=1), laps(1, 1, ahead=1)),
    ("deadlock.cycle | mbar.parity_alias", turns(False), turns(True)),
    ("race.waw", wraps(3, 3), wraps(2, 3)),
    ("race.waw", wraps_or_steps(3, 3), wraps_or_steps(2, 3)),
    ("race.waw", wraps_or_steps(6, 8, least=True), wraps_or_steps(6, 7, least=True)),
    ("deadlock.cycle | mbar.parity_alias", flips(2), flips(3)),
    ("race.waw", wraps_behind(True), wraps_behind(False)),
]
