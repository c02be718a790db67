"""A small matrix product: a producer thread loads tiles, a warpgroup multiplies them with wgmma."""

from __future__ import annotations

from tests.oracle.choices import Choices

BYTES = (64 + 8) * 64 * 2
"""Of a stage: a tile of 64 rows and one of 8, 64 bf16 each."""


def multiply(c: Choices) -> str:
    """acc += a b^T over a ring of stages, the stage released in its iteration or in the next."""
    depth = c.pick((2, 1, 3))
    late = depth > 1 and c.chance(0.5)
    full, empty = c.text.barrier("full", depth, 1), c.text.barrier("empty", depth, 4)
    a, b = c.text.tensor("A", "64, 64 * K", "bf16"), c.text.tensor("B", "8, 64 * K + 8 * T", "bf16")
    y = c.text.tensor("Y", "T, 64, 8")
    steps = c.pick((1, 2, 4))
    text = c.text
    text.add("acc: f32[1, 64, 8] @ WGMMA_D")
    with text.block("for k in seq(0, K):"):
        text.add(f"sa: bf16[64, 64] @ SMEM(swizzle=128, ring={depth})")
        text.add(f"sb: bf16[8, 64] @ SMEM(swizzle=128, ring={depth})")
        with text.block("with role(p):"), text.block("for one in threads(1):"):
            c.sync(f"Await({empty}, lag={depth})")
            text.add(f"tma_load(sa[:, :], {a}[0:64, 64 * k : 64 * k + 64], {full})")
            text.add(f"tma_load(sb[:, :], {b}[0:8, 64 * k + 8 * t : 64 * k + 8 * t + 64], {full})")
            text.add(f"Arrive({full}, tx={BYTES})")
        with text.block("with role(q):"):
            c.sync(f"Await({full})")
            c.sync("wgmma_fence()")
            with text.block(f"for j in unroll(0, {steps}):"):
                text.add(
                    "wgmma(acc[0, :, :], sa[:, 16 * j : 16 * j + 16], sb[:, 16 * j : 16 * j + 16], "
                    "accumulate=k > 0 or j > 0)"
                )
            c.sync("wgmma_commit()")
            c.sync(f"wgmma_wait({int(late)})")
            with text.block("if k > 0:" if late else None), text.block("for w in threads(4, unit=warp):"):
                text.add(f"Arrive({empty})")
    with text.block("with role(q):"):
        c.sync("wgmma_wait(0)")
        if late:
            with text.block("if K > 0:"), text.block("for v in threads(4, unit=warp):"):
                text.add(f"Arrive({empty})")
        with text.block("if K > 0:"):
            text.add(f"acc_store({y}[t, 0:64, 0:8], acc[0, :, :])")
    return "q=warpgroups(1), p=warps(1), persistent=True"
