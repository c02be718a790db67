"""Faults of memory, registers and CTAs that a proof once overlooked, each beside a twin that differs in one place."""

from exogpu.skeleton import *


def enters(late):
    """Shared memory of a peer that need not have started."""

    @skeleton
    def kernel():
        cluster(2)
        x = smem(32)
        with role("p", threads=32):
            if not late:
                cluster_sync()
            store(peer(x[tid], 1 - rank))
            if late:
                cluster_sync()

    return kernel


def pool(wanted):
    @skeleton
    def kernel(n: size):
        launch(registers=168)
        with role("p", threads=128):
            maxnreg_inc(wanted)
        with role("q", threads=128):
            maxnreg_dec(96)

    return kernel


def results(most):
    @skeleton
    def kernel(n: size):
        require(n <= 6)
        y = gmem(n, result=True)
        with role("p", threads=1):
            for i in range(min(n, most)):
                store(y[i])

    return kernel


def alias(cell):
    """The mbarrier's cell, named through another object that lies on top of it."""

    @skeleton
    def kernel():
        x = smem(64)
        y = smem(32, at=x[0])
        full = mbarrier(count=1, at=y[0])
        with role("p", threads=1):
            store(x[cell])
            arrive(full)
        with role("c", threads=1):
            wait(full, parity=0)

    return kernel


def first_fence(behind):
    """The first wgmma needs a wgmma_fence, even if no thread has touched its registers."""

    @skeleton
    def kernel(n: size):
        acc = registers()
        a = smem()
        with role("p", threads=128):
            for i in range(n):
                if behind:
                    wgmma(acc, a)
                    wgmma_fence()
                else:
                    wgmma_fence()
                    wgmma(acc, a)
                wgmma_commit()
                wgmma_wait(0)

    return kernel


def last_value(acquires):
    """Who waits for a flag synchronises with the last store alone."""

    @skeleton
    def kernel():
        f = flags()
        x = gmem(1)
        with role("a", threads=1):
            store(x[0])
            signal(f, 1)
        with role("b", threads=1):
            if acquires:
                spin(f, 1)
            else:
                spin(f, 1, relaxed=True)
            signal(f, 2)
        with role("c", threads=1):
            spin(f, 1)
            load(x[0])

    return kernel


def own_last_value(relaxes):
    @skeleton
    def kernel():
        f = flags()
        x = gmem(1)
        with role("a", threads=1):
            store(x[0])
            signal(f, 1)
            if relaxes:
                signal(f, 2, relaxed=True)
            else:
                signal(f, 2)
        with role("c", threads=1):
            spin(f, 1)
            load(x[0])

    return kernel


def one_exit(always):
    """Of two ends of a thread only one sees the copy done."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        x = smem()
        with role("p", threads=1):
            arrive(full, tx=64)
            tma_load(x, full, bytes=64)
            if always:
                wait(full, parity=0)
            if n > 2:
                if not always:
                    wait(full, parity=0)
                exit()
            exit()

    return kernel


def announces(far):
    """Bytes announced on the peer's barrier, and moved at home."""

    @skeleton
    def kernel():
        cluster(2)
        full = mbarrier(count=1)
        x = smem()
        with role("p", threads=1, ctas=0):
            if far:
                expect(peer(full, 1), 64)
            else:
                expect(full, 64)
            arrive(full)
            tma_load(x, full, bytes=64)
            wait(full, parity=0)
        with role("q", threads=1, ctas=1):
            arrive(full)

    return kernel


def reaches(ahead):
    @skeleton
    def kernel():
        cluster(2)
        full = mbarrier(count=1)
        with role("p", threads=1):
            arrive(peer(full, rank + ahead), scope="cluster")
        with role("q", threads=1, ctas=1):
            wait(full, parity=0, scope="cluster")

    return kernel


def overlaid(rounds):
    """Beyond an object's own cells there are others of the same storage."""

    @skeleton
    def kernel():
        x = smem(2, 4)
        y = smem(1, at=x[1, 3])
        with role("p", threads=1):
            for i in range(rounds):
                store(x[0, i])
            store(y)

    return kernel


def chosen(free):
    """The lane that the hardware chooses need not be the one with a number."""

    @skeleton
    def kernel():
        x = smem()
        with role("p", threads=32):
            t = 31 - tid
            if t == 31:
                store(x)
            if free:
                with elect(any=True):
                    load(x)
            else:
                with elect():
                    load(x)

    return kernel


def waits_alone(alone):
    """All lanes of a warp wait for their wgmmas together."""

    @skeleton
    def kernel():
        a = smem()
        acc = registers()
        with role("p", threads=128):
            wgmma_fence()
            wgmma(acc, a)
            wgmma_commit()
            wgmma_wait(0)
            if alone:
                with elect():
                    wgmma_wait(0)
            else:
                wgmma_wait(0)

    return kernel


def operands(own):
    """Products of which the first operand lies in registers: those of the accumulator itself, or others."""

    @skeleton
    def kernel(n: size):
        acc = registers(2)
        b = smem()
        with role("m", threads=128):
            wgmma_fence()
            for i in range(n):
                wgmma(acc[0], acc[1 - own], b)
                wgmma_commit()
            wgmma_wait(0)

    return kernel


def accumulators(whole):
    """A product onto a part of another's accumulator, or onto the same one."""

    @skeleton
    def kernel():
        acc = registers(2)
        b = smem()
        with role("m", threads=128):
            wgmma_fence()
            if whole:
                wgmma(acc, b)
            else:
                wgmma(acc[0], b)
            wgmma(acc[0], b)
            wgmma_commit()
            wgmma_wait(0)

    return kernel


def product_of_product(waits):
    """A product in registers is the operand of the next one, in flight or done: a fence alone does not wait for it."""

    @skeleton
    def kernel():
        p = registers()
        o = registers()
        b = smem()
        with role("m", threads=128):
            wgmma_fence()
            wgmma(p, b, b)
            wgmma_commit()
            if waits:
                wgmma_wait(0)
            wgmma_fence()
            wgmma(o, p, b)
            wgmma_commit()
            wgmma_wait(0)

    return kernel


def told_by_another(relaxed):
    """Who overwrites a flag has learnt from another one that it was stored; relaxed stores may be seen in any order."""

    @skeleton
    def kernel():
        f = flags()
        g = flags()
        with role("a", threads=1):
            signal(f, 1, relaxed=relaxed)
            signal(g, 1, relaxed=relaxed)
        with role("b", threads=1):
            spin(g, 1, relaxed=relaxed)
            signal(f, 2, relaxed=relaxed)
        with role("c", threads=1):
            spin(f, 2, relaxed=relaxed)

    return kernel


UNSEEN = [
    (told_by_another(True), told_by_another(False)),
]


def copied(unseen):
    """A relaxed wait for a copy does not show what it has brought."""

    @skeleton
    def kernel(n: size):
        b = mbarrier(count=1)
        x = smem()
        with role("p", threads=1):
            for i in range(min(n, 1)):
                arrive(b, tx=16)
                tma_load(x, b, bytes=16)
        with role("q", threads=1):
            for i in range(min(n, 1)):
                if unseen:
                    wait(b, parity=i, relaxed=True)
                else:
                    wait(b, parity=i)
                load(x)

    return kernel


TWINS = [
    ("race.raw", copied(True), copied(False)),
    ("cluster.entry", enters(True), enters(False)),
    ("bounds", reaches(1), reaches(0)),
    ("mbar.tx_bytes", announces(True), announces(False)),
    ("bounds", reaches(-1), reaches(0)),
    ("bounds", overlaid(5), overlaid(4)),
    ("race.raw", chosen(True), chosen(False)),
    ("wgmma.convergence", waits_alone(True), waits_alone(False)),
    ("setmaxnreg.pool", pool(248), pool(240)),
    ("seq.mismatch", results(5), results(6)),
    ("mbar.alias", alias(0), alias(1)),
    ("wgmma.reg_fence", first_fence(True), first_fence(False)),
    ("race.raw", last_value(False), last_value(True)),
    ("race.raw", own_last_value(True), own_last_value(False)),
    ("race.async_inflight", one_exit(False), one_exit(True)),
    ("wgmma.reg_inflight", operands(1), operands(0)),
    ("wgmma.reg_fence", accumulators(True), accumulators(False)),
    ("wgmma.reg_inflight", product_of_product(False), product_of_product(True)),
]
