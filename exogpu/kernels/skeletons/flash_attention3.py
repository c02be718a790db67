"""FlashAttention-3, forward: a producer warp, and two warpgroups that take turns at the tensor cores.

The producer loads a tile of queries, and blocks of keys and values in a ring each, which stay open from tile to tile;
a block's values are loaded behind the next block's keys. A warpgroup issues the product with the next keys before that
with the values at hand, so softmax overlaps with the tensor cores; named barriers (TURN) see to it that the other
warpgroup's products come in between. QUERY_EMPTY says that the tile of queries is no longer read, so the next one may
be loaded. The epilogue stages the output of both warpgroups for one TMA store, which has been read before the next one
is staged, and before they end.
"""

from __future__ import annotations

from exogpu.skeleton import *

STAGES = 2
Q_BYTES = 128 * 128 * 2
KV_BYTES = 128 * 128 * 2
QUERY_EMPTY, EPILOGUE, TURN = 1, 2, 3


@skeleton
def flash_attention3(tiles: size, blocks: size):
    require(blocks >= 1)
    launch(registers=168)
    q_full = mbarrier(count=1)
    k_full = mbarrier(STAGES, count=1)
    v_full = mbarrier(STAGES, count=1)
    k_empty = mbarrier(STAGES, count=8)
    v_empty = mbarrier(STAGES, count=8)
    q = smem(2)
    k = smem(STAGES)
    v = smem(STAGES)
    out = smem(256)
    s = registers()
    p = registers()
    o = registers()
    result = gmem(tiles, result=True)
    with role("producer", warps=4):
        maxnreg_dec(24)
        if warp == 0:
            pk = 0
            pv = 0
            for t in range(tiles):
                with elect():
                    wait(k_empty[pk % STAGES], parity=pk // STAGES + 1)
                    arrive(k_full[pk % STAGES], tx=KV_BYTES)
                    tma_load(k[pk % STAGES], k_full[pk % STAGES], bytes=KV_BYTES)
                pk += 1
                bar_sync(QUERY_EMPTY, 288)
                with elect():
                    arrive(q_full, tx=Q_BYTES)
                    tma_load(q, q_full, bytes=Q_BYTES)
                for j in range(1, blocks):
                    with elect():
                        wait(k_empty[pk % STAGES], parity=pk // STAGES + 1)
                        arrive(k_full[pk % STAGES], tx=KV_BYTES)
                        tma_load(k[pk % STAGES], k_full[pk % STAGES], bytes=KV_BYTES)
                        wait(v_empty[pv % STAGES], parity=pv // STAGES + 1)
                        arrive(v_full[pv % STAGES], tx=KV_BYTES)
                        tma_load(v[pv % STAGES], v_full[pv % STAGES], bytes=KV_BYTES)
                    pk += 1
                    pv += 1
                with elect():
                    wait(v_empty[pv % STAGES], parity=pv // STAGES + 1)
                    arrive(v_full[pv % STAGES], tx=KV_BYTES)
                    tma_load(v[pv % STAGES], v_full[pv % STAGES], bytes=KV_BYTES)
                pv += 1
        exit()
    with role("consumer", warps=8):
        maxnreg_inc(240)
        bar_arrive(QUERY_EMPTY, 288)
        if tid >= 128:
            bar_arrive(TURN, 256)
        ck = 0
        cv = 0
        for t in range(tiles):
            wait(q_full, parity=t)
            wait(k_full[ck % STAGES], parity=ck // STAGES)
            bar_sync(TURN + tid // 128, 256)
            wgmma_fence()
            wgmma(s, q[tid // 128], k[ck % STAGES])
            wgmma_commit()
            bar_arrive(TURN + 1 - tid // 128, 256)
            wgmma_wait(0)
            with elect():
                arrive(k_empty[ck % STAGES])
            ck += 1
            load(s)
            store(p)
            for j in range(1, blocks):
                wait(k_full[ck % STAGES], parity=ck // STAGES)
                bar_sync(TURN + tid // 128, 256)
                wgmma_fence()
                wgmma(s, q[tid // 128], k[ck % STAGES])
                wgmma_commit()
                wait(v_full[cv % STAGES], parity=cv // STAGES)
                wgmma(o, p, v[cv % STAGES])
                wgmma_commit()
                bar_arrive(TURN + 1 - tid // 128, 256)
                wgmma_wait(1)
                with elect():
                    arrive(k_empty[ck % STAGES])
                ck += 1
                load(s)
                wgmma_wait(0)
                with elect():
                    arrive(v_empty[cv % STAGES])
                cv += 1
                load(o)
                store(o)
                store(p)
            bar_arrive(QUERY_EMPTY, 288)
            wait(v_full[cv % STAGES], parity=cv // STAGES)
            wgmma_fence()
            wgmma(o, p, v[cv % STAGES])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(v_empty[cv % STAGES])
            cv += 1
            if tid == 0:
                bulk_wait_read(0)
            bar_sync(EPILOGUE, 256)
            load(o)
            store(out[tid])
            proxy_fence()
            bar_sync(EPILOGUE, 256)
            if tid == 0:
                tma_store(out, result[t])
                bulk_commit()
        if tid == 0:
            bulk_wait_read(0)
        exit()
