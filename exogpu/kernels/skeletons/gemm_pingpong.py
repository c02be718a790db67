"""A warp-specialised persistent GEMM whose two consumer warpgroups take turns at tiles ("ping-pong", as in CUTLASS).

One warp fills a ring of S stages by TMA for both. Warpgroup `even` works on tiles 0, 2, 4, ... and `odd` on the others,
each at its own place of the common ring: it steps over the stages of the other's tile. Named barriers hand over the
tensor cores (MAINLOOP) and the staging buffer of the epilogue (EPILOGUE), so one multiplies while the other stores; at
first it is the turn of `even`. A store has been read before the buffer is handed on, so none is under way at the end.
The CTA walks `first` tiles of the one kind and `second` of the other.
"""

from __future__ import annotations

from exogpu.skeleton import *

S = 4
A_BYTES = 64 * 64 * 2
B_BYTES = 256 * 64 * 2
MAINLOOP, EPILOGUE, GROUP = 1, 3, 5


@skeleton
def gemm_pingpong(first: size, second: size, steps: size):
    require(steps >= 1)
    require(first >= second)
    require(first <= second + 1)
    launch(registers=168)
    full = mbarrier(S, count=1)
    empty = mbarrier(S, count=4)
    a = smem(S)
    b = smem(S)
    staging = smem(128)
    acc = registers()
    d = gmem(first + second, result=True)
    with role("producer", warps=4):
        maxnreg_dec(40)
        if warp == 0:
            with elect():
                p = 0
                for t in range(first + second):
                    for k in range(steps):
                        wait(empty[p % S], parity=p // S + 1)
                        arrive(full[p % S], tx=A_BYTES + B_BYTES)
                        tma_load(a[p % S], full[p % S], bytes=A_BYTES)
                        tma_load(b[p % S], full[p % S], bytes=B_BYTES)
                        p += 1
        exit()
    with role("even", warps=4):
        maxnreg_inc(232)
        c = 0
        for u in range(first):
            bar_sync(MAINLOOP, 256)
            for k in range(steps):
                wait(full[c % S], parity=c // S)
                wgmma_fence()
                wgmma(acc, a[c % S], b[c % S])
                wgmma_commit()
                wgmma_wait(1)
                if k >= 1:
                    with elect():
                        arrive(empty[(c - 1) % S])
                c += 1
            bar_arrive(MAINLOOP + 1, 256)
            wgmma_wait(0)
            with elect():
                arrive(empty[(c - 1) % S])
            for k in range(steps):
                c += 1
            bar_sync(EPILOGUE, 256)
            load(acc)
            store(staging[tid])
            proxy_fence()
            bar_sync(GROUP, 128)
            if tid == 0:
                tma_store(staging, d[2 * u])
                bulk_commit()
                bulk_wait_read(0)
            bar_arrive(EPILOGUE + 1, 256)
        exit()
    with role("odd", warps=4):
        maxnreg_inc(232)
        bar_arrive(MAINLOOP, 256)
        bar_arrive(EPILOGUE, 256)
        c = 0
        for u in range(second):
            for k in range(steps):
                c += 1
            bar_sync(MAINLOOP + 1, 256)
            for k in range(steps):
                wait(full[c % S], parity=c // S)
                wgmma_fence()
                wgmma(acc, a[c % S], b[c % S])
                wgmma_commit()
                wgmma_wait(1)
                if k >= 1:
                    with elect():
                        arrive(empty[(c - 1) % S])
                c += 1
            bar_arrive(MAINLOOP, 256)
            wgmma_wait(0)
            with elect():
                arrive(empty[(c - 1) % S])
            bar_sync(EPILOGUE + 1, 256)
            load(acc)
            store(staging[tid])
            proxy_fence()
            bar_sync(GROUP + 1, 128)
            if tid == 0:
                tma_store(staging, d[2 * u + 1])
                bulk_commit()
                bulk_wait_read(0)
            bar_arrive(EPILOGUE, 256)
        exit()
