"""Buffers that share storage: every use of the old one comes before the new one's, in every proxy (rule smem.reuse)."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.layout import plan_layout
from exogpu.lang import load
from exogpu.verify.explicit import faults
from exogpu.verify.lower import lower
from exogpu.verify.program import TASKS
from exogpu.verify.result import Status
from tests.texts import verdict

TEXT = (Path(__file__).parents[1] / "codegen" / "cases" / "pools.py").read_text()

COPIED = """from exogpu.lang import *

@proc
def copied(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(64)
    for m in tasks(0, M):
        for once in unroll(0, 1):
            a: f32[64] @ SMEM(pool="p")
            for t in threads(64):
                cp_async(a[t : t + 1], X[m, t : t + 1])
            {wait}
        {fence}
        b: f32[64] @ SMEM(pool="p"{offset})
        for t in threads(64):
            b[t] = 1.0
        cp_async_wait_all()
"""


def copied(wait: str = "cp_async_wait_all()", fence: str = "Fence()", offset: str = "") -> str:
    return COPIED.format(wait=wait, fence=fence, offset=offset)


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


FIRST = "low[t, 0] = wide[63 - t]\n            Fence()"
LAST = "            Y[m, t] = narrow[t // 2 * 2 + 1 - t % 2]\n        Fence()"
PROXY = "            fence_proxy_async()\n            Fence()\n            for"
BAD = [
    ("smem.reuse", "staged", changed("Await(free, lag=1)", "pass")),
    ("smem.reuse", "staged", changed("bulk_wait_read(0)", "pass")),
    ("proxy.generic_to_async", "staged", changed(PROXY, PROXY.replace("fence_proxy_async", "Fence"))),
    ("smem.reuse", "in_turn", changed(FIRST, FIRST.replace("Fence()", "pass"))),
    ("smem.reuse", "in_turn", changed(LAST, LAST.replace("Fence()", "pass"))),
    ("smem.reuse", "copied", copied(wait="cp_async_commit()")),
    ("smem.reuse", "copied", copied(fence="pass").replace("b[t]", "b[63 - t]")),
]
GOOD = [
    ("staged", TEXT),
    ("in_turn", TEXT),
    ("copied", copied()),
    ("copied", copied(fence="pass")),
    ("copied", copied(wait="cp_async_commit()", offset=", offset=256")),
]


@pytest.mark.parametrize(("rule", "name", "text"), BAD, ids=[f"{n}-{t[1]}" for n, t in enumerate(BAD)])
def test_bad_twin_is_refuted(tmp_path: Path, rule: str, name: str, text: str) -> None:
    report = verdict(tmp_path, text, name)
    shared = [o for o in report.obligations if o.status is Status.REFUTED and "the storage of" in o.title]
    assert rule in {o.rule for o in shared}
    for o in shared:
        assert o.counterexample is not None
        assert o.counterexample.replay
        assert dict(o.counterexample.facts)["storage"].startswith("bytes ")


@pytest.mark.parametrize(("name", "text"), GOOD, ids=[f"{n}-{t[0]}" for n, t in enumerate(GOOD)])
def test_good_twin_is_proved(tmp_path: Path, name: str, text: str) -> None:
    report = verdict(tmp_path, text, name)
    assert report.status is Status.PROVED, [
        (o.name, o.reason) for o in report.obligations if o.status is not Status.PROVED
    ]


def test_a_warp_may_stage_where_only_it_has_read(tmp_path: Path) -> None:
    """Every warp reads its own rows of A and all of B, so only staging over B needs the others to be done."""
    over_b = changed('out: bf16[64, 64] @ SMEM(swizzle=128, pool="stages")',
                     'out: bf16[64, 64] @ SMEM(swizzle=128, pool="stages", offset=16384)')  # fmt: skip
    report = verdict(tmp_path, over_b, "staged_gemm")
    broken = [o for o in report.obligations if o.status is Status.REFUTED]
    assert {o.rule for o in broken} == {"smem.reuse"}
    assert all(o.message.startswith("race on the storage of `b` and `out`: acc_store can come while") for o in broken)
    joined = over_b.replace("            acc_store(", "            Fence()\n            acc_store(")
    for text in (TEXT, joined):
        assert verdict(tmp_path, text, "staged_gemm").status is Status.PROVED


def test_the_explicit_engine_finds_the_same_faults(tmp_path: Path) -> None:
    for text, rules in (
        (TEXT, set()),
        (changed("Await(free, lag=1)", "pass"), {"smem.reuse", "proxy.generic_to_async"}),
    ):
        (tmp_path / "k.py").write_text(text)
        program = lower(load(tmp_path / "k.py")["staged"])
        assert {f.rule for f in faults(program, {"T": 2, "K": 40, TASKS: 2})} == rules


def test_members_of_a_pool_overlay_each_other(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(TEXT)
    placed = plan_layout(load(tmp_path / "k.py")["staged"])
    assert placed.buffers["s"].offset == placed.buffers["out"].offset
    assert min(placed.barriers.values()) >= placed.buffers["s"].offset + 2 * placed.buffers["s"].slot_bytes


ALIVE = """from exogpu.lang import *

@proc
def alive(M: size):
    block(64)
    for m in tasks(0, M):
        a: f32[64] @ SMEM(pool="p", ring=2)
        for k in seq(0, M):
            b: f32[64] @ SMEM(pool="p", offset=256)
        Fence()
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (copied(offset=", offset=100"), "lang.memory"),
        (copied().replace('b: f32[64] @ SMEM(pool="p")', "b: f32[64] @ SMEM(offset=128)"), "lang.memory"),
        (copied().replace('b: f32[64] @ SMEM(pool="p")', 'b: f32[64] @ SMEM(pool="q")'), "lang.memory"),
        (copied().replace('b: f32[64] @ SMEM(pool="p")', "b: f32[64] @ SMEM(pool=3)"), "lang.type_mismatch"),
        (ALIVE, "smem.lifetimes"),
    ],
)
def test_what_cannot_share_storage_is_rejected(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(BadInput) as caught:
        load(tmp_path / "bad.py")
    assert code in {d.code for d in caught.value.diagnostics}


def test_parts_of_a_pool_that_do_not_overlap_may_live_together(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(ALIVE.replace("offset=256", "offset=512"))
    placed = plan_layout(load(tmp_path / "good.py")["alive"])
    assert placed.buffers["b"].offset - placed.buffers["a"].offset == 512


COLUMNS = """def k(A: bf16[64, 64] @ GMEM, B: bf16[16, 64] @ GMEM):
    block(256)
    full = mbarrier(ring=1, count=1)
    for task in tasks(0, 1):
        z: f32[1, 64, 16] @ WGMMA_D
        p: bf16[64, 64] @ SMEM(swizzle=128)
        q: bf16[16, 64] @ SMEM(swizzle=128)
        for t in threads(1):
            tma_load(p[:, :], A[0:64, 0:64], full)
            tma_load(q[:, :], B[0:16, 0:64], full)
            Arrive(full, tx=10240)
        Await(full)
        for w in threads(1, unit=warpgroup):
            wgmma_fence()
            wgmma(z[w, :, :], p[:, 0:16], q[:, 0:16], accumulate=False)
            wgmma_commit()
            wgmma_wait(0)
        for once in unroll(0, 1):
            a: f32[64, 32] @ SMEM(pool="p"{swizzle})
            for w1 in threads(1, unit=warpgroup):
                acc_store(a[:, 0:16], z[w1, :, :])
        b: f32[64, 32] @ SMEM(pool="p"{swizzle})
        for u in threads(256):
            if u >= 192:
                for c in seq({first}, 32):
                    b[u - 192, c] = 2.0
"""


@pytest.mark.parametrize(
    ("first", "swizzle", "status"),
    [
        (16, "", Status.PROVED),
        (15, "", Status.REFUTED),
        (15, ", swizzle=128", Status.REFUTED),
        (16, ", swizzle=128", Status.UNKNOWN),
    ],
)
def test_between_the_rows_of_a_rectangle_nothing_is_touched(
    tmp_path: Path, first: int, swizzle: str, status: Status
) -> None:
    """Swizzled, the halves of a row lie where the proof does not look; but they have nothing in common."""
    assert verdict(tmp_path, COLUMNS.format(first=first, swizzle=swizzle)).status is status
