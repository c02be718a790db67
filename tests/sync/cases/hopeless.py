"""Kernels that no synchronisation makes correct."""

from exogpu.lang import *


@proc
def beyond(M: size, X: f32[M, 128] @ GMEM, Y: f32[M, 128] @ GMEM):
    """Reads behind the end of X."""
    block(128)
    for i in tasks(0, M):
        s: f32[128] @ SMEM
        for t in threads(128):
            s[t] = X[i + 1, t]
        for t in threads(128):
            Y[i, t] = s[127 - t]


@proc
def one_cell(M: size, X: f32[M] @ GMEM, Y: f32[1] @ GMEM):
    """Every CTA adds to one element, not atomically."""
    block(32)
    for i in tasks(0, M):
        for t in threads(1):
            Y[0] += X[i]


@proc
def two_owners(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    """A register of one thread is read by another."""
    block(32)
    for i in tasks(0, M):
        r: f32[32] @ RMEM(threads=1)
        for t in threads(32):
            r[t] = X[i, t]
        for t in threads(32):
            Y[i, t] = r[31 - t]
