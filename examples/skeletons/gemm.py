"""The synchronisation of gemm.cu, repaired: docs/skeleton_guide.md writes it step by step."""

from exogpu.skeleton import *

S = 4
TILE = 64 * 128


@skeleton
def gemm(tiles: size, steps: size):
    require(steps >= 1)
    full = mbarrier(S, count=1)
    empty = mbarrier(S, count=4)
    a = smem(S)
    b = smem(S)
    out = smem(128)
    acc = registers()
    d = gmem(tiles, result=True)
    with role("producer", threads=1):
        w = 0
        for t in range(tiles):
            for k in range(steps):
                wait(empty[w % S], parity=w // S + 1)
                arrive(full[w % S], tx=2 * TILE)
                tma_load(a[w % S], full[w % S], bytes=TILE)
                tma_load(b[w % S], full[w % S], bytes=TILE)
                w += 1
    with role("consumer", warps=4):
        r = 0
        for t in range(tiles):
            for k in range(steps):
                wait(full[r % S], parity=r // S)
                wgmma_fence()
                wgmma(acc, a[r % S], b[r % S])
                wgmma_commit()
                wgmma_wait(1)
                if k > 0:
                    with elect():
                        arrive(empty[(r - 1) % S])
                r += 1
            wgmma_wait(0)
            with elect():
                arrive(empty[(r - 1) % S])
            if tid == 0:
                bulk_wait_read(0)
            bar_sync(1, 128)
            load(acc)
            store(out[tid])
            proxy_fence()
            bar_sync(1, 128)
            if tid == 0:
                tma_store(out, d[t])
                bulk_commit()
        if tid == 0:
            bulk_wait(0)
