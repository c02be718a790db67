"""Numbers that are unknown where a proof once took them for the same everywhere, each beside a twin without."""

from exogpu.skeleton import *


def cells(known):
    """Two threads store to cells of which nothing is known, or each to its own."""

    @skeleton
    def kernel(n: size):
        x = smem(4)
        with role("a", threads=2):
            for i in range(n):
                if known:
                    store(x[tid])
                else:
                    store(x[unknown("cell", tid, below=4)])

    return kernel


def trips(known):
    """Each thread arrives as often as a number of its own says, or once."""

    @skeleton
    def kernel():
        b = mbarrier(count=32)
        with role("a", threads=32):
            if known:
                arrive(b)
            else:
                for i in range(unknown("trips", tid, below=2)):
                    arrive(b)
        with role("w", threads=1):
            wait(b, parity=0)

    return kernel


def trips_of_a_cta(known):
    """Likewise the CTAs of a cluster."""

    @skeleton
    def kernel():
        cluster(2)
        b = mbarrier(count=2)
        with role("a", threads=1):
            if known:
                arrive(peer(b, 0), scope="cluster")
            else:
                for i in range(unknown("trips", rank, below=2)):
                    arrive(peer(b, 0), scope="cluster")
        with role("w", threads=1, ctas=0):
            wait(b, parity=0, scope="cluster")

    return kernel


def peers(known):
    """The arrival goes to one CTA or the other, or to the one that waits."""

    @skeleton
    def kernel():
        cluster(2)
        b = mbarrier(count=1)
        with role("a", threads=1, ctas=0):
            if known:
                arrive(peer(b, 1), scope="cluster")
            else:
                arrive(peer(b, unknown("cta", 0, below=2)), scope="cluster")
        with role("w", threads=1, ctas=1):
            wait(b, parity=0, scope="cluster")

    return kernel


def slots(known):
    """Which mbarrier a thread waits for is not known, or it is the one that is signalled."""

    @skeleton
    def kernel():
        b = mbarrier(4, count=1)
        with role("a", threads=1):
            arrive(b[1])
        with role("w", threads=1):
            if known:
                wait(b[1], parity=0)
            else:
                wait(b[unknown("slot", 0, below=4)], parity=0)

    return kernel


def lists(same):
    """Two roles go through two lists of tiles, or through one; the second argument tells them apart."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=1)
        with role("p", threads=1):
            c = 0
            for i in range(n):
                if pred("tile", i, 0):
                    wait(empty, parity=c + 1)
                    arrive(full)
                    c += 1
        with role("c", threads=1):
            d = 0
            for i in range(n):
                if pred("tile", i, 1 - same):
                    wait(full, parity=d)
                    arrive(empty)
                    d += 1

    return kernel


def ends(early):
    """A thread that may have ended does not come to what stands behind."""

    @skeleton
    def kernel(n: size):
        b = mbarrier(count=1)
        with role("a", threads=1):
            if n >= early:
                wait(b, parity=1)
            else:
                exit()
            arrive(b)
        with role("w", threads=1):
            wait(b, parity=0)

    return kernel


def elected(free):
    """Lanes that read are told apart by unknown numbers; the one that the hardware elects may not be the first."""

    @skeleton
    def kernel():
        x = smem()
        with role("a", threads=4):
            if pred("p", 1) and pred("p", 2) and pred("p", 3):
                if free:
                    with elect(any=True):
                        store(x)
                else:
                    with elect():
                        store(x)
            if not pred("p", tid):
                load(x)

    return kernel


def parities_of_a_cta(factor):
    """Threads that arrive in two statements wait for a parity that depends on the CTA, or for twice that."""

    @skeleton
    def kernel():
        cluster(2)
        b = mbarrier(count=32)
        with role("a", threads=32):
            if tid < 16:
                arrive(b)
            if tid >= 16:
                arrive(b)
            wait(b, parity=factor * unknown("s", rank, below=2))

    return kernel


def fenced(alike):
    """Before all threads signal, all have executed a fence, or those have of which nothing is known."""

    @skeleton
    def kernel(n: size):
        x = smem(4)
        f = flags()
        with role("a", threads=4):
            store(x[tid])
            if alike:
                fence("gpu")
            else:
                if pred("p", tid):
                    fence("gpu")
            signal_add(f, 1, relaxed=True)
        with role("b", threads=1):
            spin(f, 4)
            load(x)

    return kernel


def checked(most):
    """A condition on an unknown number of each thread."""

    @skeleton
    def kernel(n: size):
        with role("a", threads=4):
            for i in range(n):
                check(unknown("k", tid, i, below=3) + tid <= most + tid)

    return kernel


def kept(early):
    """A name for the unknown number of a counter that is stepped before the name is used."""

    @skeleton
    def kernel(n: size):
        x = smem(1)
        with role("a", threads=1):
            c = 0
            for i in range(n):
                w = unknown("u", c, below=2)
                if early:
                    if w == 0:
                        store(x)
                c += 2
                if not early:
                    if w == 0:
                        store(x)
                cta_sync()
        with role("b", threads=1):
            for i in range(n):
                if unknown("u", 2 * i if early else 2 * i + 2, below=2) == 1:
                    store(x)
                cta_sync()

    return kernel


def behind(counts):
    """An unknown number of a counter behind the loop that steps it."""

    @skeleton
    def kernel(n: size, m: size):
        x = smem(1)
        with role("a", threads=1):
            for j in range(n):
                c = 0
                for i in range(m):
                    c += 2
                if unknown("u", j + c if counts else j, below=2) == 0:
                    store(x)
                cta_sync()
        with role("b", threads=1):
            for j in range(n):
                if unknown("u", j, below=2) == 1:
                    store(x)
                cta_sync()

    return kernel


def keeps(ahead):
    """A name keeps the unknown number of the counter's value there, not of the one that it has later."""

    @skeleton
    def kernel(n: size):
        x = gmem(n, 2)
        with role("p", threads=1):
            c = 1
            for i in range(n):
                w = unknown("slot", c, below=2)
                c += 1
                store(x[i, w])
        with role("q", threads=1):
            for i in range(n):
                if unknown("slot", i + ahead, below=2) == 0:
                    store(x[i, 1])
                else:
                    store(x[i, 0])

    return kernel


def passed(least):
    """How many iterations have passed before one that does; the unknown number has a name that means something to the
    prover."""

    @skeleton
    def kernel(n: size):
        with role("p", threads=1):
            c = 0
            for i in range(n):
                if pred("count", i):
                    check(c >= least, "the number of iterations")
                    c += 1

    return kernel


TWINS = [
    ("seq.mismatch", passed(1), passed(0)),
    ("race.waw", keeps(2), keeps(1)),
    ("race.waw", cells(False), cells(True)),
    ("deadlock.cycle", trips(False), trips(True)),
    ("deadlock.cycle", trips_of_a_cta(False), trips_of_a_cta(True)),
    ("deadlock.cycle", peers(False), peers(True)),
    ("deadlock.cycle", slots(False), slots(True)),
    ("deadlock.cycle", lists(0), lists(1)),
    ("deadlock.cycle", ends(1), ends(0)),
    ("race.raw | race.war", elected(True), elected(False)),
    ("deadlock.cycle", parities_of_a_cta(1), parities_of_a_cta(2)),
    ("race.raw", fenced(False), fenced(True)),
    ("seq.mismatch", checked(1), checked(2)),
    ("race.waw", kept(False), kept(True)),
    ("race.waw", behind(True), behind(False)),
]
