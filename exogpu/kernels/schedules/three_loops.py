"""What the matrix kernels compute: three loops, from which this package derives them."""

from __future__ import annotations

from exogpu.ir.proc import Proc
from exogpu.ir.types import Scalar
from exogpu.lang import *


def matmul(inputs: Scalar, result: Scalar, *, adds: bool = False) -> Proc:
    """C = A B^T with sums in f32; with `adds`, C += A B^T for a C of type f32."""

    @algorithm
    def matmul(
        M: size,
        N: size,
        K: size,
        A: inputs[M, K] @ GMEM,
        B: inputs[N, K] @ GMEM,
        C: result[M, N] @ GMEM,
    ):
        for m in seq(0, M):
            for n in seq(0, N):
                if adds:
                    for k in seq(0, K):
                        C[m, n] += A[m, k] * B[n, k]
                else:
                    acc: f32[1] @ RMEM
                    acc[0] = 0.0
                    for k in seq(0, K):
                        acc[0] += A[m, k] * B[n, k]
                    C[m, n] = acc[0]

    return matmul
