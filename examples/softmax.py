"""Y = softmax of every row of X, f32: one CTA a row, partial maxima and sums combined through shared memory."""

from exogpu.lang import *

THREADS = 128


@proc
def softmax(M: size, N: size, X: f32[M, N] @ GMEM, Y: f32[M, N] @ GMEM):
    block(THREADS)
    for row in tasks(0, M):
        largest: f32[THREADS] @ SMEM
        total: f32[THREADS] @ SMEM
        peak: f32[THREADS] @ RMEM(threads=1)
        scale: f32[THREADS] @ RMEM(threads=1)
        for t in threads(THREADS):
            largest[t] = -inf
            for j in seq(0, ceildiv(N, THREADS)):
                if THREADS * j + t < N:
                    largest[t] = max(largest[t], X[row, THREADS * j + t])
        Fence()
        for t in threads(THREADS):
            peak[t] = largest[0]
            for i in seq(1, THREADS):
                peak[t] = max(peak[t], largest[i])
            total[t] = 0.0
            for j in seq(0, ceildiv(N, THREADS)):
                if THREADS * j + t < N:
                    total[t] += exp(X[row, THREADS * j + t] - peak[t])
        Fence()
        for t in threads(THREADS):
            scale[t] = 0.0
            for i in seq(0, THREADS):
                scale[t] += total[i]
            for j in seq(0, ceildiv(N, THREADS)):
                if THREADS * j + t < N:
                    Y[row, THREADS * j + t] = exp(X[row, THREADS * j + t] - peak[t]) / scale[t]
