"""A tile is multicast to both CTAs of a pair, and only the issuing CTA counts its bytes.

Source: flashinfer-ai/flashinfer-bench pull request 183 (review of a kernel recipe).
"""

from exogpu.skeleton import *

CLASS = "tx-bytes"
A, B = 16384, 8192


@skeleton
def buggy():
    cluster(2)
    f = mbarrier(count=1)
    As = smem()
    Bs = smem()
    with role("t", threads=1):
        cluster_sync()
        if rank == 0:
            arrive(f, tx=A + B)
        else:
            arrive(f, tx=A)
        tma_load(As, f, bytes=A)
        if rank == 0:
            tma_load(Bs, f, bytes=B, multicast=(0, 1))
        wait(f, parity=0)
        load(As)
        load(Bs)
        cluster_sync()


@skeleton
def buggy_counted_twice():
    """Rank 0 announces the bytes of both copies on its own barrier, rank 1 none of them."""
    cluster(2)
    f = mbarrier(count=1)
    As = smem()
    Bs = smem()
    with role("t", threads=1):
        cluster_sync()
        if rank == 0:
            arrive(f, tx=A + B + B)
        else:
            arrive(f, tx=A)
        tma_load(As, f, bytes=A)
        if rank == 0:
            tma_load(Bs, f, bytes=B, multicast=(0, 1))
        wait(f, parity=0)
        load(As)
        load(Bs)
        cluster_sync()


@skeleton
def buggy_not_multicast():
    """The other way round: both count the tile, which reaches the issuer alone."""
    cluster(2)
    f = mbarrier(count=1)
    As = smem()
    Bs = smem()
    with role("t", threads=1):
        cluster_sync()
        arrive(f, tx=A + B)
        tma_load(As, f, bytes=A)
        if rank == 0:
            tma_load(Bs, f, bytes=B)
        wait(f, parity=0)
        load(As)
        load(Bs)
        cluster_sync()


@skeleton
def fixed():
    cluster(2)
    f = mbarrier(count=1)
    As = smem()
    Bs = smem()
    with role("t", threads=1):
        cluster_sync()
        arrive(f, tx=A + B)
        tma_load(As, f, bytes=A)
        if rank == 0:
            tma_load(Bs, f, bytes=B, multicast=(0, 1))
        wait(f, parity=0)
        load(As)
        load(Bs)
        cluster_sync()


@skeleton
def fixed_halves():
    """Each CTA multicasts its half of the tile to both."""
    cluster(2)
    f = mbarrier(count=1)
    As = smem()
    Bs = smem(2)
    with role("t", threads=1):
        cluster_sync()
        arrive(f, tx=A + B + B)
        tma_load(As, f, bytes=A)
        tma_load(Bs[rank], f, bytes=B, multicast=(0, 1))
        wait(f, parity=0)
        load(As)
        load(Bs)
        cluster_sync()


@skeleton
def buggy_ring(n: size):
    """Both loaders multicast half of Bs in every trip, and each announces its own half only."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=2)
    As = smem(2)
    Bs = smem(2, 2)
    with role("load", threads=1):
        cluster_sync()
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1, scope="cluster")
            proxy_fence(everywhere=True)
            arrive(full[i % 2], tx=A + B)
            tma_load(As[i % 2], full[i % 2], bytes=A)
            tma_load(Bs[i % 2, rank], full[i % 2], bytes=B, multicast=(0, 1))
        cluster_sync()
    with role("use", threads=1):
        cluster_sync()
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(As[i % 2])
            load(Bs[i % 2])
            proxy_fence(everywhere=True)
            arrive(peer(empty[i % 2], 0), scope="cluster")
            arrive(peer(empty[i % 2], 1), scope="cluster")
        cluster_sync()


@skeleton
def fixed_ring(n: size):
    """Ordinary reads in one CTA meet a copy that the other one issues: fences on both sides (axiom L1 across CTAs)."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=2)
    As = smem(2)
    Bs = smem(2, 2)
    with role("load", threads=1):
        cluster_sync()
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1, scope="cluster")
            proxy_fence(everywhere=True)
            arrive(full[i % 2], tx=A + B + B)
            tma_load(As[i % 2], full[i % 2], bytes=A)
            tma_load(Bs[i % 2, rank], full[i % 2], bytes=B, multicast=(0, 1))
        cluster_sync()
    with role("use", threads=1):
        cluster_sync()
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(As[i % 2])
            load(Bs[i % 2])
            proxy_fence(everywhere=True)
            arrive(peer(empty[i % 2], 0), scope="cluster")
            arrive(peer(empty[i % 2], 1), scope="cluster")
        cluster_sync()


@skeleton
def fixed_ring_wgmma(n: size):
    """Tensor-core readers need no proxy fence; that they have read is told across the pair (axioms L4, L11)."""
    cluster(2)
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=8)
    As = smem(2)
    Bs = smem(2, 2)
    acc = registers()
    with role("load", threads=1):
        cluster_sync()
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1, scope="cluster")
            arrive(full[i % 2], tx=A + B + B)
            tma_load(As[i % 2], full[i % 2], bytes=A)
            tma_load(Bs[i % 2, rank], full[i % 2], bytes=B, multicast=(0, 1))
        cluster_sync()
    with role("multiply", warps=4):
        cluster_sync()
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            wgmma_fence()
            wgmma(acc, As[i % 2], Bs[i % 2])
            wgmma_commit()
            wgmma_wait(0)
            with elect():
                arrive(peer(empty[i % 2], 0), scope="cluster")
                arrive(peer(empty[i % 2], 1), scope="cluster")
        cluster_sync()


RESIDUE = "race.raw | deadlock.cycle | mbar.tx_bytes"
EXPECT = {
    "buggy": RESIDUE,
    "buggy_counted_twice": RESIDUE,
    "buggy_not_multicast": "deadlock.cycle | mbar.tx_bytes",
    "buggy_ring": RESIDUE,
    "fixed": "proved",
    "fixed_halves": "proved",
    "fixed_ring": "proved",
    "fixed_ring_wgmma": "proved",
}
