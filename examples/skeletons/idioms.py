"""Idioms of docs/skeleton_guide.md: how common protocols look as skeletons."""

from exogpu.skeleton import *

S = 4
BYTES = 8192


@skeleton
def flat(steps: size):
    full = mbarrier(S, count=1)
    empty = mbarrier(S, count=4)
    kv = smem(S)
    out = smem(128)
    acc = registers()
    with role("producer", threads=1):
        for i in range(steps):
            wait(empty[i % S], parity=i // S + 1)
            arrive(full[i % S], tx=BYTES)
            tma_load(kv[i % S], full[i % S], bytes=BYTES)
    with role("consumer", warps=4):
        for i in range(steps):
            wait(full[i % S], parity=i // S)
            wgmma_fence()
            wgmma(acc, kv[i % S])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(empty[i % S])
            if pred("last", i):
                if tid == 0:
                    bulk_wait_read(0)
                bar_sync(1, 128)
                load(acc)
                store(out[tid])
                proxy_fence()
                bar_sync(1, 128)
                if tid == 0:
                    tma_store(out)
                    bulk_commit()


@skeleton
def ordered(tiles: size):
    pipe = smem(128)
    with role("math", warps=8):
        if tid >= 128:
            bar_arrive(1, 256)
        for t in range(tiles):
            bar_sync(1 + tid // 128, 256)
            store(pipe[tid % 128])
            bar_arrive(2 - tid // 128, 256)


@skeleton
def multistage(steps: size):
    tile = smem(S, 128)
    with role("all", threads=128):
        for s in range(S - 1):
            if s < steps:
                cp_async(tile[s, tid])
            cp_commit()
        for k in range(steps):
            cp_wait(S - 2)
            cta_sync()
            load(tile[k % S])
            if k + S - 1 < steps:
                cp_async(tile[(k + S - 1) % S, tid])
            cp_commit()


@skeleton
def multicast(steps: size):
    cluster(2)
    full = mbarrier(S, count=1)
    empty = mbarrier(S, count=8)
    b = smem(S, 2)
    acc = registers()
    with role("producer", threads=1):
        for k in range(steps):
            wait(empty[k % S], parity=k // S + 1, scope="cluster")
            arrive(full[k % S], tx=2 * BYTES)
            tma_load(b[k % S, rank], full[k % S], bytes=BYTES, multicast=(0, 1))
        for k in range(steps, steps + S):
            wait(empty[k % S], parity=k // S + 1, scope="cluster")
        exit()
    with role("consumer", warps=4):
        for k in range(steps):
            wait(full[k % S], parity=k // S)
            wgmma_fence()
            wgmma(acc, b[k % S])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[k % S], 0), scope="cluster")
                arrive(peer(empty[k % S], 1), scope="cluster")
        load(acc)
        exit()
