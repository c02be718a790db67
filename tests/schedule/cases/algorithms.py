"""What the tests schedule."""

from __future__ import annotations

from exogpu.lang import *


@algorithm
def matmul(M: size, N: size, K: size, A: f32[M, K] @ GMEM, B: f32[K, N] @ GMEM, C: f32[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[k, j]


@algorithm
def multiple(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    require(N % 4 == 0)
    for i in seq(0, N):
        y[i] = x[i]


@algorithm
def copy(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i]


@algorithm
def backward(N: size, x: f32[N] @ GMEM):
    for i in seq(N - 5, N - 2):
        if i >= 0:
            x[i] = 1.0


@algorithm
def wave(N: size, M: size, x: f32[N, M] @ GMEM):
    for i in seq(1, N):
        for j in seq(0, M - 1):
            x[i, j] = x[i - 1, j + 1]


@algorithm
def smooth(N: size, M: size, x: f32[N, M] @ GMEM):
    for i in seq(1, N):
        for j in seq(1, M):
            x[i, j] = x[i - 1, j - 1]


@algorithm
def two(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM, z: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i]
        z[i] = y[i] + 1.0


@algorithm
def behind(N: size, y: f32[N] @ GMEM, z: f32[N] @ GMEM):
    for i in seq(1, N):
        y[i] = 1.0
        z[i] = y[i - 1]


@algorithm
def ahead(N: size, y: f32[N + 1] @ GMEM, z: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0
        z[i] = y[i + 1]


@algorithm
def apart(N: size, y: f32[N] @ GMEM, z: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0
    for j in seq(0, N):
        z[j] = y[j]


@algorithm
def reversed_read(N: size, y: f32[N] @ GMEM, z: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0
    for j in seq(0, N):
        z[j] = y[N - 1 - j]


@algorithm
def scratch(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        t[0] = x[i]
        y[i] = t[0] * t[0]


@algorithm
def eight(x: f32[8] @ GMEM, y: f32[8] @ GMEM):
    for i in seq(0, 8):
        t: f32[1] @ RMEM
        t[0] = x[i]
        for j in seq(0, i):
            t[0] += x[j]
        y[i] = t[0]


@algorithm
def narrow_sum(N: size, M: size, x: bf16[N, M] @ GMEM, s: bf16[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] += x[i, j]


@algorithm
def negative(N: size, x: f32[N] @ GMEM):
    for i in seq(3, N):
        x[i] = 1.0


@algorithm
def total(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] += x[i, j]


@algorithm
def triangle(N: size, x: f32[N, N] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, i):
            x[i, j] = 1.0


@algorithm
def conditions(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        if i < 4:
            x[i] = 1.0
        else:
            x[i] = 2.0
        if not i >= 4:
            y[i] = x[i]
        if i < 6:
            y[i] = 2.0


@algorithm
def independent(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM, z: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i]
        z[i] = x[i] + 1.0


@algorithm
def parted(N: size, x: f32[N] @ GMEM):
    for i in seq(0, N // 4):
        x[i] += 1.0
    for j in seq(N // 2, N):
        x[j] += 1.0
