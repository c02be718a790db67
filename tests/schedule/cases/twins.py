"""Procedures that do the same in other words, or nearly."""

from exogpu.lang import *


@algorithm
def copied_twice(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for j in seq(0, 2):
        for i in seq(0, N):
            y[i] = x[i]


@algorithm
def copy_some(N: size, i_1: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    require(i_1 <= N)
    for i in seq(0, i_1):
        y[i] = x[i]


@algorithm
def larger(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = max(x[i], x[N - 1 - i])


@algorithm
def larger_turned(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = max(x[N - 1 - i], x[i])


@algorithm
def larger_next(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = max(x[i], x[i % 2])


@algorithm
def three_added(N: size, z: i32[N + 2] @ GMEM, w: i32[N] @ GMEM):
    for i in seq(0, N):
        w[i] = (z[i] + z[i + 1]) + z[i + 2]


@algorithm
def three_added_back(N: size, z: i32[N + 2] @ GMEM, w: i32[N] @ GMEM):
    for i in seq(0, N):
        w[i] = z[i] + (z[i + 1] + z[i + 2])


@algorithm
def one_of_three(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        a: f32[1] @ RMEM
        b: f32[1] @ RMEM
        c: f32[1] @ RMEM
        a[0] = x[i]
        b[0] = x[i]
        c[0] = x[i]
        y[i] = 3.0
