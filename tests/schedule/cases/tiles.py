"""What instructions can do, written in loops."""

from __future__ import annotations

from exogpu.lang import *


@algorithm
def loads(M: size, K: size, A: bf16[M, K] @ GMEM, s: f32[64] @ GMEM):
    for i in seq(0, ceildiv(M, 64)):
        for k in seq(0, ceildiv(K, 64)):
            t: bf16[64, 64] @ SMEM(swizzle=128)
            for r in seq(0, 64):
                for h in seq(0, 8):
                    for c in seq(0, 8):
                        t[r, 8 * h + c] = select(
                            64 * i + r < M and 64 * k + 8 * h + c < K, A[64 * i + r, 64 * k + 8 * h + c], 0.0
                        )
            for j in seq(0, 64):
                s[j] += t[j, 0]


@algorithm
def bad_loads(M: size, K: size, A: bf16[M, K] @ GMEM, s: f32[64] @ GMEM):
    for i in seq(0, ceildiv(M, 64)):
        for k in seq(0, ceildiv(K, 64)):
            t: bf16[64, 64] @ SMEM(swizzle=128)
            for r in seq(0, 64):
                for c in seq(0, 64):
                    t[r, c] = select(64 * i + r + 1 < M and 64 * k + c < K, A[64 * i + r, 64 * k + c], 0.0)
            for r1 in seq(0, 64):
                for c1 in seq(0, 64):
                    if 64 * i + r1 < M and 64 * k + c1 < K:
                        t[r1, c1] = A[64 * i + r1, 64 * k + c1]
            for r2 in seq(0, 64):
                for c2 in seq(0, 64):
                    t[r2, c2] = select(64 * i + r2 < M and 64 * k + c2 < K, A[64 * i + r2, 64 * k + c2], 1.0)
            for r3 in seq(0, 64):
                for c3 in seq(0, 64):
                    t[r3, c3] = select(64 * i + r3 < M and 64 * k + c3 < K, A[64 * i + r3, 64 * k + c3], 0.0)
                    s[r3] += t[r3, c3]
            for r4 in seq(0, 64):
                for c4 in seq(0, 64):
                    t[r4, c4] = select(64 * i + r4 < M and 64 * k + 63 < K, A[64 * i + r4, 64 * k + 63 - c4], 0.0)
            for j in seq(0, 64):
                s[j] += t[j, 0]


@algorithm
def products(A: bf16[64, 64] @ GMEM, B: bf16[16, 64] @ GMEM, C: bf16[64, 16] @ GMEM):
    a: bf16[64, 64] @ SMEM(swizzle=128)
    b: bf16[16, 64] @ SMEM(swizzle=128)
    d: f32[1, 64, 16] @ WGMMA_D
    for i in seq(0, 64):
        for c in seq(0, 64):
            a[i, c] = A[i, c]
    for i1 in seq(0, 16):
        for c1 in seq(0, 64):
            b[i1, c1] = B[i1, c1]
    for ks in seq(0, 4):
        if ks == 0:
            for m in seq(0, 64):
                for n in seq(0, 16):
                    d[0, m, n] = 0.0
        for k in seq(0, 16):
            for m1 in seq(0, 64):
                for n1 in seq(0, 16):
                    d[0, m1, n1] += b[n1, 16 * ks + k] * cast(f32, a[m1, 16 * ks + k])
    for ks2 in seq(0, 4):
        for k2 in seq(0, 16):
            for m2 in seq(0, 64):
                for n2 in seq(0, 16):
                    d[0, m2, n2] += a[m2, 16 * ks2 + 15 - k2] * b[n2, 16 * ks2 + 15 - k2]
    for ks3 in seq(0, 4):
        for k3 in seq(0, 16):
            for m3 in seq(0, 64):
                for n3 in seq(0, 16):
                    for twice in seq(0, 2):
                        d[0, m3, n3] += a[m3, 16 * ks3 + k3] * b[n3, 16 * ks3 + k3]
    for m4 in seq(0, 64):
        for n4 in seq(0, 16):
            C[m4, n4] = d[0, m4, n4]


@algorithm
def shared(x: bf16[16, 64] @ GMEM, y: bf16[64, 64] @ GMEM):
    for q in seq(0, 4):
        s: bf16[4, 64, 64] @ SMEM(swizzle=128)
        for c in seq(0, 4):
            for r in seq(0, 16):
                for e in seq(0, 64):
                    s[c, 16 * q + r, e] = x[r, e]
        for r1 in seq(0, 16):
            for e1 in seq(0, 64):
                y[16 * q + r1, e1] = s[q, 16 * q + r1, e1]


@algorithm
def invariant(N: size, x: f32[N] @ GMEM, y: f32[N, 8] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        for j in seq(0, 8):
            t[0] = x[i]
            y[i, j] = t[0]


@algorithm
def changed(N: size, x: f32[N] @ GMEM, y: f32[N, 8] @ GMEM):
    for i in seq(0, N):
        t: f32[1] @ RMEM
        for j in seq(0, 8):
            t[0] = x[i]
            y[i, j] = t[0]
            if j > 5:
                x[i] = 1.0


@algorithm
def slabs(N: size, x: f32[N, 4] @ GMEM, y: f32[N, 4] @ GMEM):
    t: f32[2, 4] @ RMEM
    for k in seq(0, N):
        for i in seq(0, 4):
            t[k % 2, i] = x[k, i]
        for j in seq(0, 4):
            y[k, j] = t[k % 2, 3 - j]


@algorithm
def constant(N: size, x: f32[N] @ GMEM, y: f32[1] @ GMEM):
    t: f32[1] @ RMEM
    for i in seq(0, N):
        t[0] = 1.0
        x[i] = t[0]


@algorithm
def dots(M: size, N: size, A: f32[M, 4] @ GMEM, B: f32[N, 4] @ GMEM, C: f32[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            acc: f32[1] @ RMEM
            acc[0] = 0.0
            for k in seq(0, 4):
                acc[0] += A[i, k] * B[j, k]
            C[i, j] = acc[0]


@algorithm
def nested(N: size, x: f32[N] @ GMEM):
    for i in seq(0, N):
        if i > 1:
            if i < 4:
                x[i] = 1.0
        if i > 5:
            if i < 7:
                x[i] = 2.0
            else:
                x[i] = 3.0


@algorithm
def rows(N: size, x: f32[N] @ GMEM, y: f32[N] @ GMEM):
    for i in seq(0, N):
        t: f32[2, 3] @ RMEM
        for h in seq(0, 2):
            for j in seq(0, 3):
                t[h, j] = x[i] + index(j)
        y[i] = t[0, 1] * t[1, 2]


@algorithm
def inner(N: size, x: f32[N] @ GMEM):
    for i in seq(0, N):
        for j in seq(0, N):
            t: f32[1] @ RMEM
            t[0] = 1.0
            x[i] = t[0]


@algorithm
def streamed(K: size, A: bf16[64, K] @ GMEM, y: f32[64] @ GMEM):
    for k in seq(0, ceildiv(K, 64)):
        for i in seq(0, 64):
            for c in seq(0, 64):
                if 64 * k + c < K:
                    y[i] += A[i, 64 * k + c]


@algorithm
def copies(M: size, N: size, x: f32[M, N] @ GMEM, y: f32[M, N] @ GMEM):
    for i in seq(0, M):
        for j in seq(0, N):
            y[i, j] += x[i, j]
