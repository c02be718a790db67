"""B = A transposed, f32, through a shared-memory tile whose rows are padded so that columns hit different banks."""

from exogpu.lang import *

TILE = 32


@proc
def transpose(M: size, N: size, A: f32[M, N] @ GMEM, B: f32[N, M] @ GMEM):
    block(256)
    for bm in tasks(0, ceildiv(M, TILE)):
        for bn in tasks(0, ceildiv(N, TILE)):
            tile: f32[TILE, TILE + 1] @ SMEM
            for y in threads(8, unit=32):
                for x in threads(32):
                    for v in unroll(0, 4):
                        if TILE * bm + 8 * v + y < M and TILE * bn + x < N:
                            tile[8 * v + y, x] = A[TILE * bm + 8 * v + y, TILE * bn + x]
            Fence()
            for y in threads(8, unit=32):
                for x in threads(32):
                    for v in unroll(0, 4):
                        if TILE * bn + 8 * v + y < N and TILE * bm + x < M:
                            B[TILE * bn + 8 * v + y, TILE * bm + x] = tile[x, 8 * v + y]
