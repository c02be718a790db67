"""Single edits of the shipped kernels: each is refuted under its rule, with a replayed counterexample."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from exogpu.ir.proc import Proc
from exogpu.kernels import gemm_bf16 as bf16_module
from exogpu.kernels import gemm_f32 as f32_module
from exogpu.kernels import gemm_splitk as splitk_module
from exogpu.kernels.gemm_pingpong import gemm_pingpong
from exogpu.verify.prove import prove, verify
from exogpu.verify.result import Status
from tests.texts import verdict

BF16 = inspect.getsource(bf16_module)
F32 = inspect.getsource(f32_module)

LAST_RELEASE = """                for v in threads(8, unit=warp):
                    Arrive(empty)
"""
LAST_WAIT = """                for w in threads(2, unit=warpgroup):
                    wgmma_wait(0)
"""
STAGE_FENCE = " " * 28 + "Fence()\n"
PROXY = " " * 28 + "fence_proxy_async()\n"


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


def bf16(old: str, new: str, which: int | None = None) -> str:
    return edited(BF16, (old, new) if which is None else (old, new, which))


def f32(old: str, new: str, which: int | None = None) -> str:
    return edited(F32, (old, new) if which is None else (old, new, which))


FENCE = "Fence()\n"
ACC_STORE = " " * 28 + "acc_store"
AWAIT_EMPTY = " " * 24 + "Await(empty, lag=STAGES)\n"
EARLY = edited(BF16, ("if k > 0:\n", "if k >= 0:\n"), (LAST_RELEASE, ""))
FENCE_TOO_SOON = edited(BF16, (PROXY, ""), (ACC_STORE, PROXY + ACC_STORE))
A_RING = "sA: bf16[BM, BK] @ SMEM(swizzle=128, ring={})"

MUTANTS = {
    "release one iteration early": (EARLY, "race.war"),
    "ring lag too long": (bf16("lag=STAGES", "lag=STAGES + 1"), "race.war"),
    "ring lag a whole ring too long": (bf16("lag=STAGES", "lag=2 * STAGES"), "mbar.parity_alias"),
    "ring lag too short": (bf16("lag=STAGES", "lag=1"), "deadlock.cycle"),
    "wait_group too lax": (bf16("wgmma_wait(1)", "wgmma_wait(2)"), "race.war"),
    "no proxy fence before the TMA store": (bf16(PROXY, ""), "proxy.generic_to_async"),
    "proxy fence before the stores that it is for": (FENCE_TOO_SOON, "proxy.generic_to_async"),
    "one arrival too many": (bf16("count=8", "count=9"), "mbar.count"),
    "one arrival too few": (bf16("count=8", "count=7"), "mbar.count"),
    "expected bytes too many": (bf16("tx=STAGE_BYTES", "tx=STAGE_BYTES + 1024"), "mbar.tx_bytes"),
    "expected bytes too few": (bf16("tx=STAGE_BYTES", "tx=STAGE_BYTES - 1024"), "mbar.tx_bytes"),
    "no wgmma fence": (bf16(" " * 24 + "wgmma_fence()\n", ""), "wgmma.reg_fence"),
    "no commit": (bf16(" " * 24 + "wgmma_commit()\n", ""), "wgmma.reg_inflight"),
    "accumulator read before its wait": (bf16(LAST_WAIT, ""), "wgmma.reg_inflight"),
    "staging reused before the store has read it": (bf16("bulk_wait_read(1)", "bulk_wait_read(2)"), "race.war"),
    "no barrier after the wait for the store": (bf16(STAGE_FENCE, "", 0), "race.war"),
    "no barrier between staging and store": (bf16(STAGE_FENCE, "", 1), "race.raw"),
    "store in flight at exit": (bf16("bulk_wait_read(0)", "bulk_wait_read(1)"), "race.async_inflight"),
    "no wait for the data": (bf16(" " * 20 + "Await(full)\n", ""), "race.raw"),
    "no wait for the free slot": (bf16(AWAIT_EMPTY, ""), "race.war"),
    "data ring shorter than its barriers": (bf16(A_RING.format("STAGES"), A_RING.format(3)), "race.war"),
    "register pool exceeded": (bf16("regs=232", "regs=240"), "setmaxnreg.pool"),
    "f32: no barrier after the first slab": (f32(" " * 12 + FENCE, "", 0), "race.raw"),
    "f32: no barrier in the loop": (f32(" " * 16 + FENCE, ""), "race.war"),
    "f32: index past the tensor": (f32("if BM * bm + 8 * ty + i < M", "if BM * bm + 8 * ty + i <= M"), "bounds"),
    "f32: another thread's accumulator": (f32("acc[ty, tx, i, j] +=", "acc[tx, ty, i, j] +="), "ownership"),
    "f32: tiles of two tasks overlap": (f32("C[BM * bm + 8 * ty + i, BN", "C[8 * ty + i, BN"), "race.waw"),
    "f32: single buffer": (f32("sA[(k + 1) % 2", "sA[k % 2"), "race.raw"),
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
    "a lag of less than the ring only serialises": bf16("lag=STAGES", "lag=STAGES - 1"),
    "a longer data ring": edited(
        BF16, ("128, 256, 64, 4", "128, 256, 64, 3"), (A_RING.format("STAGES"), A_RING.format(4))
    ),
    "a stricter wait": bf16("wgmma_wait(1)", "wgmma_wait(0)"),
    "an extra barrier": f32(" " * 16 + FENCE, " " * 16 + FENCE + " " * 16 + FENCE),
}


@pytest.mark.parametrize("name", EQUIVALENT)
def test_harmless_edit_is_proved(tmp_path: Path, name: str) -> None:
    report = verdict(tmp_path, EQUIVALENT[name])
    assert report.status is Status.PROVED, [
        (o.name, o.status) for o in report.obligations if o.status is not Status.PROVED
    ]


SHIPPED = [bf16_module.gemm_bf16, f32_module.gemm_f32, splitk_module.gemm_splitk, gemm_pingpong]


@pytest.mark.parametrize("kernel", SHIPPED, ids=lambda k: k.name)
def test_shipped_kernel_is_proved(kernel: Proc) -> None:
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
