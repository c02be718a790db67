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


def asked(before):
    """An unknown number of a counter is asked for just before the counter comes back to 0, or behind."""

    @skeleton
    def kernel(n: size):
        x = smem(1)
        with role("a", threads=1):
            s = 0
            for i in range(n):
                s += 1
                if s == 2:
                    if before:
                        if pred("p", s):
                            store(x)
                    s = 0
                    if not before:
                        if pred("p", s):
                            store(x)
                cta_sync()
        with role("b", threads=1):
            t = 0
            for i in range(n):
                t = (t + 1) % 2
                if t == 0:
                    if not pred("p", t):
                        store(x)
                cta_sync()

    return kernel


def part(apart):
    """Every other thread stores to one cell, or to its own; a counter has a name that means something to the prover."""

    @skeleton
    def kernel(n: size):
        x = smem(64)
        with role("a", threads=64):
            part = 0
            for i in range(n):
                if tid % 2 == 0:
                    store(x[apart * tid])
                cta_sync()
                part = (part + 1) % 2
                check(part < 2, "the counter")

    return kernel


def kept(everywhere):
    """A counter starts anew in each outer iteration, and stands still in the later ones; it is used in all of them, or
    where it is stepped."""

    @skeleton
    def kernel(n: size, m: size):
        require(n >= 2 and m >= 2)
        x = smem(2)
        with role("a", threads=1):
            for t in range(n):
                c = 0
                for k in range(m):
                    if everywhere:
                        store(x[min(max(k - c, 0), 1)])
                    if t < 1:
                        if not everywhere:
                            store(x[min(max(k - c, 0), 1)])
                        c += 1
        with role("b", threads=1):
            store(x[1])

    return kernel


def from_below(first):
    """A counter of the iterations that an unknown number lets pass, of which one may lie below 0."""

    @skeleton
    def kernel(n: size):
        require(n >= 1)
        x = smem(2)
        with role("a", threads=1):
            c = 0
            for t in range(first, n):
                if pred("work", t):
                    store(x[min(max(c - max(t, 0), 0), 1)])
                    c += 1
        with role("b", threads=1):
            store(x[1])

    return kernel


def flips(last):
    """A slot of three that are passed in one iteration, each with the phase: two of them count to 2, and so does the
    last, or to 3."""

    @skeleton
    def kernel(n: size):
        x = smem(2)
        with role("c", threads=1):
            s = 0
            ph = 0
            for i in range(n):
                s = (s + 1) % 2
                if s == 0:
                    ph = (ph + 1) % last
                s = (s + 1) % 2
                if s == 0:
                    ph = (ph + 1) % last
                s = (s + 1) % 2
                if s == 0:
                    ph ^= 1
                store(x[ph])

    return kernel


TWINS = [
    ("race.waw", part(0), part(1)),
    ("race.waw", asked(True), asked(False)),
    ("race.waw", unrolled(1), unrolled(0)),
    ("deadlock.cycle", below(-1), below(0)),
    ("deadlock.cycle", steps(False), steps(True)),
    ("race.waw", named(False), named(True)),
    ("bounds", starts(3), starts(2)),
    ("seq.mismatch", anew(True), anew(False)),
    ("deadlock.cycle | mbar.parity_alias", by_one_lane(True), by_one_lane(False)),
    ("seq.mismatch", by_one_lane(False, behind=True), by_one_lane(False)),
    ("mbar.tx_bytes", between_bytes(False), between_bytes(True)),
    ("seq.mismatch", checked_where_elected(1, 0), checked_where_elected(1, 1)),
    ("seq.mismatch", checked_where_elected(32, 0), checked_where_elected(32, 1)),
    ("race.waw", kept(True), kept(False)),
    ("race.waw", from_below(-1), from_below(0)),
    ("bounds", flips(3), flips(2)),
]
