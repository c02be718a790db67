"""What the tests of storage operators schedule."""

from __future__ import annotations

from exogpu.lang import *


@algorithm
def product(M: size, N: size, K: size, A: f32[M, K] @ GMEM, B: f32[N, K] @ GMEM, C: f32[M, N] @ GMEM):
    for io in seq(0, ceildiv(M, 4)):
        for jo in seq(0, ceildiv(N, 2)):
            for ko in seq(0, ceildiv(K, 2)):
                for i in seq(0, 4):
                    for j in seq(0, 2):
                        for k in seq(0, 2):
                            if 4 * io + i < M and 2 * jo + j < N and 2 * ko + k < K:
                                C[4 * io + i, 2 * jo + j] += A[4 * io + i, 2 * ko + k] * B[2 * jo + j, 2 * ko + k]


@algorithm
def mirrored(N: size, x: f32[N, 4] @ GMEM, y: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, 4):
            y[i, j] = x[i, j] + x[i, 3 - j]


@algorithm
def stencil(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for io in seq(0, ceildiv(N, 4)):
        for i in seq(0, 4):
            if 4 * io + i + 1 < N and 4 * io + i > 0:
                y[4 * io + i] = x[4 * io + i - 1] + x[4 * io + i + 1]


@algorithm
def partly(N: size, y: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, 3):
            y[i, j] = 1.0
        y[i, 0] += 1.0


@algorithm
def scaled(N: size, y: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, 4):
            y[i, j] = y[i, j] * 2.0


@algorithm
def squares(N: size, x: f32[N, 8] @ GMEM, y: f32[N, 8] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, 8):
            t: f32[1] @ RMEM
            t[0] = x[i, j]
            y[i, j] = t[0] * t[0]


@algorithm
def corner(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[8, 6] @ RMEM
        for a in seq(0, 3):
            for b in seq(0, 4):
                t[a + 2, b] = x[i]
        if i < N - 1:
            y[i] = t[4, 3]


@algorithm
def delayed(x: f32[64] @ GMEM, y: f32[64] @ GMEM):
    t: f32[64] @ SMEM
    t[0] = x[0]
    for k in seq(0, 64):
        if k + 1 < 64:
            t[k + 1] = x[k + 1]
        y[k] = t[k]


@algorithm
def window_of_three(x: f32[64] @ GMEM, y: f32[64] @ GMEM):
    t: f32[64] @ RMEM
    for k in seq(0, 64):
        t[k] = x[k]
        if k > 1:
            y[k] = t[k] + t[k - 1] + t[k - 2]


@algorithm
def growing(x: f32[16] @ GMEM, y: f32[16] @ GMEM):
    t: f32[16, 2] @ RMEM
    for k in seq(0, 16):
        t[k, 0] = x[k]
        t[k, 1] = 1.0
        t[k, 0] += t[k, 1]
        y[k] = t[k, 0]


@algorithm
def vectors(x: f32[64, 4] @ GMEM, y: f32[64, 4] @ GMEM):
    for i in seq(0, 64):
        t: f32[4] @ RMEM
        vec_copy(t[0:4], x[i, 0:4])
        vec_copy(y[i, 0:4], t[0:4])


@algorithm
def narrow_values(N: size, x: f32[N] @ GMEM, h: bf16[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[2] @ RMEM
        t[0] = cast(bf16, x[i])
        t[1] = select(i > 0, -h[i], 0.5)
        y[i] = t[0] * t[1]


@algorithm
def wide_values(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        u: f32[1] @ RMEM
        v: f32[1] @ RMEM
        t[0] = x[i]
        u[0] = 0.1
        v[0] = 1.0
        v[0] += x[i]
        y[i] = t[0] + u[0] + v[0]


@algorithm
def blocks(N: size, K: size, x: f32[N, K] @ GMEM, y: f32[N] @ GMEM):
    for io in seq(0, ceildiv(N, 4)):
        for k in seq(0, K):
            for i in seq(0, 4):
                if 4 * io + i < N:
                    y[4 * io + i] += x[4 * io + i, k]


@algorithm
def recurrence(N: size, x: f32[N + 1] @ GMEM):
    for i in seq(0, N):
        x[i + 1] += x[i]


@algorithm
def sums_of_integers(N: size, x: i32[N] @ GMEM, s: i32[1] @ GMEM):
    for i in seq(0, N):
        s[0] += x[i]


@algorithm
def copied(N: size, x: f32[N, 4] @ GMEM, y: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        t: f32[4] @ RMEM
        for j in seq(0, 4):
            t[j] = select(i > 0, x[i, j], 0.0)
        for a in seq(0, 2):
            for b in seq(0, 2):
                y[i, 2 * a + b] = t[3 - 2 * a - b] + t[0]


@algorithm
def copied_and_changed(N: size, x: f32[N, 4] @ GMEM, y: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        t: f32[4] @ RMEM
        for j in seq(0, 4):
            t[j] = x[i, j]
        for k in seq(0, 4):
            y[i, k] = t[k] + t[3 - k]
            x[i, k] = 0.0


@algorithm
def copied_in_place(N: size, x: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        t: f32[4] @ RMEM
        for j in seq(0, 4):
            t[j] = x[i, j]
        for k in seq(0, 4):
            x[i, k] = t[k] + 1.0


@algorithm
def copied_in_turn(N: size, x: f32[N, 4] @ GMEM, y: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        t: f32[4] @ RMEM
        for a in seq(0, 2):
            for b in seq(0, 2):
                t[b + a] = x[i, 2 * a + b]
        for c in seq(0, 2):
            y[i, c] = t[c]


@algorithm
def copied_early(N: size, x: f32[N, 4] @ GMEM, y: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        t: f32[4] @ RMEM
        for j in seq(0, 4):
            if j < i:
                t[j] = x[i, j]
        for k in seq(0, 4):
            if k < i + 1:
                y[i, k] = t[k]


@algorithm
def copy_four(src: f32[4] @ GMEM, dst: f32[4] @ GMEM):
    for k in seq(0, 4):
        dst[3 - k] = src[3 - k]


@algorithm
def scaled_sum(n: size, row: size, rows: size, x: f32[rows, n] @ GMEM, s: f32[1] @ GMEM):
    require(row < rows)
    for k in seq(0, n):
        s[0] += x[row, k]


@algorithm
def rows_in_turn(N: size, x: f32[N, 4] @ GMEM):
    for i in seq(1, N):
        for j in seq(0, 4):
            x[i, j] += x[i - 1, j] + x[i, 0]


@algorithm
def rows_by_halves(N: size, x: f32[N, 4] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, 4):
            x[i, j] += x[i // 2, j]


@algorithm
def rows_of_vectors(x: f32[64, 4] @ GMEM, y: f32[4] @ GMEM):
    for i in seq(1, 64):
        t: f32[4] @ RMEM
        vec_copy(t[0:4], x[i - 1, 0:4])
        for j in seq(0, 4):
            x[i, j] = t[j]
        vec_copy(y[0:4], x[i, 0:4])


@algorithm
def rounded_later(N: size, x: f32[N] @ GMEM, y: bf16[N] @ GMEM, z: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        u: f32[1] @ RMEM
        t[0] = x[i] * x[i]
        y[i] = t[0]
        u[0] = x[i]
        z[i] = u[0]


@algorithm
def rounded_twice(N: size, x: f64[N] @ GMEM, h: f16[N] @ GMEM, y: bf16[N] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        u: f16[1] @ RMEM
        v: f32[1] @ RMEM
        t[0] = x[i]
        y[i] = t[0]
        u[0] = h[i] * h[i]
        y[i] = u[0]
        v[0] = h[i] * 0.3
        y[i] = v[0]
        h[i] = v[0] + 1.0
