"""Pairs of sums, and of largest elements, that differ in one detail."""

from __future__ import annotations

from exogpu.lang import *


@algorithm
def doubled(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i] + x[i]


@algorithm
def added_twice(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 0.0
        for j in seq(0, 2):
            y[i] += x[i]


@algorithm
def added_thrice(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 0.0
        for j in seq(0, 3):
            y[i] += x[i]


@algorithm
def total(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] += x[i, j]


@algorithm
def total_in_tiles(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for a in seq(0, ceildiv(M, 4)):
            for b in seq(0, 4):
                if 4 * a + b < M:
                    s[0] += x[i, 4 * a + b]


@algorithm
def total_in_padded_tiles(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for a in seq(0, ceildiv(M, 4)):
            for b in seq(0, 4):
                s[0] += select(4 * a + b < M, x[i, 4 * a + b], 0.0)


@algorithm
def cleared_total(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    s[0] = 0.0
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] += x[i, j]


@algorithm
def cleared_total_in_padded_tiles(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    s[0] = 0.0
    for i in seq(0, N):
        for a in seq(0, ceildiv(M, 4)):
            for b in seq(0, 4):
                s[0] += select(4 * a + b < M, x[i, 4 * a + b], 0.0)


@algorithm
def total_in_interleaved_tiles(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for b in seq(0, 4):
            for a in seq(0, ceildiv(M, 4)):
                if 4 * a + b < M:
                    s[0] += x[i, 4 * a + b]


@algorithm
def total_by_columns(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for j in seq(0, M):
        for i in seq(0, N):
            s[0] += x[i, j]


@algorithm
def counted(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] += x[i, 0]


@algorithm
def counted_by_columns(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for j in seq(0, M):
        for i in seq(0, N):
            s[0] += x[i, 0]


@algorithm
def total_of_triangle(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            if j <= i:
                s[0] += x[i, j]


@algorithm
def whole_total(N: size, M: size, x: i32[N, M] @ GMEM, s: i32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] += x[i, j]


@algorithm
def whole_total_by_columns(N: size, M: size, x: i32[N, M] @ GMEM, s: i32[1] @ GMEM):
    for j in seq(0, M):
        for i in seq(0, N):
            s[0] += x[i, j]


@algorithm
def narrow_total(N: size, M: size, x: bf16[N, M] @ GMEM, s: bf16[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] += x[i, j]


@algorithm
def narrow_total_in_tiles(N: size, M: size, x: bf16[N, M] @ GMEM, s: bf16[1] @ GMEM):
    for a in seq(0, N):
        for b in seq(0, M):
            if a < N:
                s[0] += x[a, b]


@algorithm
def narrow_total_by_columns(N: size, M: size, x: bf16[N, M] @ GMEM, s: bf16[1] @ GMEM):
    for j in seq(0, M):
        for i in seq(0, N):
            s[0] += x[i, j]


@algorithm
def wide_sum(N: size, x: f64[N] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        s[0] += x[i]


@algorithm
def wide_sum_of_rounded(N: size, x: f64[N] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        s[0] += cast(f32, x[i])


@algorithm
def largest(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] = max(s[0], x[i, j])


@algorithm
def largest_by_columns(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for j in seq(0, M):
        for i in seq(0, N):
            s[0] = max(x[i, j], s[0])


@algorithm
def largest_of_parts(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        row: f32[2] @ RMEM
        row[0] = s[0]
        row[1] = s[0]
        for j in seq(0, M):
            row[j % 2] = max(row[j % 2], x[i, j])
        s[0] = max(row[0], row[1])


@algorithm
def smallest(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, M):
            s[0] = min(s[0], x[i, j])


@algorithm
def largest_but_first(N: size, M: size, x: f32[N, M] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        for j in seq(1, M):
            s[0] = max(s[0], x[i, j])
