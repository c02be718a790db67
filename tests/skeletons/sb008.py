"""Double buffering by TMA: a stage is read by ordinary loads, a CTA barrier, then the copy of a later stage into it.

Source: NVIDIA/TransformerEngine pull request 2695. Its review says that sibling kernels have fences too many: those
are the last two.
"""

from exogpu.skeleton import *

CLASS = "proxy-war"
BYTES = 8192


def buggy_stages(S):
    @skeleton
    def stages(n: size):
        full = mbarrier(S, count=1)
        X = smem(S)
        with role("all", threads=128):
            with elect():
                for j in range(min(n, S)):
                    arrive(full[j], tx=BYTES)
                    tma_load(X[j], full[j], bytes=BYTES)
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(X[i % S])
                cta_sync()
                if i + S < n:
                    with elect():
                        arrive(full[i % S], tx=BYTES)
                        tma_load(X[i % S], full[i % S], bytes=BYTES)

    return stages


def fixed_stages(S):
    @skeleton
    def stages(n: size):
        full = mbarrier(S, count=1)
        X = smem(S)
        with role("all", threads=128):
            with elect():
                for j in range(min(n, S)):
                    arrive(full[j], tx=BYTES)
                    tma_load(X[j], full[j], bytes=BYTES)
            for i in range(n):
                wait(full[i % S], parity=i // S)
                load(X[i % S])
                proxy_fence()
                cta_sync()
                if i + S < n:
                    with elect():
                        arrive(full[i % S], tx=BYTES)
                        tma_load(X[i % S], full[i % S], bytes=BYTES)

    return stages


buggy = buggy_stages(2)
buggy_one_stage = buggy_stages(1)
buggy_three_stages = buggy_stages(3)
fixed = fixed_stages(2)
fixed_one_stage = fixed_stages(1)
fixed_three_stages = fixed_stages(3)


@skeleton
def fixed_fence_twice(n: size):
    full = mbarrier(2, count=1)
    X = smem(2)
    with role("all", threads=128):
        with elect():
            for j in range(min(n, 2)):
                proxy_fence()
                arrive(full[j], tx=BYTES)
                tma_load(X[j], full[j], bytes=BYTES)
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            proxy_fence()
            load(X[i % 2])
            proxy_fence()
            cta_sync()
            if i + 2 < n:
                with elect():
                    proxy_fence()
                    arrive(full[i % 2], tx=BYTES)
                    tma_load(X[i % 2], full[i % 2], bytes=BYTES)


@skeleton
def fixed_issuer_side(n: size):
    """Only the issuer fences, after the barrier (axiom L1, the default)."""
    full = mbarrier(2, count=1)
    X = smem(2)
    with role("all", threads=128):
        with elect():
            for j in range(min(n, 2)):
                arrive(full[j], tx=BYTES)
                tma_load(X[j], full[j], bytes=BYTES)
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(X[i % 2])
            cta_sync()
            if i + 2 < n:
                with elect():
                    proxy_fence()
                    arrive(full[i % 2], tx=BYTES)
                    tma_load(X[i % 2], full[i % 2], bytes=BYTES)


EXPECT = {
    "buggy": "proxy.generic_to_async",
    "buggy_one_stage": "proxy.generic_to_async",
    "buggy_three_stages": "proxy.generic_to_async",
    "fixed": "proved",
    "fixed_one_stage": "proved",
    "fixed_three_stages": "proved",
    "fixed_fence_twice": "proved",
    "fixed_issuer_side": "proved",
}
