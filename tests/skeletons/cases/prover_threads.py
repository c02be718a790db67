"""Twins for barriers of threads, elections, initialisation, and relaxed forms."""

from exogpu.skeleton import *


def named(count=64, again=True):
    """Two warps at a named barrier: the one that only arrives must not run ahead."""

    @skeleton
    def kernel(n: size):
        x = smem(32)
        with role("a", threads=32):
            for i in range(n):
                store(x[tid])
                bar_arrive(1, count)
                if again:
                    bar_sync(2, 64)
        with role("b", threads=32):
            for i in range(n):
                bar_sync(1, 64)
                load(x)
                if again:
                    bar_sync(2, 64)

    return kernel


def three(others):
    """The generations of a barrier for 64 threads, at which 96 come."""

    @skeleton
    def kernel():
        with role("a", threads=32):
            bar_sync(1, 64)
        with role("b", threads=32):
            bar_sync(1, 64)
        with role("c", threads=32):
            if others:
                bar_sync(1, 64)

    return kernel


def initialises(slots=1, meets=True):
    @skeleton
    def kernel():
        full = mbarrier(2)
        with role("p", threads=32):
            if tid == 0:
                for k in range(slots):
                    init(full[k], 1)
            if meets:
                cta_sync()
            if tid == 1:
                for k in range(2):
                    arrive(full[k])
        with role("c", threads=32):
            if meets:
                cta_sync()
            for k in range(2):
                wait(full[k], parity=0)

    return kernel


def initialises_twice(again):
    @skeleton
    def kernel():
        full = mbarrier()
        with role("p", threads=32):
            if tid < 1 + again:
                init(full, 1)
            cta_sync()
            with elect():
                arrive(full)
            wait(full, parity=0)

    return kernel


def relaxed_start(fenced, relaxed=True):
    """The cluster meets by relaxed arrivals, which tell of initialisations only behind an init_fence."""

    @skeleton
    def kernel():
        cluster(2)
        full = mbarrier()
        with role("p", threads=1):
            init(full, 1)
            if fenced:
                init_fence()
            if relaxed:
                cluster_arrive(relaxed=True)
            else:
                cluster_arrive()
            cluster_wait()
            arrive(peer(full, 1 - rank), scope="cluster")
            wait(full, parity=0, scope="cluster")

    return kernel


CTA, CLUSTER = 1, 2


def published(relaxed_arrive=False, release=0, relaxed_wait=False, acquire=0, far=False):
    """A store handed on by relaxed forms, with fences of these scopes."""
    home = 1 if far else 0

    @skeleton
    def kernel():
        cluster(2)
        full = mbarrier(count=1)
        x = smem()
        with role("p", threads=1, ctas=0):
            if far:
                store(peer(x, 1))
            else:
                store(x)
            if release == CTA:
                fence("cta")
            if release == CLUSTER:
                fence("cluster")
            if far:
                arrive(peer(full, 1), relaxed=relaxed_arrive, scope="cluster")
            else:
                arrive(full, relaxed=relaxed_arrive)
        with role("c", threads=1, ctas=home):
            wait(full, parity=0, relaxed=relaxed_wait, scope="cluster")
            if acquire == CTA:
                fence("cta")
            if acquire == CLUSTER:
                fence("cluster")
            load(x)

    return kernel


def released(meets):
    """One lane releases what all lanes have read."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=1)
        x = smem()
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                store(x)
                arrive(full)
        with role("c", warps=1):
            for i in range(n):
                wait(full, parity=i)
                load(x)
                if meets:
                    warp_sync()
                with elect():
                    arrive(empty)

    return kernel


def products(depth, meets=True):
    """A slot is released when the wgmma that reads it is over in all four warps."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        a = smem(2)
        acc = registers()
        with role("p", threads=1):
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1)
                arrive(full[i % 2], tx=64)
                tma_load(a[i % 2], full[i % 2], bytes=64)
        with role("c", threads=128):
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                wgmma_fence()
                wgmma(acc, a[i % 2])
                wgmma_commit()
                wgmma_wait(depth)
                if meets:
                    bar_sync(1, 128)
                with elect():
                    arrive(empty[i % 2])

    return kernel


def staged(fenced):
    """Warps that read by wgmma what all threads have stored."""

    @skeleton
    def kernel(n: size):
        a = smem(128)
        acc = registers()
        with role("all", threads=128):
            for i in range(n):
                store(a[tid])
                if fenced:
                    proxy_fence()
                bar_sync(1, 128)
                wgmma_fence()
                wgmma(acc, a)
                wgmma_commit()
                wgmma_wait(0)
                bar_sync(1, 128)

    return kernel


def elected_in_warps(warps):
    """A lane that the hardware elects in each of the first warps produces, as CUTLASS writes it."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(3, count=1)
        empty = mbarrier(3, count=4)
        x = smem(3)
        with role("load", warps=4):
            if warp < warps:
                with elect(any=True):
                    for i in range(n):
                        wait(empty[i % 3], parity=i // 3 + 1)
                        arrive(full[i % 3], tx=64)
                        tma_load(x[i % 3], full[i % 3], bytes=64)
        with role("use", warps=4):
            for i in range(n):
                wait(full[i % 3], parity=i // 3)
                load(x[i % 3])
                proxy_fence()
                warp_sync()
                with elect(any=True):
                    arrive(empty[i % 3])

    return kernel


def halves(signal):
    """Both warps store, and so many of them signal, in two loops."""

    @skeleton
    def kernel(n: size, m: size):
        full = mbarrier(count=32 * signal)
        empty = mbarrier(count=1)
        x = smem(64)
        with role("a", threads=64):
            c = 0
            for i in range(n):
                for j in range(m):
                    wait(empty, parity=c + 1)
                    store(x[tid])
                    if tid // 32 < signal:
                        arrive(full)
                    c += 1
        with role("b", threads=1):
            d = 0
            for i in range(n):
                for j in range(m):
                    wait(full, parity=d)
                    load(x[0:64])
                    arrive(empty)
                    d += 1

    return kernel


TWINS = [
    ("bar.recycle", named(again=False), named()),
    ("bar.count", three(True), three(False)),
    ("init/full", initialises(slots=1), initialises(slots=2)),
    ("mbar.init_unordered", initialises(slots=2, meets=False), initialises(slots=2)),
    ("mbar.reinit", initialises_twice(1), initialises_twice(0)),
    ("mbar.init_unordered", relaxed_start(False), relaxed_start(True)),
    ("mbar.init_unordered", relaxed_start(False), relaxed_start(False, relaxed=False)),
    ("race.raw", published(relaxed_arrive=True), published()),
    ("race.raw", published(relaxed_arrive=True), published(relaxed_arrive=True, release=CTA)),
    ("race.raw", published(relaxed_wait=True), published(relaxed_wait=True, acquire=CTA)),
    (
        "race.raw",
        published(relaxed_arrive=True, release=CTA, far=True),
        published(relaxed_arrive=True, release=CLUSTER, far=True),
    ),
    (
        "race.raw",
        published(relaxed_wait=True, acquire=CTA, far=True),
        published(relaxed_wait=True, acquire=CLUSTER, far=True),
    ),
    ("x/", released(False), released(True)),
    ("a/", products(1), products(0)),
    ("a/", products(0, meets=False), products(0)),
    ("a/", staged(False), staged(True)),
    ("mbar.count", elected_in_warps(2), elected_in_warps(1)),
]

COUNTED = [(halves(1), halves(2))]
"""Executions in two loops, which may be named by their number."""
