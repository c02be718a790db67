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
