"""Twins for what is written between two accesses that nothing else orders."""

from exogpu.skeleton import *


def overwritten(lanes, waits=1, cells=32, after=0):
    """The first `lanes` threads copy over what was stored or loaded before; a reader sees their copies done."""

    @skeleton
    def kernel():
        full = mbarrier(count=1)
        landed = mbarrier(count=lanes)
        x = smem(64)
        with role("load", threads=1):
            arrive(full, tx=512)
            tma_load(x[0:cells], full, bytes=512)
        with role("copy", threads=32):
            if tid < lanes:
                if after == 0:
                    if waits == 1:
                        wait(full, parity=0)
                cp_async(x[lane])
                cp_arrive(landed, noinc=True)
                if after == 1:
                    wait(full, parity=0)
        with role("reader", warps=1):
            wait(landed, parity=0)
            load(x[0:32])

    return kernel


def stored(same):
    """What the copying thread has stored itself is not told of by the copies, but where they are."""

    @skeleton
    def kernel():
        landed = mbarrier(count=32)
        x = smem(64)
        with role("copy", warps=1):
            store(x[lane + 32 * (1 - same)])
            cp_async(x[lane])
            cp_arrive(landed, noinc=True)
        with role("reader", warps=1):
            wait(landed, parity=0)
            load(x)

    return kernel


def used(groups):
    """Registers are used while a wgmma writes them, or when it is done; that another one wrote them before tells of no
    cell of memory."""

    @skeleton
    def kernel():
        x = smem()
        acc = registers()
        with role("math", warps=4):
            wgmma_fence()
            wgmma(acc, x, x, shape="n128")
            wgmma_commit()
            wgmma_wait(0)
            wgmma_fence()
            wgmma(acc, x, x, shape="n64")
            wgmma_commit()
            wgmma_wait(groups)
            load(acc)

    return kernel


TWINS = [
    ("wgmma.reg_inflight", used(1), used(0)),
    ("x/", overwritten(31), overwritten(32)),
    ("x/", overwritten(32, waits=0), overwritten(32)),
    ("x/", overwritten(32, after=1), overwritten(32)),
    ("x/", stored(0), stored(1)),
]
