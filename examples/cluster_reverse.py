"""Rows reversed by clusters of CTAs: each stages a part of the row, then reads the part of its mirror image."""

from exogpu.lang import *

CLUSTER, PART = 4, 128


@proc
def cluster_reverse(M: size, X: f32[M, CLUSTER * PART] @ GMEM, Y: f32[M, CLUSTER * PART] @ GMEM):
    block(PART, persistent=True, cluster=CLUSTER)
    for row in tasks(0, M):
        parts: f32[CLUSTER, PART] @ SMEM
        for c in threads(CLUSTER, unit=cta):
            for t in threads(PART):
                parts[c, t] = X[row, PART * c + t]
        Fence()
        for c in threads(CLUSTER, unit=cta):
            for t in threads(PART):
                Y[row, PART * c + t] = parts[CLUSTER - 1 - c, PART - 1 - t]
        Fence()
