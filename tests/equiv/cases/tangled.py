"""Procedures whose elements are written in many places, so that a proof has to tell many cases apart."""

from exogpu.lang import *


@algorithm
def tangled(N: size, c: i8[24] @ GMEM):
    require(N <= 5)
    for a in seq(0, N // 2):
        for b in seq(3, N):
            for d in seq(0, N):
                c[b] += select(max(a - N, 0) > 2 * N, c[min(a, N)], c[d])
                c[1] = c[b]
            for e in seq(0, N):
                c[min(a, a)] = c[a]
        for f in seq(0, 1):
            c[a % 3] = c[a]
        for g in seq(2, 5):
            c[max(g - a, 0)] = c[5 - N]


@algorithm
def tangled_later(N: size, c: i8[24] @ GMEM):
    require(N <= 5)
    for a in seq(0, N // 2):
        for b in seq(3, N):
            for d in seq(0, N):
                c[b] += select(max(a - N, 0) > 2 * N, c[min(a, N)], c[d])
                c[1] = c[b]
            for e in seq(0, N):
                c[min(a, a)] = c[a]
        for f in seq(0, 1):
            c[a % 3] = c[a]
        for g in seq(2, 5):
            c[max(g - a, 0)] = c[6 - N]


@algorithm
def shifted(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[i] = x[N - 1 - i]


@algorithm
def shifted_back(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        y[N - 1 - i] = x[i]


@algorithm
def squared_often(N: size, x: f32[1] @ GMEM):
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]
    x[0] = x[0] * x[0]


@algorithm
def long_sum(N: size, x: f32[4000] @ GMEM, y: f32[1] @ GMEM):
    for i in seq(0, 4000):
        for j in seq(0, 4000):
            for k in seq(0, 4000):
                y[0] += x[i]


@algorithm
def longer_sum(N: size, x: f32[4000] @ GMEM, y: f32[1] @ GMEM):
    for i in seq(0, 4000):
        for j in seq(0, 4000):
            for k in seq(0, 4001):
                y[0] += x[i]
