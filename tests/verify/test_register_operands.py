"""wgmma with its first operand in registers, and several accumulators in flight: bad kernels and their good twins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.interp import interpret, random_inputs
from exogpu.lang import load
from exogpu.verify.axioms import Policy
from exogpu.verify.result import Report, Status
from tests.texts import verdict

CASES = Path(__file__).resolve().parents[1] / "codegen" / "cases"

HEAD = """from exogpu.lang import *

@proc
def k(N: size, A: bf16[64, N] @ GMEM, B: bf16[8, N] @ GMEM, C: f32[64, 8] @ GMEM, E: f32[64, 8] @ GMEM):
    require(N >= 1)
    block(128)
    full = mbarrier(ring=2, count=1)
    for m in tasks(0, 1):
        acc: f32[1, 64, 8] @ WGMMA_D
        other: f32[1, 64, 8] @ WGMMA_D
        r: bf16[1, 64, 64] @ WGMMA_A
"""

STEP = """        for n in seq(0, ceildiv(N, 64)):
            a: bf16[64, 64] @ SMEM(swizzle=128, ring=2)
            b: bf16[8, 64] @ SMEM(swizzle=128, ring=2)
            for t in threads(1):
                tma_load(a[:, :], A[0:64, 64 * n : 64 * n + 64], full)
                tma_load(b[:, :], B[0:8, 64 * n : 64 * n + 64], full)
                Arrive(full, tx=9216)
            {wait_data}
            {before}
            ldmatrix(r[0, :, :], a[:, :])
            {fence}
            for j in unroll(0, 4):
                wgmma_rs(acc[0, :, :], r[0, :, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16], {accumulate})
            wgmma_commit()
            {after}
            {proxy}
            Fence()
        wgmma_wait(0)
        acc_store(C[0:64, 0:8], acc[0, :, :])
"""


def step(**changed: str) -> str:
    """A in registers, loaded anew in every step; the data ring has two slots and the CTA waits at the end of a step."""
    parts = {
        "wait_data": "Await(full)",
        "before": "wgmma_wait(0)",
        "fence": "wgmma_fence()",
        "accumulate": "accumulate=n > 0 or j > 0",
        "after": "wgmma_wait(0)",
        "proxy": "fence_proxy_async()",
    }
    return HEAD + STEP.format(**{**parts, **changed})


SHAPES = """        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[16, 64] @ SMEM(swizzle=128)
        wide: f32[1, 64, 16] @ WGMMA_D
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], A[0:16, 0:64], full)
            Arrive(full, tx=10240)
        Await(full)
        wgmma_fence()
        wgmma(wide[0, :, :], a[:, 0:16], b[:, 0:16], accumulate=False)
        {between}
        wgmma(wide[0, :, 0:{columns}], a[:, 16:32], b[0:{columns}, 16:32])
        wgmma_commit()
        wgmma_wait(0)
        acc_store(C[0:64, 0:8], wide[0, :, 8:16])
"""


def shapes(columns: int, between: str = "") -> str:
    """Two products into one accumulator."""
    return HEAD + SHAPES.format(columns=columns, between=between.replace("\n", "\n        "))


WAITED = "wgmma_commit()\nwgmma_wait(0)"
FENCED = f"{WAITED}\nwgmma_fence()"

TWO = """        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:8, 0:64], full)
            Arrive(full, tx=9216)
        Await(full)
        wgmma_fence()
        for j in unroll(0, 4):
            wgmma({first}[0, :, :], a[:, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16], accumulate=j > 0)
        wgmma_commit()
        for j in unroll(0, 4):
            wgmma({second}[0, :, :], a[:, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16], accumulate=j > 0)
        wgmma_commit()
        wgmma_wait(1)
        acc_store(C[0:64, 0:8], acc[0, :, :])
        {wait}
        acc_store(E[0:64, 0:8], other[0, :, :])
        wgmma_wait(0)
"""


def two(first: str = "acc", second: str = "other", wait: str = "wgmma_wait(0)") -> str:
    """Two accumulators in flight; the older one is stored beside the younger product."""
    return HEAD + TWO.format(first=first, second=second, wait=wait)


CONVERT = """        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        s: f32[1, 64, 16] @ WGMMA_D
        q: bf16[16, 64] @ SMEM(swizzle=128)
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:8, 0:64], full)
            tma_load(q[:, :], A[16:32, 0:64], full)
            Arrive(full, tx=11264)
        Await(full)
        wgmma_fence()
        for j in unroll(0, 4):
            wgmma(s[0, :, :], a[:, 16 * j : 16 * j + 16], q[:, 16 * j : 16 * j + 16], accumulate=j > 0)
        wgmma_commit()
        {wait}
        acc_convert(r[0, :, 16:32], s[0, :, :])
        {fence}
        wgmma_rs(acc[0, :, :], r[0, :, {used}], b[:, 0:16], accumulate=False)
        wgmma_commit()
        wgmma_wait(0)
        acc_store(C[0:64, 0:8], acc[0, :, :])
"""


def convert(wait: str = "wgmma_wait(0)", fence: str = "wgmma_fence()", used: str = "16:32") -> str:
    """A product of a product: the accumulator, rounded, is the first operand."""
    return HEAD + CONVERT.format(wait=wait, fence=fence, used=used)


ALTERNATE = """        wide: bf16[1, 64, 128] @ WGMMA_A
        for n in seq(0, ceildiv(N, 128)):
            for h in unroll(0, 2):
                a: bf16[64, 64] @ SMEM(swizzle=128, ring=2)
                b: bf16[8, 64] @ SMEM(swizzle=128, ring=4)
                for t in threads(1):
                    tma_load(a[:, :], A[0:64, 128 * n + 64 * h : 128 * n + 64 * h + 64], full)
                    tma_load(b[:, :], B[0:8, 128 * n + 64 * h : 128 * n + 64 * h + 64], full)
                    Arrive(full, tx=9216)
                Await(full)
                ldmatrix(wide[0, :, {half} : {half} + 64], a[:, :])
                wgmma_fence()
                for j in unroll(0, 4):
                    wgmma_rs(
                        acc[0, :, :],
                        wide[0, :, {half} + 16 * j : {half} + 16 * j + 16],
                        b[:, 16 * j : 16 * j + 16],
                        accumulate=n > 0 or h > 0 or j > 0,
                    )
                wgmma_commit()
                wgmma_wait(1)
                fence_proxy_async()
                Fence()
        wgmma_wait(0)
        acc_store(C[0:64, 0:8], acc[0, :, :])
"""


def alternate(half: str) -> str:
    """Two sets of registers, one in flight while the other is loaded."""
    return HEAD + ALTERNATE.format(half=half)


TWINS = [
    # SB-060: the next step's data goes into registers that a wgmma in flight reads
    ("wgmma.reg_inflight", step(before="Fence()", after="wgmma_wait(1)"), step(after="wgmma_wait(1)")),
    ("wgmma.reg_inflight", alternate("0"), alternate("64 * h")),
    ("wgmma.reg_fence", step(fence="Fence()"), step()),
    ("race.raw", step(wait_data="Fence()"), step()),
    ("proxy.generic_to_async", step(proxy="Fence()"), step()),
    ("wgmma.reg_inflight", two(first="other", second="acc"), two()),
    ("wgmma.reg_inflight", two(wait="wgmma_wait(1)"), two()),
    ("wgmma.reg_inflight", convert(wait="wgmma_wait(1)"), convert()),
    ("wgmma.reg_fence", convert(fence="Fence()"), convert()),
    ("uninit", convert(used="0:16"), convert()),
    # products of one shape follow each other; of two shapes only after a fence
    ("wgmma.reg_fence", shapes(8), shapes(16)),
    ("wgmma.reg_fence", shapes(8), shapes(8, "wgmma_fence()")),
    ("wgmma.reg_fence", shapes(8, WAITED), shapes(8, FENCED)),
]


@pytest.fixture(scope="module")
def proofs() -> dict[str, Report]:
    """Reports of good twins by text: some bad kernels share one."""
    return {}


@pytest.mark.parametrize(("rule", "bad", "good"), TWINS, ids=[f"{n}-{t[0]}" for n, t in enumerate(TWINS)])
def test_bad_twin_is_refuted_and_good_twin_proved(
    tmp_path: Path, proofs: dict[str, Report], rule: str, bad: str, good: str
) -> None:
    refuted = verdict(tmp_path, bad)
    broken = [o for o in refuted.obligations if o.status is not Status.PROVED]
    assert rule in {o.rule for o in broken if o.status is Status.REFUTED}, [(o.rule, o.title, o.reason) for o in broken]
    proved = proofs.get(good) or proofs.setdefault(good, verdict(tmp_path, good))
    left = [(o.name, o.status, o.reason) for o in proved.obligations if o.status is not Status.PROVED]
    assert proved.status is Status.PROVED, left


def test_a_fence_alone_orders_products_of_two_shapes_by_an_axiom(tmp_path: Path) -> None:
    fenced, waited = shapes(8, "wgmma_fence()"), shapes(8, FENCED)
    assert "F1" in verdict(tmp_path, fenced).axioms
    for policy in (Policy(strict=True), Policy(without=frozenset(("F1",)))):
        refuted = verdict(tmp_path, fenced, policy=policy)
        assert [o.rule for o in refuted.obligations if o.status is Status.REFUTED] == ["wgmma.reg_fence"]
        proved = verdict(tmp_path, waited, policy=policy)
        assert proved.status is Status.PROVED and "F1" not in proved.axioms


def test_registers_belong_to_one_warpgroup(tmp_path: Path) -> None:
    text = step().replace("block(128)", "block(256)").replace("f32[1, 64, 8]", "f32[2, 64, 8]")
    text = text.replace("bf16[1, 64, 64] @ WGMMA_A", "bf16[2, 64, 64] @ WGMMA_A")
    start, end = text.index("            wgmma_wait(0)"), text.index("            fence_proxy_async()")
    body = text[start:end].replace("\n            ", "\n                ").rstrip(" ")
    loop = "            for w in threads(2, unit=warpgroup):\n    " + body.replace("acc[0", "acc[w").replace(
        "r[0", "r[{w}"
    )
    text = text[:start] + loop + text[end : text.index("        wgmma_wait(0)\n        acc_store")]
    good, bad = (verdict(tmp_path, text.replace("{w}", w)) for w in ("w", "1 - w"))
    assert good.status is Status.PROVED
    assert "ownership" in {o.rule for o in bad.obligations if o.status is Status.REFUTED}


ONE_THREAD = """from exogpu.lang import *

@scalar
def zero(x: f32):
    return 0.0

@proc
def k(M: size, A: bf16[64, 64] @ GMEM, B: bf16[8, 64] @ GMEM, Y: f32[M, 64, 8] @ GMEM):
    block(128)
    full = mbarrier(count=1)
    for m in tasks(0, M):
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64] @ SMEM(swizzle=128)
        acc: f32[1, 64, 8] @ WGMMA_D
        for p in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:8, 0:64], full)
            Arrive(full, tx=9216)
        Await(full)
        {before}
        wgmma_fence()
        wgmma(acc[0, :, :], a[:, 0:16], b[:, 0:16], accumulate={adds})
        wgmma_commit()
        wgmma_wait(0)
        {after}
"""
READS = "for t in threads(1):\n            for i in seq(0, 64):\n                Y[m, i, 0] = acc[0, i, 0]"
ASSIGNS = "for t in threads(1):\n            for i in seq(0, 64):\n                acc[0, i, 0] = 1.0"


@pytest.mark.parametrize(("before", "after"), [("", READS), (ASSIGNS, "acc_store(Y[m, :, :], acc[0, :, :])")])
def test_one_thread_does_not_have_the_tile_of_a_warpgroup(tmp_path: Path, before: str, after: str) -> None:
    bad = verdict(tmp_path, ONE_THREAD.format(before=before, after=after, adds="True"))
    assert "ownership" in {o.rule for o in bad.obligations if o.status is Status.REFUTED}
    text = ONE_THREAD.format(before="", after="acc_store(Y[m, :, :], acc[0, :, :])", adds="False")
    assert verdict(tmp_path, text).status is Status.PROVED


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("r: bf16[1, 64, 64]", "r: f32[1, 64, 64]", "bf16 or f16"),
        ("r: bf16[1, 64, 64]", "r: bf16[1, 64, 24]", "multiple of 16"),
        ("r: bf16[1, 64, 64]", "r: f16[1, 64, 64]", "does not convert"),
        ("r[0, :, 16 * j : 16 * j + 16]", "r[0, :, 16 * j : 16 * j + 32]", "shapes must be"),
        ("accumulate=n > 0 or j > 0)", "accumulate=n > 0 or j > 0, transpose_b=False)", "b (16, 8)"),
        ("accumulate=n > 0 or j > 0)", "accumulate=j > 0, transpose_b=n > 0)", "True or False"),
        ("r[0, :, 16 * j : 16 * j + 16]", "a[:, 16 * j : 16 * j + 16]", "must be in WGMMA_A"),
    ],
)
def test_static_rules(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(BadInput) as error:
        verdict(tmp_path, step().replace(old, new))
    assert any(says in d.message or says in (d.help or "") for d in error.value.diagnostics)


def test_the_sequential_meaning(tmp_path: Path) -> None:
    """acc = bf16(A A[16:32]^T) B[:, :16]^T, with the products of 64 columns."""
    (path := tmp_path / "meaning.py").write_text(convert())
    proc = load(path)["k"]
    args = random_inputs(proc, {"N": 64}, seed=1)
    a, b = (np.asarray(args[name], np.float64) for name in "AB")
    got = np.asarray(interpret(proc, args)["C"], np.float64)
    wanted = (a @ a[16:32].T) @ b[:, :16].T
    assert np.linalg.norm(got - wanted) / np.linalg.norm(wanted) < 4e-3


@pytest.mark.parametrize("name", ["rows_along_n", "rows_along_m"])
def test_rows_across_k(name: str) -> None:
    proc = load(CASES / "registers.py")[name]
    args = random_inputs(proc, {"M": 5, "N": 300, "K": 70}, seed=2)
    a, b = (np.asarray(args[letter], np.float64) for letter in "AB")
    if name == "rows_along_m":
        a, b = a.T, b.T
    got = np.asarray(interpret(proc, args)["C"], np.float64)
    assert np.linalg.norm(got - a @ b) / np.linalg.norm(a @ b) < 1e-6
