"""Single edits of the shipped kernels: each is refuted under its rule, with a replayed counterexample."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from exogpu.kernels import gemm_bf16 as bf16_module
from exogpu.kernels import gemm_f32 as f32_module
from exogpu.lang import load
from exogpu.verify.prove import prove, verify
from exogpu.verify.result import Report, Status

BF16 = inspect.getsource(bf16_module)
F32 = inspect.getsource(f32_module)

LAST_RELEASE = """                for v in threads(8, unit=warp):
                    Arrive(empty)
"""
LAST_WAIT = """                for w in threads(2, unit=warpgroup):
                    wgmma_wait(0)
"""
STAGE_FENCE = " " * 24 + "Fence()\n"
PROXY = " " * 24 + "fence_proxy_async()\n"


def edited(text: str, *edits: tuple[str, str] | tuple[str, str, int]) -> str:
    """`text` with each (old, new) replaced everywhere, or (old, new, n) at its n-th occurrence."""
    for old, new, *which in edits:
        assert old in text, old
        if which:
            parts = text.split(old)
            n = which[0] + 1
            text = old.join(parts[:n]) + new + old.join(parts[n:])
        else:
            text = text.replace(old, new)
    return text


def verdict(tmp_path: Path, text: str) -> Report:
    path = tmp_path / "edited.py"
    path.write_text(text)
    (kernel,) = load(path).values()
    return verify(kernel)


MUTANTS = {
    "release one iteration early": (edited(BF16, ("if k > 0:\n", "if k >= 0:\n"), (LAST_RELEASE, "")), "race.war"),
    "ring lag too long": (edited(BF16, ("lag=STAGES", "lag=STAGES + 1")), "race.war"),
    "ring lag a whole ring too long": (edited(BF16, ("lag=STAGES", "lag=2 * STAGES")), "mbar.parity_alias"),
    "ring lag too short": (edited(BF16, ("lag=STAGES", "lag=1")), "deadlock.cycle"),
    "wait_group too lax": (edited(BF16, ("wgmma_wait(1)", "wgmma_wait(2)")), "race.war"),
    "no proxy fence before the TMA store": (edited(BF16, (PROXY, "")), "proxy.generic_to_async"),
    "proxy fence in the wrong place": (edited(BF16, (PROXY, ""), (" " * 24 + "acc_store", PROXY + " " * 24 + "acc_store")), "proxy.generic_to_async"),
    "one arrival too many": (edited(BF16, ("count=8", "count=9")), "mbar.count"),
    "one arrival too few": (edited(BF16, ("count=8", "count=7")), "mbar.count"),
    "expected bytes too many": (edited(BF16, ("tx=STAGE_BYTES", "tx=STAGE_BYTES + 1024")), "mbar.tx_bytes"),
    "expected bytes too few": (edited(BF16, ("tx=STAGE_BYTES", "tx=STAGE_BYTES - 1024")), "mbar.tx_bytes"),
    "no wgmma fence": (edited(BF16, (" " * 24 + "wgmma_fence()\n", "")), "wgmma.reg_fence"),
    "no commit": (edited(BF16, (" " * 24 + "wgmma_commit()\n", "")), "wgmma.reg_inflight"),
    "accumulator read before its wait": (edited(BF16, (LAST_WAIT, "")), "wgmma.reg_inflight"),
    "staging reused before the store has read it": (edited(BF16, ("bulk_wait_read(1)", "bulk_wait_read(2)")), "race.war"),
    "no barrier after the wait for the store": (edited(BF16, (STAGE_FENCE, "", 0)), "race.war"),
    "no barrier between staging and store": (edited(BF16, (STAGE_FENCE, "", 1)), "race.raw"),
    "store in flight at exit": (edited(BF16, ("bulk_wait_read(0)", "bulk_wait_read(1)")), "race.async_inflight"),
    "no wait for the data": (edited(BF16, (" " * 20 + "Await(full)\n", "")), "race.raw"),
    "no wait for the free slot": (edited(BF16, (" " * 24 + "Await(empty, lag=STAGES)\n", "")), "race.war"),
    "data ring shorter than its barriers": (edited(BF16, ("sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=STAGES)", "sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=3)")), "race.war"),
    "register pool exceeded": (edited(BF16, ("regs=232", "regs=240")), "setmaxnreg.pool"),
    "f32: no barrier after the first slab": (edited(F32, (" " * 12 + "Fence()\n", "", 0)), "race.raw"),
    "f32: no barrier in the loop": (edited(F32, (" " * 16 + "Fence()\n", "", 1)), "race.war"),
    "f32: index past the tensor": (edited(F32, ("if BM * bm + 8 * ty + i < M and", "if BM * bm + 8 * ty + i <= M and")), "bounds"),
    "f32: another thread's accumulator": (edited(F32, ("acc[ty, tx, i, j] += a[i]", "acc[tx, ty, i, j] += a[i]")), "ownership"),
    "f32: tiles of two tasks overlap": (edited(F32, ("C[BM * bm + 8 * ty + i, BN", "C[8 * ty + i, BN")), "race.waw"),
    "f32: single buffer": (edited(F32, ("sA[(k + 1) % 2", "sA[k % 2")), "race.raw"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_refuted(tmp_path: Path, name: str) -> None:
    text, rule = MUTANTS[name]
    report = verdict(tmp_path, text)
    assert report.status is Status.REFUTED
    broken = [o for o in report.obligations if o.status is Status.REFUTED and o.rule == rule]
    assert broken, [(o.rule, o.name) for o in report.obligations if o.status is Status.REFUTED]
    for obligation in broken:
        found = obligation.counterexample
        assert found is not None
        assert found.replay
        if rule != "setmaxnreg.pool":
            assert {"M", "N", "K"} <= {size for size, _ in found.sizes}
            assert found.steps
            assert any("warp" in step.actor for step in found.steps)


EQUIVALENT = {
    "a lag of less than the ring only serialises": edited(BF16, ("lag=STAGES", "lag=STAGES - 1")),
    "a longer data ring": edited(BF16, ("sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=STAGES)", "sA: bf16[BM, BK] @ SMEM(swizzle=128, ring=6)")),
    "stricter wait": edited(BF16, ("wgmma_wait(1)", "wgmma_wait(0)")),
    "an extra barrier": edited(F32, (" " * 16 + "Fence()\n", " " * 16 + "Fence()\n" + " " * 16 + "Fence()\n", 0)),
}


@pytest.mark.parametrize("name", EQUIVALENT)
def test_harmless_edit_is_proved(tmp_path: Path, name: str) -> None:
    report = verdict(tmp_path, EQUIVALENT[name])
    assert report.status is Status.PROVED, [(o.name, o.status) for o in report.obligations if o.status is not Status.PROVED]


@pytest.mark.parametrize("kernel", [bf16_module.gemm_bf16, f32_module.gemm_f32], ids=lambda k: k.name)
def test_shipped_kernel_is_proved(kernel: object) -> None:
    from exogpu.ir.proc import Proc

    assert isinstance(kernel, Proc)
    proven, report = prove(kernel)
    assert report.status is Status.PROVED
    assert proven is not None
    assert all(o.queries or o.rule in {"mbar.count", "setmaxnreg.pool"} for o in report.obligations)


def test_the_ring_is_explained_by_chains() -> None:
    report = verify(bf16_module.gemm_bf16)
    war = next(o for o in report.obligations if o.rule == "race.war" and o.name.startswith("sA/"))
    steps = " ".join(chain.text for chain in war.chains)
    for statement in ("wgmma", "wgmma_wait", "Arrive empty", "Await empty", "tma_load"):
        assert statement in steps
    assert "L5" in report.axioms
