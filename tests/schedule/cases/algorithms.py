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


@algorithm
def tested(N: size, M: size, x: f32[N] @ GMEM):
    for i in seq(0, N):
        if M > 3:
            x[i] = 1.0
        else:
            x[i] += 1.0


@algorithm
def guarded(N: size, M: size, x: f32[N] @ GMEM):
    for i in seq(0, N):
        if i < M:
            x[i] = 1.0


@algorithm
def loop_in_test(N: size, M: size, x: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        if i < M:
            for j in seq(0, 4):
                x[i, j] = 1.0


@algorithm
def running(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    t: f32[1] @ RMEM
    t[0] = 0.0
    for i in seq(0, N):
        t[0] += x[i]
        y[i] = t[0]


@algorithm
def carried(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    t: f32[2] @ RMEM
    for i in seq(0, N):
        t[i % 2] = x[i]
        if i > 0:
            y[i] = t[(i + 1) % 2]


@algorithm
def refilled(N: size, x: f32[N, 8] @ GMEM, y: f32[N, 8] @ GMEM):
    t: f32[8] @ RMEM
    for i in seq(0, N):
        for a in seq(0, 2):
            for b in seq(0, 4):
                t[4 * a + b] = x[i, 4 * a + b]
        for j in seq(0, 8):
            y[i, j] = t[7 - j]


@algorithm
def half_filled(N: size, x: f32[N, 8] @ GMEM, y: f32[N, 8] @ GMEM):
    t: f32[8] @ RMEM
    for i in seq(0, N):
        for b in seq(0, 4):
            t[b + 4 * (i % 2)] = x[i, b]
        for j in seq(0, 8):
            if i > 0:
                y[i, j] = t[j]


@algorithm
def redundant(N: size, x: f32[N] @ GMEM):
    require(N % 8 == 0)
    for i in seq(0, N // 4):
        for j in seq(0, 4):
            if 4 * i + j < N:
                x[(4 * i + j) // 4 * 4 + (4 * i + j) % 4] = select(i < N, 1.0, 2.0)


@algorithm
def useless(N: size, x: f32[N] @ GMEM):
    t: f32[4] @ RMEM
    for i in seq(0, N):
        t[i % 4] = x[i]
        x[i] = 1.0
        t[0] += 1.0


@algorithm
def square(N: size, x: f32[N] @ GMEM, h: bf16[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = (x[i] + 1.0) * (x[i] + 1.0) + select(i > 0, x[i - 1], 0.0) + h[i]


@algorithm
def rounding(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: bf16[1] @ RMEM
        t[0] = x[i]
        y[i] = t[0]


@algorithm
def changing(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        t[0] = x[i]
        x[i] = 1.0
        y[i] = t[0]


@algorithm
def tiled(M: size, K: size, A: f32[M, K] @ GMEM, s: f32[M] @ GMEM):
    for io in seq(0, ceildiv(M, 4)):
        acc: f32[4] @ RMEM
        tile: f32[4, 4] @ RMEM
        for i in seq(0, 4):
            acc[i] = 0.0
        for ko in seq(0, ceildiv(K, 4)):
            for a in seq(0, 4):
                for b in seq(0, 4):
                    tile[a, b] = select(4 * io + a < M and 4 * ko + b < K, A[4 * io + a, 4 * ko + b], 0.0)
            for i2 in seq(0, 4):
                if 4 * io + i2 < M:
                    for k in seq(0, 4):
                        if 4 * ko + k < K:
                            acc[i2] += tile[i2, k] * tile[i2, k]
        for i3 in seq(0, 4):
            if 4 * io + i3 < M:
                s[4 * io + i3] = acc[i3]


@algorithm
def untidy(M: size, K: size, A: f32[M, K] @ GMEM, s: f32[M] @ GMEM):
    for io in seq(0, ceildiv(M, 4)):
        acc: f32[4] @ RMEM
        tile: f32[4, 4] @ RMEM
        for i in seq(0, 4):
            acc[i] = 0.0
        for ko in seq(0, ceildiv(K, 4)):
            for a in seq(0, 4):
                for b in seq(0, 4):
                    tile[a, b] = select(4 * io + a < M and 4 * ko + b < K, A[4 * io + a, 4 * ko + b], 1.0)
            for i2 in seq(0, 4):
                if 4 * io + i2 < M:
                    for k in seq(0, 4):
                        if 4 * ko + k < K:
                            acc[i2] += tile[i2, k]
        for i3 in seq(0, 4):
            if 4 * io + 3 - i3 < M:
                s[4 * io + 3 - i3] = acc[3 - i3] + acc[0]


@algorithm
def unfilled(N: size, x: f32[N] @ GMEM, y: f32[4] @ GMEM):
    t: f32[8] @ RMEM
    for a in seq(0, 4):
        t[a] = 0.0
    for i in seq(0, 8):
        if i < N:
            y[i % 4] += t[i]


@algorithm
def always(x: f32[8] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, 8):
        s[0] += x[i]


@algorithm
def prefix(N: size, x: f32[N] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, N):
            x[i] += x[j]


@algorithm
def seldom(N: size, x: f32[4] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, N):
            if i < 4:
                x[i] += 1.0


@algorithm
def both_in_test(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        if i < 3:
            y[i] = x[i]
            x[i] = 1.0
