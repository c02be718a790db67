"""Elementwise conversions between all scalar types, and arithmetic in the wider type."""

from exogpu.lang import *


@proc
def convert(
    N: size,
    float: f32,
    X: f32[N] @ GMEM,
    H: f16[N] @ GMEM,
    B: bf16[N] @ GMEM,
    T: tf32[N] @ GMEM,
    E4: e4m3[N] @ GMEM,
    E5: e5m2[N] @ GMEM,
    D: f64[N] @ GMEM,
    I4: i32[N] @ GMEM,
    S: i8[N] @ GMEM,
    U: u8[N] @ GMEM,
):
    block(64)
    for thread in tasks(0, ceildiv(N, 64)):
        for lane in threads(64):
            if 64 * thread + lane < N:
                H[64 * thread + lane] = X[64 * thread + lane]
                B[64 * thread + lane] = X[64 * thread + lane]
                T[64 * thread + lane] = X[64 * thread + lane]
                E4[64 * thread + lane] = X[64 * thread + lane]
                E5[64 * thread + lane] = X[64 * thread + lane]
                I4[64 * thread + lane] = X[64 * thread + lane]
                S[64 * thread + lane] = X[64 * thread + lane]
                U[64 * thread + lane] = X[64 * thread + lane]
                D[64 * thread + lane] += X[64 * thread + lane] * float + exp(f64(H[64 * thread + lane]))
                I4[64 * thread + lane] += S[64 * thread + lane] * 3 + U[64 * thread + lane]
                H[64 * thread + lane] += bf16(D[64 * thread + lane]) + min(E4[64 * thread + lane], 1.5)
                X[64 * thread + lane] = relu(float) + sigmoid(E5[64 * thread + lane]) + index(lane)
