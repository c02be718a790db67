"""Parts of well-known designs: what is reused across CTAs, tiles without work, loops that share a ring, look-back."""

from exogpu.skeleton import *

CLASS = "kind: designs"

S = 3
B = 4096


def zeroed_state(fenced):
    """The only proxy fence stands in a loop that an empty sequence does not enter (MoonshotAI/FlashKDA#24, the second
    of its two paths)."""

    @skeleton
    def kernel(n: size):
        state = smem(128)
        g = gmem(result=True)
        with role("all", threads=128):
            store(state[tid])
            if fenced == 1:
                proxy_fence()
            for t in range(n):
                cta_sync()
                load(state)
                cta_sync()
                store(state[tid])
                proxy_fence()
            cta_sync()
            if tid == 0:
                tma_store(state, g)
                bulk_commit()
                bulk_wait(0)

    return kernel


bad_zeroed_state = zeroed_state(0)
ok_zeroed_state = zeroed_state(1)


def empty_tile(waits):
    """Without work the math warps only arrive, and go on to the next tile (vllm-project/vllm#26026)."""

    @skeleton
    def kernel(tiles: size):
        q = smem(128)
        with role("load", warps=2):
            for t in range(tiles):
                bar_sync(1, 192)
        with role("math", warps=4):
            for t in range(tiles):
                if pred("work", t):
                    store(q[tid])
                    bar_sync(1, 192)
                else:
                    if waits == 1:
                        bar_sync(1, 192)
                    else:
                        bar_arrive(1, 192)

    return kernel


bad_empty_tile = empty_tile(0)
ok_empty_tile = empty_tile(1)


def skipped_store(always):
    """Two staging tiles. Without work there is no group, so the last one may be that of two tiles ago."""

    @skeleton
    def kernel(n: size):
        out = smem(2, 128)
        g = gmem(n)
        with role("epilogue", threads=128):
            for i in range(n):
                if tid == 0:
                    bulk_wait_read(1)
                bar_sync(1, 128)
                if pred("work", i):
                    store(out[i % 2, tid])
                    proxy_fence()
                bar_sync(1, 128)
                if tid == 0:
                    if pred("work", i):
                        tma_store(out[i % 2], g[i])
                        if always == 0:
                            bulk_commit()
                    if always == 1:
                        bulk_commit()

    return kernel


bad_skipped_store = skipped_store(0)
ok_skipped_store = skipped_store(1)


def slot_for_both(early):
    """C is loaded into the slot that D leaves by; it is free when D has been read."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        c = smem(2, 128)
        d = gmem(n)
        with role("load", threads=1):
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1)
                arrive(full[i % 2], tx=B)
                tma_load(c[i % 2], full[i % 2], bytes=B)
        with role("epilogue", threads=128):
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                load(c[i % 2, tid])
                store(c[i % 2, tid])
                proxy_fence()
                bar_sync(1, 128)
                if tid == 0:
                    tma_store(c[i % 2], d[i])
                    bulk_commit()
                    bulk_wait_read(1)
                    if early == 1:
                        arrive(empty[i % 2])
                    else:
                        if i > 0:
                            arrive(empty[(i - 1) % 2])

    return kernel


bad_slot_for_both = slot_for_both(1)
ok_slot_for_both = slot_for_both(0)


def others_epilogue(both):
    """The storage of both CTAs is loaded again when one of the epilogues is over (inclusionAI/humming#56)."""

    @skeleton
    def kernel(tiles: size):
        cluster(2)
        full = mbarrier(count=1)
        done = mbarrier(count=8 if both == 1 else 4)
        x = smem(128)
        out = smem(128, at=x[0])
        g = gmem(tiles, 2)
        with role("load", threads=1, ctas=0):
            for t in range(tiles):
                wait(done, parity=t + 1, scope="cluster")
                proxy_fence(everywhere=True)
                arrive(full, tx=B)
                tma_load(x, full, bytes=B, multicast=(0, 1))
        with role("expect", threads=1, ctas=1):
            for t in range(tiles):
                wait(done, parity=t + 1, scope="cluster")
                arrive(full, tx=B)
        with role("math", warps=4):
            for t in range(tiles):
                wait(full, parity=t)
                load(x)
                bar_sync(1, 128)
                store(out[tid])
                proxy_fence()
                bar_sync(1, 128)
                if tid == 0:
                    tma_store(out, g[t, rank])
                    bulk_commit()
                    bulk_wait_read(0)
                bar_sync(1, 128)
                with elect():
                    if both == 1:
                        arrive(peer(done, 1 - rank), scope="cluster")
                    arrive(done)

    return kernel


bad_others_epilogue = others_epilogue(0)
ok_others_epilogue = others_epilogue(1)


def look_back(early):
    """Each tile waits for the prefix of the one before (the flags of a decoupled look-back)."""

    @skeleton
    def kernel():
        cluster(4)
        ready = flags(4)
        prefix = gmem(4)
        with role("scan", threads=1):
            if rank > 0:
                spin(ready[rank - 1], 1)
                load(prefix[rank - 1])
            if early == 1:
                signal(ready[rank], 1)
            store(prefix[rank])
            if early == 0:
                signal(ready[rank], 1)

    return kernel


bad_look_back = look_back(1)
ok_look_back = look_back(0)


def masked_first(carried):
    """Masked blocks first, then the others: the second loop goes on in the ring, or begins in it anew."""

    @skeleton
    def kernel(masked: size, others: size):
        full = mbarrier(S, count=1)
        empty = mbarrier(S, count=4)
        x = smem(S)
        with role("load", threads=1):
            for i in range(masked + others):
                wait(empty[i % S], parity=i // S + 1)
                arrive(full[i % S], tx=B)
                tma_load(x[i % S], full[i % S], bytes=B)
        with role("math", warps=4):
            for i in range(masked):
                wait(full[i % S], parity=i // S)
                load(x[i % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % S])
            for i in range(others):
                wait(full[(carried * masked + i) % S], parity=(carried * masked + i) // S)
                load(x[(carried * masked + i) % S])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[(carried * masked + i) % S])

    return kernel


bad_masked_first = masked_first(0)
ok_masked_first = masked_first(1)

EXPECT = {
    "bad_zeroed_state": "proxy.generic_to_async",
    "ok_zeroed_state": "proved",
    "bad_empty_tile": "bar.recycle",
    "ok_empty_tile": "proved",
    "bad_skipped_store": "race.war",
    "ok_skipped_store": "proved",
    "bad_slot_for_both": "race.war",
    "ok_slot_for_both": "proved",
    "bad_others_epilogue": "race.waw | smem.reuse",
    "ok_others_epilogue": "proved",
    "bad_look_back": "race.raw",
    "ok_look_back": "proved",
    "bad_masked_first": "mbar.unobserved_phase | race.raw",
    "ok_masked_first": "proved",
}
