"""A skeleton that goes wrong only after many iterations of one of its loops, and one that does not."""

from exogpu.skeleton import *


def ring(slips):
    """A ring of three beside a loop of its own; the consumer reads the slot that it waits for, or from its fifth
    iteration on another one."""

    @skeleton
    def kernel(m: size, n: size):
        full = mbarrier(3, count=1)
        empty = mbarrier(3, count=1)
        x = smem(3)
        other = smem()
        with role("load", threads=1):
            for j in range(m):
                store(other)
            for i in range(n):
                wait(empty[i % 3], parity=i // 3 + 1)
                arrive(full[i % 3], tx=64)
                tma_load(x[i % 3], full[i % 3], bytes=64)
        with role("use", threads=1):
            for i in range(n):
                wait(full[i % 3], parity=i // 3)
                load(x[(i + slips * (i // 4)) % 3])
                proxy_fence()
                arrive(empty[i % 3])

    return kernel


RIGHT, WRONG = ring(0), ring(1)
