"""C = A B^T in bf16 with f32 accumulation, in three loops: what the shipped bf16 kernels compute."""

from exogpu.lang import *


@algorithm
def product(M: size, N: size, K: size, A: bf16[M, K] @ GMEM, B: bf16[N, K] @ GMEM, C: bf16[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            acc: f32[1] @ RMEM
            acc[0] = 0.0
            for k in seq(0, K):
                acc[0] += A[i, k] * B[j, k]
            C[i, j] = acc[0]
