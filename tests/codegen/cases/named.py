"""Named barriers between roles: a hand-over in both directions, and two groups that take turns."""

from exogpu.lang import *


@proc
def hand_over(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    """Every 64 elements of a row backwards, through one tile: arrive and sync in pairs, one free, one ready."""
    require(N % 64 == 0)
    block(left=warps(2), right=warps(2), persistent=True)
    ready = named_barrier(count=128)
    free = named_barrier(count=128)
    with role(right):
        bar_arrive(free)
    for m in tasks(0, M):
        for i in seq(0, N // 64):
            s: f32[64] @ SMEM
            with role(left):
                bar_sync(free)
                for t in threads(64):
                    s[t] = X[m, 64 * i + t]
                bar_arrive(ready)
            with role(right):
                bar_sync(ready)
                for t in threads(64):
                    Y[m, 64 * i + t] = s[63 - t]
                bar_arrive(free)


@proc
def turns(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, 128] @ GMEM):
    """Running sums over a row that two warpgroups add to in turn: each lets the other go first in the next step."""
    block(first=warpgroups(1), second=warpgroups(1))
    go_first = named_barrier(count=256)
    go_second = named_barrier(count=256)
    with role(second):
        bar_arrive(go_first)
    for m in tasks(0, M):
        s: f32[128] @ SMEM
        with role(first):
            for t in threads(128):
                s[t] = 0.0
            Fence()
        for i in seq(0, N):
            with role(first):
                bar_sync(go_first)
                for t in threads(128):
                    s[t] += X[m, i]
                bar_arrive(go_second)
            with role(second):
                bar_sync(go_second)
                for t in threads(128):
                    s[127 - t] = 0.5 * s[127 - t]
                bar_arrive(go_first)
        with role(first):
            bar_sync(go_first)
            for t in threads(128):
                Y[m, t] = s[127 - t]
