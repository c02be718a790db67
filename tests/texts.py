"""Kernels as text: reading and proving them, and the small ones that several tests start from."""

from __future__ import annotations

from pathlib import Path

from exogpu.ir.proc import Proc
from exogpu.lang import load
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status

HEAD = "from exogpu.lang import *\n\n\n@proc\n"

RING = """from exogpu.lang import *


@proc
def k(T: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    block(producer=warps(1), consumer=warps(1), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for t in tasks(0, T):
        for k in seq(0, K):
            s: f32[1, 32] @ SMEM(ring=2)
            with role(producer):
                for p in threads(1):
                    Await(empty, lag={lag})
                    {issuer}
                    tma_load(s[:, :], X[t : t + 1, 0:32], full)
                    Arrive(full, tx={tx})
            with role(consumer):
                {wait}
                for l in threads(32):
                    Y[t, l] = s[0, l]
                {proxy}
                {fence}
                {release}
"""

MMA = """from exogpu.lang import *


@proc
def k(M: size, A: bf16[64, 64] @ GMEM, B: bf16[8, 64] @ GMEM, C: f32[64, 8] @ GMEM):
    block(128)
    full = mbarrier(ring=1, count=1)
    for m in tasks(0, 1):
        acc: f32[1, 64, 8] @ WGMMA_D
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:8, 0:64], full)
            Arrive(full, tx=9216)
        Await(full)
        for w in threads(1, unit=warpgroup):
            {fence}
            for j in unroll(0, {steps}):
                wgmma(acc[w, :, :], a[0:64, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16], accumulate=j > 0)
            {commit}
            {wait}
            acc_store(C[0:64, 0:8], acc[w, :, :])
            {last}
"""

STORE = """from exogpu.lang import *


@proc
def k(M: size, N: size, Y: f32[M, N] @ GMEM):
    require(M >= 1 and N >= 1)
    {require}
    block({threads})
    for m in tasks(0, ceildiv(M, 8)):
        s: f32[8, 32] @ SMEM
        for l in threads(32):
            for r in seq(0, 8):
                s[r, l] = 1.0
        {proxy}
        Fence()
        for o in threads(1):
            tma_store(Y[8 * m : 8 * m + 8, 0:32], s[:, :])
            bulk_commit()
            {wait}
"""


def kernel(folder: Path, text: str, name: str = "") -> Proc:
    """The kernel of that name, or the only one, in a text; the import and `@proc` may be missing."""
    file = folder / "k.py"
    file.write_text(text if "@proc" in text else HEAD + text, encoding="utf-8")
    found = load(file)
    return found[name] if name else found.popitem()[1]


def verdict(folder: Path, text: str, name: str = "", policy: Policy = DEFAULT) -> Report:
    """The report on the kernel of that name, or the only one, in a text."""
    return verify(kernel(folder, text, name), policy)


def undecided(report: Report) -> list[tuple[str, Status, str, str]]:
    """What is not proved, for the message of an assertion."""
    return [(o.name, o.status, o.reason, o.message) for o in report.obligations if o.status is not Status.PROVED]


def broken(report: Report) -> set[str]:
    """The rules that are refuted, each with a counterexample."""
    refuted = [o for o in report.obligations if o.status is Status.REFUTED]
    assert all(o.counterexample is not None for o in refuted)
    return {o.rule for o in refuted}


def ring(**changed: str) -> str:
    """A producer's copies through a ring of two slots to a consumer."""
    parts = {"lag": "2", "tx": "128", "issuer": "", "wait": "Await(full)", "proxy": "fence_proxy_async()"}
    return _filled(RING, parts | {"fence": "Fence()", "release": "Arrive(empty)"} | changed)


def mma(**changed: str) -> str:
    """Copies into shared memory, a wgmma group, and its accumulators stored."""
    parts = {"fence": "wgmma_fence()", "steps": "4", "commit": "wgmma_commit()", "wait": "wgmma_wait(0)"}
    return _filled(MMA, parts | {"last": "wgmma_wait(0)"} | changed)


def store(**changed: str) -> str:
    """A tile written by threads and stored by TMA."""
    parts = {"require": "require(N % 4 == 0)", "threads": "32", "proxy": "fence_proxy_async()"}
    return _filled(STORE, parts | {"wait": "bulk_wait_read(0)"} | changed)


def _filled(text: str, parts: dict[str, str]) -> str:
    """The text with its holes filled; a line that is only an empty hole goes."""
    lines = text.split("\n")
    kept = (line for line in lines if not line.strip() or line.format(**parts).strip())
    return "\n".join(kept).format(**parts)
