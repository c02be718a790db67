"""Counters that a proof once took for something else, each beside a twin that differs in one place."""

from exogpu.skeleton import *


def steps(everywhere):
    """One CTA of two steps its counter, or both do."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        full = mbarrier(2, count=1)
        with role("p", threads=1):
            c = 0
            for i in range(n):
                arrive(full[c % 2])
                wait(full[c % 2], parity=c // 2)
                if everywhere:
                    c += 1
                else:
                    if rank == 0:
                        c += 1

    return kernel


def named(late):
    """A name keeps the value that the counter has there."""

    @skeleton
    def kernel(n: size):
        require(n <= 1)
        x = smem(2)
        with role("p", threads=1):
            c = 0
            for i in range(n):
                if late:
                    c += 1
                s = c % 2
                if not late:
                    c += 1
                store(x[s])
        with role("q", threads=1):
            store(x[0])

    return kernel


def starts(first):
    @skeleton
    def kernel(n: size):
        x = smem(3)
        with role("p", threads=1):
            s = first
            for i in range(n):
                store(x[s])
                s = (s + 1) % 3

    return kernel


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


def anew(each):
    """A counter that starts anew for each CTA, or goes on."""

    @skeleton
    def kernel():
        cluster(2)
        done = mbarrier(count=1)
        x = smem()
        with role("p", threads=1, ctas=0):
            if each:
                for k in range(2):
                    c = 0
                    check(c == 2 * k)
                    load(peer(x, k))
                    c += 2
            else:
                c = 0
                for k in range(2):
                    check(c == 2 * k)
                    load(peer(x, k))
                    c += 2

    return kernel


def by_one_lane(outside, behind=False):
    """The elected lane steps a counter that it alone uses, or that all use."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        x = smem()
        with role("p", threads=32):
            c = 0
            for i in range(n):
                if outside:
                    wait(full, parity=c + 1)
                with elect():
                    arrive(full, tx=512)
                    tma_load(x, full, bytes=512)
                    wait(full, parity=c)
                    c += 1
            if behind:
                check(c == n)

    return kernel


def between_bytes(behind):
    """Bytes are announced and copied where a counter is even, which is stepped between the two or behind them."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        x = smem()
        with role("p", threads=1):
            c = 0
            for i in range(n):
                if c % 2 == 0:
                    expect(full, 128)
                if not behind:
                    c += 1
                if c % 2 == 0:
                    tma_load(x, full, bytes=128)
                if behind:
                    c += 1
                arrive(full)
                wait(full, parity=i)

    return kernel


def checked_where_elected(threads, ahead):
    """What an elected lane checks holds where it stands, behind what the lane has done before."""

    @skeleton
    def kernel(n: size):
        with role("p", threads=threads):
            c = 0
            for i in range(n):
                with elect(any=True):
                    c += 1
                    k = i + ahead
                    check(c == k)

    return kernel


def below(first):
    """A flag falls below what it has at first, and who waits for that may come late."""

    @skeleton
    def kernel(n: size):
        f = flags()
        with role("p", threads=1):
            for i in range(n):
                signal(f, i + first)
        with role("q", threads=1):
            spin(f, 0)

    return kernel


def unrolled(other):
    """A name that is given in each of two statements that look like a loop is used behind them."""

    @skeleton
    def kernel(n: size):
        b = mbarrier(2, count=1)
        x = smem(2)
        with role("p", threads=1):
            for i in range(n):
                c = 0
                arrive(b[0])
                wait(b[0], parity=i)
                c = 1
                arrive(b[1])
                wait(b[1], parity=i)
                store(x[c])
        with role("q", threads=1):
            store(x[other])

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


TWINS = [
    ("seq.mismatch", laps(1, 1), laps(1, 0)),
    ("seq.mismatch", laps(2, 0), laps(1, 0)),
    ("seq.mismatch", laps(1, 0, ahead=1), laps(1, 1, ahead=1)),
    ("race.waw", unrolled(1), unrolled(0)),
    ("deadlock.cycle", below(-1), below(0)),
    ("deadlock.cycle", steps(False), steps(True)),
    ("race.waw", named(False), named(True)),
    ("bounds", starts(3), starts(2)),
    ("deadlock.cycle | mbar.parity_alias", turns(False), turns(True)),
    ("race.waw", wraps(3, 3), wraps(2, 3)),
    ("race.waw", wraps_or_steps(3, 3), wraps_or_steps(2, 3)),
    ("race.waw", wraps_or_steps(6, 8, least=True), wraps_or_steps(6, 7, least=True)),
    ("deadlock.cycle | mbar.parity_alias", flips(2), flips(3)),
    ("seq.mismatch", anew(True), anew(False)),
    ("race.waw", wraps_behind(True), wraps_behind(False)),
    ("deadlock.cycle | mbar.parity_alias", by_one_lane(True), by_one_lane(False)),
    ("seq.mismatch", by_one_lane(False, behind=True), by_one_lane(False)),
    ("mbar.tx_bytes", between_bytes(False), between_bytes(True)),
    ("seq.mismatch", checked_where_elected(1, 0), checked_where_elected(1, 1)),
    ("seq.mismatch", checked_where_elected(32, 0), checked_where_elected(32, 1)),
]
