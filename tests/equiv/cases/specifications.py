"""What the shipped kernels compute, in three loops."""

from __future__ import annotations

from exogpu.lang import *


@algorithm
def f32_product(M: size, N: size, K: size, A: f32[M, K] @ GMEM, B: f32[K, N] @ GMEM, C: f32[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            acc: f32[1] @ RMEM
            acc[0] = 0.0
            for k in seq(0, K):
                acc[0] += A[i, k] * B[k, j]
            C[i, j] = acc[0]


@algorithm
def bf16_product(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: bf16[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            acc: f32[1] @ RMEM
            acc[0] = 0.0
            for k in seq(0, K):
                acc[0] += A[i, k] * B[j, k]
            C[i, j] = acc[0]


@algorithm
def bf16_product_backwards(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: bf16[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            acc: f32[1] @ RMEM
            acc[0] = 0.0
            for k in seq(0, K):
                acc[0] += A[i, K - 1 - k] * B[j, K - 1 - k]
            C[i, j] = acc[0]


@algorithm
def added_product(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: f32[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[j, k]


@algorithm
def swapped(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: bf16[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            acc: f32[1] @ RMEM
            acc[0] = 0.0
            for k in seq(0, K):
                acc[0] += A[i, K - 1 - k] * B[j, k]
            C[i, j] = acc[0]


@algorithm
def rounded_sums(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: bf16[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            C[i, j] = 0.0
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[j, k]


@algorithm
def short(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: bf16[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            acc: f32[1] @ RMEM
            acc[0] = 0.0
            for k in seq(0, min(K, 64)):
                acc[0] += A[i, k] * B[j, k]
            C[i, j] = acc[0]


@algorithm
def transposed(M: size, N: size, A: f32[M, N] @ GMEM, B: f32[N, M] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            B[j, i] = A[i, j]


@algorithm
def softmax(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    for i in seq(0, M):
        peak: f32[1] @ RMEM
        total: f32[1] @ RMEM
        peak[0] = -inf
        for j in seq(0, N):
            peak[0] = max(peak[0], X[i, j])
        total[0] = 0.0
        for k in seq(0, N):
            total[0] += exp(X[i, k] - peak[0])
        for n in seq(0, N):
            Y[i, n] = exp(X[i, n] - peak[0]) / total[0]


@algorithm
def softmax_without_the_first(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    for i in seq(0, M):
        peak: f32[1] @ RMEM
        total: f32[1] @ RMEM
        peak[0] = -inf
        for j in seq(1, N):
            peak[0] = max(peak[0], X[i, j])
        total[0] = 0.0
        for k in seq(0, N):
            total[0] += exp(X[i, k] - peak[0])
        for n in seq(0, N):
            Y[i, n] = exp(X[i, n] - peak[0]) / total[0]


@algorithm
def stencil(N: size, X: f32[N] @ GMEM, W: f32[7] @ GMEM, Y: f32[N] @ GMEM):
    for i in seq(0, N):
        acc: f32[1] @ RMEM
        acc[0] = 0.0
        for d in seq(0, 7):
            acc[0] += select(i + d - 3 >= 0 and i + d - 3 < N, X[i + d - 3], 0.0) * W[d]
        Y[i] = acc[0]
