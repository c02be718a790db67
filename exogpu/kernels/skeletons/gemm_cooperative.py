"""A warp-specialised persistent GEMM whose two consumer warpgroups share a tile ("cooperative", as in CUTLASS).

One warp fills a ring of S stages by TMA, which stays open from tile to tile; its warpgroup gives registers to the two
that multiply. Each of these multiplies one half of the rows of A by all of B, keeps one wgmma group in flight, and so
releases the stage before the one that it has just issued: one arrival per warp. The epilogue goes through a staging
buffer of both: its last TMA store has been read before they write it again, and before they end.
"""

from __future__ import annotations

from exogpu.skeleton import *

S = 4
A_BYTES = 128 * 64 * 2
B_BYTES = 256 * 64 * 2


@skeleton
def gemm_cooperative(tiles: size, steps: size):
    require(steps >= 1)
    launch(registers=168)
    full = mbarrier(S, count=1)
    empty = mbarrier(S, count=8)
    a = smem(S, 2)
    b = smem(S)
    staging = smem(256)
    acc = registers()
    d = gmem(tiles, result=True)
    with role("producer", warps=4):
        maxnreg_dec(40)
        if warp == 0:
            with elect():
                p = 0
                for t in range(tiles):
                    for k in range(steps):
                        wait(empty[p % S], parity=p // S + 1)
                        arrive(full[p % S], tx=A_BYTES + B_BYTES)
                        tma_load(a[p % S], full[p % S], bytes=A_BYTES)
                        tma_load(b[p % S], full[p % S], bytes=B_BYTES)
                        p += 1
        exit()
    with role("consumer", warps=8):
        maxnreg_inc(232)
        c = 0
        for t in range(tiles):
            for k in range(steps):
                wait(full[c % S], parity=c // S)
                wgmma_fence()
                wgmma(acc, a[c % S, tid // 128], b[c % S])
                wgmma_commit()
                wgmma_wait(1)
                if k >= 1:
                    with elect():
                        arrive(empty[(c - 1) % S])
                c += 1
            wgmma_wait(0)
            with elect():
                arrive(empty[(c - 1) % S])
            if tid == 0:
                bulk_wait_read(0)
            bar_sync(1, 256)
            load(acc)
            store(staging[tid])
            proxy_fence()
            bar_sync(1, 256)
            if tid == 0:
                tma_store(staging, d[t])
                bulk_commit()
        if tid == 0:
            bulk_wait_read(0)
        exit()
