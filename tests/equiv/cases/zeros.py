"""Sums that differ in a zero that is added, and what is made of them."""

from __future__ import annotations

from exogpu.lang import *


@algorithm
def inverse(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0 / x[i]


@algorithm
def inverse_of_sum(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0 / (x[i] + 0.0)


@algorithm
def inverse_of_zero_and_sum(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0 / (0.0 + (0.0 + x[i]))


@algorithm
def inverse_of_sum_with_minus_zero(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0 / (x[i] + -0.0)


@algorithm
def inverse_of_scaled_sum(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        t[0] = x[i] + 0.0
        y[i] = 1.0 / (t[0] * 2.0)


@algorithm
def inverse_of_scaled(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0 / (x[i] * 2.0)


@algorithm
def inverse_of_one_or_other(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 1.0 / select(i < 8, x[i] + 0.0, x[i])


@algorithm
def inverse_root(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = rsqrt(x[i])


@algorithm
def inverse_root_of_sum(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = rsqrt(x[i] + 0.0)


@algorithm
def root(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 3.0 * sqrt(x[i])


@algorithm
def root_of_sum(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = 3.0 * sqrt(x[i] + 0.0)


@algorithm
def shares(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    total: f32[1] @ RMEM
    total[0] = 0.0
    for i in seq(0, N):
        total[0] += exp(x[i])
    for i in seq(0, N):
        y[i] = exp(x[i]) / total[0]


@algorithm
def shares_backwards(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    total: f32[1] @ RMEM
    total[0] = 0.0
    for i in seq(0, N):
        total[0] += exp(x[N - 1 - i])
    for i in seq(0, N):
        y[i] = exp(x[i]) / total[0]


@algorithm
def over_sum(N: size, x: f32[N] @ GMEM, y: f32[1] @ GMEM):
    require(N >= 1)
    total: f32[1] @ RMEM
    total[0] = x[0]
    for i in seq(1, N):
        total[0] += x[i]
    y[0] = 1.0 / total[0]


@algorithm
def over_sum_with_zeros(N: size, x: f32[N] @ GMEM, y: f32[1] @ GMEM):
    require(N >= 1)
    total: f32[1] @ RMEM
    total[0] = x[0]
    for i in seq(1, N):
        total[0] += x[i] + 0.0
    y[0] = 1.0 / total[0]
