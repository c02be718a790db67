"""Pairs of procedures that differ in one detail."""

from __future__ import annotations

from exogpu.lang import *


@algorithm
def copy(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i]


@algorithm
def copy_in_tiles(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, ceildiv(N, 4)):
        for j in seq(0, 4):
            if 4 * i + j < N:
                y[4 * i + j] = x[4 * i + j]


@algorithm
def copy_all_but_one(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, ceildiv(N, 4)):
        for j in seq(0, 4):
            if 4 * i + j < N - 1:
                y[4 * i + j] = x[4 * i + j]


@algorithm
def copy_too_far(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, ceildiv(N, 4)):
        for j in seq(0, 4):
            y[4 * i + j] = x[4 * i + j]


@algorithm
def copy_whole_tiles(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    require(N % 4 == 0)
    for i in seq(0, N // 4):
        for j in seq(0, 4):
            y[4 * i + j] = x[4 * i + j]


@algorithm
def copy_odd(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    require(N % 2 == 1)
    for i in seq(0, N):
        y[i] = x[i]


@algorithm
def copy_backwards(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[N - 1 - i] = x[N - 1 - i]


@algorithm
def mirror(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[N - 1 - i] = x[i]


@algorithm
def copy_twice(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0
    for j in seq(0, N):
        y[j] = x[j]


@algorithm
def overwritten(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for j in seq(0, N):
        y[j] = x[j]
    for i in seq(0, N):
        y[i] = 1.0


@algorithm
def copy_through_ring(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    t: f32[2] @ RMEM
    for i in seq(0, N + 1):
        if i < N:
            t[i % 2] = x[i]
        if i > 0:
            y[i - 1] = t[(i + 1) % 2]


@algorithm
def copy_through_one_slot(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    t: f32[1] @ RMEM
    for i in seq(0, N + 1):
        if i < N:
            t[0] = x[i]
        if i > 0:
            y[i - 1] = t[0]


@algorithm
def copy_rounded(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: bf16[1] @ RMEM
        t[0] = x[i]
        y[i] = t[0]


@algorithm
def copy_cast(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = cast(bf16, x[i])


@algorithm
def copy_with_select(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = select(i < N, x[i], 0.0)


@algorithm
def shifted(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = select(i + 1 < N, x[i], 0.0)


@algorithm
def zero(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 0.0


@algorithm
def times_zero(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i] * 0.0


@algorithm
def unwritten(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    t: f32[2] @ RMEM
    t[0] = 0.0
    for i in seq(0, N):
        y[i] = x[i] + t[1]


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
def differences(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = y[i] - x[i]


@algorithm
def differences_reversed(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i] - y[i]


@algorithm
def products(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = y[i] * x[i]


@algorithm
def products_reversed(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i] * y[i]


@algorithm
def spread(N: size, x: f32[N] @ GMEM):
    for i in seq(1, N):
        x[i] = x[i - 1]


@algorithm
def moved(N: size, x: f32[N] @ GMEM):
    for i in seq(1, N):
        x[N - i] = x[N - i - 1]


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
def wrapped(N: size, x: i8[N] @ GMEM, y: i32[N] @ GMEM):
    for i in seq(0, N):
        t: i8[1] @ RMEM
        t[0] = x[i] + x[i]
        y[i] = t[0]


@algorithm
def not_wrapped(N: size, x: i8[N] @ GMEM, y: i32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i] + x[i]


@algorithm
def scaled(N: size, a: f32, x: f32[N] @ GMEM, y: bf16[N] @ GMEM):
    for i in seq(0, N):
        y[i] = a * x[i]


@algorithm
def scaled_reversed(N: size, a: f32, x: f32[N] @ GMEM, y: bf16[N] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        t[0] = x[i] * a
        y[i] = t[0]


@algorithm
def rounded_then_scaled(N: size, a: f32, x: f32[N] @ GMEM, y: bf16[N] @ GMEM):
    for i in seq(0, N):
        t: bf16[1] @ RMEM
        t[0] = x[i]
        y[i] = a * t[0]


@algorithm
def exponentials(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = exp(x[i]) / (1.0 + exp(x[i]))


@algorithm
def exponentials_bound(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        e: f32[1] @ RMEM
        e[0] = exp(x[i])
        y[i] = e[0] / (1.0 + e[0])


@algorithm
def exponentials_of_first(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = exp(x[0]) / (1.0 + exp(x[i]))


@algorithm
def wide_sum(N: size, x: f64[N] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        s[0] += x[i]


@algorithm
def wide_sum_of_rounded(N: size, x: f64[N] @ GMEM, s: f32[1] @ GMEM):
    for i in seq(0, N):
        s[0] += cast(f32, x[i])


@algorithm
def untouched(N: size, x: e5m2[N] @ GMEM, y: tf32[N] @ GMEM):
    for i in seq(0, 0):
        x[i] = x[i]
        y[i] = y[i]


@algorithm
def stored_again(N: size, x: e5m2[N] @ GMEM, y: tf32[N] @ GMEM):
    for i in seq(0, N):
        x[i] = x[i]
        y[i] = y[i]


@algorithm
def mixed(N: size, x: i32[N] @ GMEM, y: f64[N] @ GMEM):
    for i in seq(0, N):
        y[i] = select(i < 4, x[i], cast(f32, x[i]))


@algorithm
def wide(N: size, x: i32[N] @ GMEM, y: f64[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[i]


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


@algorithm
def positive_part(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] += x[i]
        y[i] = max(y[i], 0.0)


@algorithm
def positive_part_of_sum(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = max(x[i] + y[i], 0.0)


@algorithm
def sum_of_positive_part(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = max(y[i], 0.0)
        y[i] += x[i]
