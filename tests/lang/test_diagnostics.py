"""Each rule of the front end: a program that breaks it, beside one that differs in one place and does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from exogpu.codes import all_codes
from exogpu.diagnostics import Diagnostic

Findings = Callable[[str], tuple[Diagnostic, ...]]

MAP = """\
from exogpu.lang import *

WIDTH = 128
STEP = 2.5


@scalar
def twice(x: f32):
    return x + x


@proc
def scale(N: size, alpha: f32, X: f32[N] @ GMEM, Y: f32[N] @ GMEM, I: i32[N] @ GMEM):
    require(N >= 1)
    block(128)
    done = mbarrier(ring=2, count=1)
    for b in tasks(0, ceildiv(N, WIDTH)):
        tile: f32[2, 128] @ SMEM(swizzle=0, ring=2)
        mine: f32[128, 4] @ RMEM(threads=1)
        for t in threads(128):
            keep: f32[4] @ RMEM
            for i in unroll(0, 4):
                keep[i] = 0.0
            tile[0, t] = select(WIDTH * b + t < N, X[WIDTH * b + t], 0.0)
        Fence()
        for w in threads(4, unit=warp):
            for t in threads(1):
                Arrive(done, tx=0)
        Await(done, lag=1)
        for t in threads(128):
            if WIDTH * b + t < N:
                Y[WIDTH * b + t] = twice(alpha) * tile[0, t]
"""

GEMM = (Path(__file__).parents[2] / "exogpu" / "kernels" / "gemm_bf16.py").read_text(encoding="utf-8")


class Case(NamedTuple):
    """`good`, replaced by `bad` in the program, is reported as `code` at the text `marked`."""

    code: str
    program: str
    good: str
    bad: str
    marked: str


PUT = "Y[WIDTH * b + t] = twice(alpha) * tile[0, t]"
KEEP = "keep[i] = 0.0"
TILE = "tile: f32[2, 128] @ SMEM(swizzle=0, ring=2)"
MINE = "mine: f32[128, 4] @ RMEM(threads=1)"
BLOCK = "    block(128)\n"
ROLES = "producer=warpgroups(1, regs=40), consumer=warpgroups(2, regs=232), persistent=True, raster=16"
WGMMA_A = "sA[64 * w : 64 * w + 64, 16 * ks : 16 * ks + 16]"
LOAD_A = "tma_load(sA[:, :], A[BM * tm : BM * tm + BM, BK * k : BK * k + BK], full)"

CASES = [
    # names
    Case("lang.unknown_name", MAP, PUT, "Y[WIDTH * b + t] = twice(alpha) * tiles[0, t]", "tiles"),
    Case("lang.unknown_name", MAP, PUT, "Y[WIDTH * c + t] = twice(alpha) * tile[0, t]", "c"),
    Case("lang.unknown_name", MAP, PUT, "Y[WIDTH * b + t] = thrice(alpha) * tile[0, t]", "thrice"),
    Case("lang.unknown_name", MAP, PUT, "Y[WIDTH * b + t] = keep[0]", "keep"),
    Case("lang.unknown_name", MAP, "Fence()", "Fench()", "Fench"),
    Case("lang.unknown_name", MAP, "require(N >= 1)", "require(M >= 1)", "M"),
    Case("lang.unknown_name", MAP, TILE, "tile: f32[tile, 128] @ SMEM(swizzle=0, ring=2)", "tile"),
    Case("lang.unknown_name", MAP, "X: f32[N] @ GMEM", "X: f32[X] @ GMEM", "X"),
    Case("lang.name", MAP, MINE, "_mine: f32[128, 4] @ RMEM(threads=1)", "_mine"),
    Case("lang.duplicate_name", MAP, BLOCK, BLOCK + "    X = mbarrier(count=1)\n", "X"),
    # arity
    Case("lang.arity", MAP, PUT, "Y[WIDTH * b + t] = twice(alpha, 1.0) * tile[0, t]", "twice(alpha, 1.0)"),
    Case("lang.arity", MAP, PUT, "Y[WIDTH * b + t] = exp() * tile[0, t]", "exp()"),
    Case("lang.arity", MAP, PUT, "Y[WIDTH * b + t] = select(b > 0, 1.0)", "select(b > 0, 1.0)"),
    Case("lang.arity", MAP, "ceildiv(N, WIDTH)", "ceildiv(N)", "ceildiv(N)"),
    Case("lang.arity", MAP, "Fence()", "Fence(0)", "0"),
    Case("lang.arity", MAP, "Await(done, lag=1)", "Await(done, lags=1)", "lags=1"),
    Case("lang.arity", MAP, "Await(done, lag=1)", "Await(lag=1)", "Await(lag=1)"),
    Case("lang.arity", MAP, "unroll(0, 4)", "unroll(0, 4, 1)", "unroll(0, 4, 1)"),
    Case("lang.arity", MAP, TILE, "tile: f32[2, 128] @ SMEM(swizle=0, ring=2)", "swizle=0"),
    Case("lang.arity", MAP, BLOCK, "    block()\n", "block()"),
    Case("lang.arity", GEMM, LOAD_A, "tma_load(sA[:, :])", "tma_load(sA[:, :])"),
    Case("lang.type_mismatch", GEMM, LOAD_A, "tma_load(sA[:, :], full)", "full"),
    Case("lang.arity", GEMM, "wgmma_wait(1)", "wgmma_wait(1, 2)", "2"),
    Case(
        "lang.arity", GEMM, "accumulate=k > 0 or ks > 0", "accumulated=k > 0 or ks > 0", "accumulated=k > 0 or ks > 0"
    ),
    # indices and conditions
    Case("lang.non_affine", MAP, PUT, "Y[N * b + t] = 0.0", "N * b"),
    Case("lang.non_affine", MAP, PUT, "Y[N // b] = 0.0", "N // b"),
    Case("lang.non_affine", MAP, PUT, "Y[t % 0] = 0.0", "t % 0"),
    Case("lang.non_affine", MAP, PUT, "Y[t / 2] = 0.0", "t / 2"),
    Case("lang.non_affine", MAP, PUT, "Y[sqrt(t)] = 0.0", "sqrt(t)"),
    Case("lang.data_dependent", MAP, PUT, "Y[I[t]] = 0.0", "I[t]"),
    Case("lang.data_dependent", MAP, "if WIDTH * b + t < N:", "if X[t] > 0:", "X[t]"),
    Case("lang.data_dependent", MAP, "if WIDTH * b + t < N:", "if alpha > 0:", "alpha"),
    Case("lang.data_dependent", MAP, PUT, "Y[t] = select(X[t] > 0, X[t], 0.0)", "X[t]"),
    Case("lang.type_mismatch", MAP, "if WIDTH * b + t < N:", "if N - t:", "N - t"),
    Case("lang.type_mismatch", MAP, "if WIDTH * b + t < N:", "if (b > 0) & (t < N):", "(b > 0) & (t < N)"),
    Case("lang.type_mismatch", MAP, PUT, "Y[done] = 0.0", "done"),
    Case("lang.type_mismatch", MAP, PUT, "Y[STEP] = 0.0", "STEP"),
    Case("lang.syntax", MAP, "if WIDTH * b + t < N:", "if t is N:", "t is N"),
    # values
    Case("lang.type_mismatch", MAP, PUT, "Y[t] = done", "done"),
    Case("lang.type_mismatch", MAP, PUT, "Y[t] = t < 3", "t < 3"),
    Case("lang.type_mismatch", MAP, PUT, "Y[t] = twice * 2.0", "twice"),
    Case("lang.type_mismatch", MAP, PUT, "Y[t] = exp(I[t])", "exp(I[t])"),
    Case("lang.type_mismatch", MAP, PUT, "I[t] = I[t] / 2", "I[t] / 2"),
    Case("lang.type_mismatch", MAP, PUT, "I[t] = I[t] * 0.5", "0.5"),
    Case("lang.type_mismatch", MAP, PUT, "I[t] += X[t]", "X[t]"),
    Case("lang.type_mismatch", MAP, PUT, "I[t] = 0.5", "0.5"),
    Case("lang.type_mismatch", MAP, PUT, "Y[t] = I[t] * (index(t) + 0.5)", "0.5"),
    Case("lang.type_mismatch", MAP, PUT, "Y[t] = I[t] * (index(t) / index(2))", "index(t) / index(2)"),
    Case("lang.rank", MAP, PUT, "Y[t] = tile", "tile"),
    Case("lang.rank", MAP, PUT, "Y[t] = tile[t]", "tile[t]"),
    Case("lang.rank", MAP, PUT, "Y[t, 0] = 0.0", "Y[t, 0]"),
    Case("lang.rank", MAP, PUT, "Y[0:4] = 0.0", "0:4"),
    Case("lang.rank", MAP, PUT, "Y = 0.0", "Y"),
    Case("lang.type", MAP, PUT, "Y[t] = cast(float32, I[t])", "float32"),
    Case("lang.syntax", MAP, PUT, "Y[t] = X[t] ** 2.0", "X[t] ** 2.0"),
    Case("lang.syntax", MAP, PUT, "Y[t] = 'x'", "'x'"),
    Case("lang.syntax", MAP, PUT, "Y[t] -= 1.0", "Y[t] -= 1.0"),
    Case("lang.syntax", MAP, PUT, "y = X[t]", "y"),
    Case("lang.syntax", MAP, PUT, "Y[t] = I[t] = 0.0", "Y[t]"),
    Case("lang.type_mismatch", MAP, PUT, "alpha[()] = 0.0", "alpha"),
    # types, memories, allocations
    Case("lang.type", MAP, "alpha: f32", "alpha: f31", "f31"),
    Case("lang.type", MAP, "alpha: f32", "alpha", "alpha"),
    Case("lang.type", MAP, MINE, "mine: f32 @ RMEM", "f32"),
    Case("lang.rank", MAP, MINE, "mine: f32[()] @ SMEM", "mine: f32[()] @ SMEM"),
    Case("lang.rank", MAP, "I: i32[N] @ GMEM", "I: i32[()] @ GMEM", "I: i32[()] @ GMEM"),
    Case("lang.memory", MAP, MINE, "mine: f32[128, 4]", "f32[128, 4]"),
    Case("lang.memory", MAP, MINE, "mine: f32[128, 4] @ RMEN(threads=1)", "RMEN"),
    Case("lang.memory", MAP, MINE, "mine: f32[128, 4] @ GMEM", "f32[128, 4] @ GMEM"),
    Case("lang.memory", MAP, "Y: f32[N] @ GMEM", "Y: f32[N] @ SMEM", "f32[N] @ SMEM"),
    Case("lang.memory", MAP, "Y: f32[N] @ GMEM", "Y: f32[N]", "f32[N]"),
    Case("lang.memory", MAP, MINE, "mine: f32[128, 4] @ RMEM", "mine: f32[128, 4] @ RMEM"),
    Case("lang.memory", MAP, MINE, "mine: f32[128, 4] @ RMEM(threads=2)", "mine: f32[128, 4] @ RMEM(threads=2)"),
    Case("lang.memory", MAP, MINE, "mine: f32[128, 4] @ RMEM(threads=3)", "mine: f32[128, 4] @ RMEM(threads=3)"),
    Case("lang.memory", MAP, "keep: f32[4] @ RMEM", "keep: f32[4] @ SMEM", "keep: f32[4] @ SMEM"),
    Case("lang.memory", MAP, MINE, "mine: f32[1, 64, 12] @ WGMMA_D", "mine: f32[1, 64, 12] @ WGMMA_D"),
    Case("lang.memory", MAP, MINE, "mine: f32[1, 32, 16] @ WGMMA_D", "mine: f32[1, 32, 16] @ WGMMA_D"),
    Case("lang.memory", MAP, MINE, "mine: f32[2, 64, 16] @ WGMMA_D", "mine: f32[2, 64, 16] @ WGMMA_D"),
    Case("lang.range", MAP, TILE, "tile: f32[2, 128] @ SMEM(swizzle=48, ring=2)", "48"),
    Case("lang.range", MAP, TILE, "tile: f32[2, 128] @ SMEM(swizzle=0, ring=0)", "0"),
    Case("lang.range", MAP, MINE, "mine: f32[0, 4] @ RMEM(threads=1)", "0"),
    Case("lang.literal", MAP, MINE, "mine: f32[N, 4] @ RMEM(threads=1)", "N"),
    Case("lang.syntax", MAP, MINE, "mine: f32[128, 4] @ RMEM(threads=1) = 0.0", "0.0"),
    # barriers
    Case("lang.range", MAP, "mbarrier(ring=2, count=1)", "mbarrier(ring=0, count=1)", "0"),
    Case("lang.range", MAP, "mbarrier(ring=2, count=1)", "mbarrier(ring=2, count=0)", "0"),
    Case("lang.range", MAP, "mbarrier(ring=2, count=1)", "mbarrier(ring=2, count=1048576)", "1048576"),
    Case("lang.range", MAP, "Await(done, lag=1)", "Await(done, lag=-1)", "-1"),
    Case("lang.range", MAP, "Arrive(done, tx=0)", "Arrive(done, tx=-16)", "-16"),
    Case("lang.literal", MAP, "Await(done, lag=1)", "Await(done, lag=b)", "b"),
    Case("lang.type_mismatch", MAP, "Await(done, lag=1)", "Await(tile, lag=1)", "tile"),
    # the block and its roles
    Case("lang.block", MAP, BLOCK, "", "scale"),
    Case("lang.block", MAP, BLOCK, BLOCK + "    block(64)\n", "block(64)"),
    Case("lang.block", MAP, BLOCK, "    block(129)\n", "block(129)"),
    Case("lang.block", MAP, BLOCK, "    block(1056)\n", "block(1056)"),
    Case("lang.order", MAP, "    for b in", "    Fence()\n    require(N >= 2)\n    for b in", "require(N >= 2)"),
    Case("lang.role", GEMM, "with role(producer):", "with role(producers):", "with role(producers):"),
    Case("lang.role", GEMM, "regs=232", "regs=236", "consumer=warpgroups(2, regs=236)"),
    Case("lang.role", GEMM, "regs=40", "regs=16", "producer=warpgroups(1, regs=16)"),
    Case(
        "lang.role",
        GEMM,
        ROLES,
        "producer=warps(1), consumer=warpgroups(2, regs=232)",
        "consumer=warpgroups(2, regs=232)",
    ),
    Case("lang.role", GEMM, "producer=warpgroups(1, regs=40)", "producer=128", "128"),
    Case(
        "lang.role", MAP, "        Fence()", "        with role(producer):\n            Fence()", "with role(producer):"
    ),
    Case("lang.name", MAP, MINE, "ordinal: f32[128, 4] @ RMEM(threads=1)", "ordinal"),
    Case("lang.role", GEMM, "with role(producer):", "with role(producer[0].x):", "role(producer[0].x)"),
    Case("lang.unknown_name", GEMM, "with role(producer):", "with role(producer[j]):", "j"),
    Case("lang.role", MAP, "Await(done, lag=1)", "Arrive(done, tx=ordinal)", "ordinal"),
    # clusters
    Case("lang.cluster", MAP, "Arrive(done, tx=0)", "Arrive(done[0:2], tx=0)", "Arrive(done[0:2], tx=0)"),
    Case("lang.cluster", MAP, "Arrive(done, tx=0)", "Arrive(done[b], tx=0)", "Arrive(done[b], tx=0)"),
    Case("lang.cluster", MAP, "        Fence()", "        cluster_wait()", "cluster_wait()"),
    # loops and collectives
    Case("lang.threads", MAP, "threads(4, unit=warp)", "threads(5, unit=warp)", "for w in threads(5, unit=warp):"),
    Case("lang.literal", MAP, "unroll(0, 4)", "unroll(0, N)", "N"),
    Case("lang.literal", MAP, "threads(4, unit=warp)", "threads(N, unit=warp)", "N"),
    Case("lang.range", MAP, "threads(4, unit=warp)", "threads(4, unit=0)", "0"),
    Case("lang.syntax", MAP, "unroll(0, 4)", "range(0, 4)", "range(0, 4)"),
    Case("lang.syntax", MAP, "for i in unroll(0, 4)", "for i, j in unroll(0, 4)", "i, j"),
    Case("lang.tasks", MAP, "for i in unroll(0, 4)", "for i in tasks(0, 4)", "for i in tasks(0, 4):"),
    Case("lang.no_tasks", MAP, "for b in tasks(", "for b in seq(", "scale"),
    Case("lang.collective", MAP, "        Fence()", "        tile[0, 0] = 0.0", "tile[0, 0] = 0.0"),
    Case("lang.collective", MAP, "        Fence()", "        wgmma_wait(0)\n        bulk_commit()", "bulk_commit()"),
    Case("lang.fence", MAP, KEEP, "Fence()", "Fence()"),
    Case(
        "lang.fence",
        MAP,
        "            for t in threads(1):\n                Arrive(done, tx=0)",
        "            for t in threads(2, unit=12):\n                Fence()",
        "Fence()",
    ),
    Case(
        "lang.collective",
        GEMM,
        "threads(2, unit=warpgroup):\n                        wgmma_fence()",
        "threads(1):\n                        wgmma_fence()",
        "wgmma_fence()",
    ),
    # instructions
    Case("lang.memory", GEMM, LOAD_A, "tma_load(sA[:, :], sB[0:128, :], full)", "sB[0:128, :]"),
    Case("lang.rank", GEMM, WGMMA_A, "sA[64 * w, 16 * ks : 16 * ks + 16]", "sA[64 * w, 16 * ks : 16 * ks + 16]"),
    Case("lang.window_extent", GEMM, WGMMA_A, "sA[64 * w : 64, 16 * ks : 16 * ks + 16]", "64 * w : 64"),
    Case("lang.window_extent", GEMM, WGMMA_A, "sA[64 : 64, 16 * ks : 16 * ks + 16]", "64 : 64"),
    Case("lang.window_extent", GEMM, LOAD_A, "tma_load(sA[:, :], A[:, BK * k : BK * k + BK], full)", ":"),
    Case("lang.type_mismatch", GEMM, "wgmma_wait(1)", "wgmma_wait(k)", "k"),
    Case("lang.type_mismatch", GEMM, "accumulate=k > 0 or ks > 0", "accumulate=k", "k"),
    Case(
        "lang.type_mismatch",
        GEMM,
        "acc_store(stage[w, :, :], acc[w, :, 64 * c : 64 * c + 64])",
        "acc_store(stage[w, :, :], acc[w, :, 64 * c : 64 * c + 64], fn=BM)",
        "BM",
    ),
    Case("lang.rank", GEMM, "acc[w, :, :],", "acc[w, :, 0:BN, 0],", "acc[w, :, 0:BN, 0]"),
    Case(
        "instr.contract",
        GEMM,
        LOAD_A,
        "tma_load(sA[:, :], A[BM * tm : BM * tm + 64, BK * k : BK * k + BK], full)",
        "tma_load(sA[:, :], A[BM * tm : BM * tm + 64, BK * k : BK * k + BK], full)",
    ),
    # outside the task loops
    Case("lang.outside_tasks", MAP, "    for b in", "    early: f32[4] @ SMEM\n    for b in", "early: f32[4] @ SMEM"),
    Case(
        "lang.outside_tasks",
        MAP,
        "    for b in",
        "    for t in threads(1):\n        Y[0] = 0.0\n    for b in",
        "Y[0] = 0.0",
    ),
    # Python that is not the language
    Case("lang.syntax", MAP, KEEP, "return", "return"),
    Case("lang.syntax", MAP, KEEP, "while True:\n                    pass", "while True:"),
    Case("lang.syntax", MAP, KEEP, "break", "break"),
    Case("lang.syntax", MAP, KEEP, "assert N > 0", "assert N > 0"),
    Case("lang.syntax", MAP, KEEP, "import os", "import os"),
    Case("lang.syntax", MAP, KEEP, "with open(X):\n                    pass", "open(X)"),
    Case("lang.syntax", MAP, "N: size, alpha", "N: size, *rest, alpha", "rest"),
    Case("lang.syntax", MAP, "I: i32[N] @ GMEM):", "I: i32[N] @ GMEM = 0):", "0"),
    Case("lang.syntax", MAP, "I: i32[N] @ GMEM):", "I: i32[N] @ GMEM) -> f32:", "f32"),
    Case("lang.syntax", MAP, "return x + x", "y = x", "twice"),
    Case("lang.type_mismatch", MAP, "def twice(x: f32)", "def twice(x: bf16)", "x: bf16"),
    Case("lang.syntax", MAP, "block(128)", "block(128", "("),
    Case(
        "lang.syntax",
        MAP,
        "def scale",
        "async def scale",
        "async def scale(N: size, alpha: f32, X: f32[N] @ GMEM, Y: f32[N] @ GMEM, I: i32[N] @ GMEM):",
    ),
    Case(
        "lang.name",
        MAP,
        "def twice(x: f32):\n    return x + x\n",
        "def twice(x: f32):\n    return x + x\n\n\n@scalar\ndef sqrt(x: f32):\n    return x\n",
        "sqrt",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.code}-{c.bad.strip()[:40]}")
def test_bad_program_and_its_twin(case: Case, findings: Findings) -> None:
    assert case.good in case.program
    assert findings(case.program) == ()
    text = case.program.replace(case.good, case.bad, 1)
    (found,) = findings(text)
    assert (found.code, _marked(text, found)) == (case.code, case.marked), found
    assert found.message[0].islower() or found.message.startswith("`") or found.message[0].isdigit()
    assert not found.message.endswith(".") and "\n" not in found.message


def test_every_code_of_the_front_end_has_a_case() -> None:
    elsewhere = {"lang.scope", "lang.no_source"}  # of procedures that no text gives
    codes = {code.name for code in all_codes() if code.name.startswith("lang.")}
    assert codes - elsewhere == {case.code for case in CASES if case.code.startswith("lang.")}


def _marked(text: str, found: Diagnostic) -> str:
    lines = text.splitlines()[found.span.line - 1 : found.span.end_line]
    lines[-1] = lines[-1][: found.span.end_col]
    lines[0] = lines[0][found.span.col :]
    return "\n".join(lines)
