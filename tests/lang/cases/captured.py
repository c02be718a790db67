"""A procedure made by a Python function, with a constant from the function's scope."""

from __future__ import annotations

from exogpu.lang import *


def made(count):
    @proc
    def local(N: size, X: f32[N] @ GMEM):
        block(64)
        for b in tasks(0, N):
            for t in threads(count):
                if t == 0:
                    X[b] = 1.0

    return local
