"""Y[i] = sum over r of W[r] * X[i + r - 3], f32, zero outside X: one tile with its halo in shared memory."""

from exogpu.lang import *

TILE, RADIUS = 256, 3


@proc
def stencil(N: size, X: f32[N] @ GMEM, W: f32[2 * RADIUS + 1] @ GMEM, Y: f32[N] @ GMEM):
    block(TILE)
    for b in tasks(0, ceildiv(N, TILE)):
        tile: f32[TILE + 2 * RADIUS] @ SMEM
        for t in threads(TILE):
            for v in unroll(0, 2):
                if TILE * v + t < TILE + 2 * RADIUS:
                    tile[TILE * v + t] = select(
                        TILE * (b + v) + t >= RADIUS and TILE * (b + v) + t - RADIUS < N,
                        X[TILE * (b + v) + t - RADIUS],
                        0.0,
                    )
        Fence()
        for t in threads(TILE):
            sum: f32[1] @ RMEM
            sum[0] = 0.0
            for r in unroll(0, 2 * RADIUS + 1):
                sum[0] += W[r] * tile[t + r]
            if TILE * b + t < N:
                Y[TILE * b + t] = sum[0]
