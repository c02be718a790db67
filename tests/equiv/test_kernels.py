"""The shipped kernels compute what three loops do, and no other three loops."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from exogpu.cli.targets import one_proc
from exogpu.equiv.equivalent import equivalent
from exogpu.equiv.result import Verdict
from exogpu.ir.proc import Proc
from exogpu.lang import load

SPECIFIED = (
    ("gemm_f32", "f32_product", ()),
    ("gemm_bf16", "bf16_product", ()),
    ("gemm_bf16_cluster", "bf16_product", ()),
    ("gemm_pingpong", "bf16_product", ()),
    ("gemm_splitk", "added_product", ("C",)),
)
ROOT = Path(__file__).resolve().parents[2]


@cache
def specifications() -> Mapping[str, Proc]:
    return load(Path(__file__).parent / "cases" / "specifications.py")


def specification(name: str) -> Proc:
    return specifications()[name]


@pytest.mark.parametrize(("kernel", "name", "reassociated"), SPECIFIED)
def test_kernel_is_its_specification(kernel: str, name: str, reassociated: tuple[str, ...]) -> None:
    found = equivalent(one_proc(kernel), specification(name))
    assert found.verdict is Verdict.PROVED
    assert (found.tensors, found.reassociated) == (("C",), reassociated)


def test_kernel_is_a_product_from_the_end_up_to_the_order_of_sums() -> None:
    found = equivalent(one_proc("gemm_bf16"), specification("bf16_product_backwards"))
    assert found.proved and found.reassociated == ("C",)


@pytest.mark.parametrize("name", ["swapped", "rounded_sums", "short"])
def test_kernel_is_no_other_product(name: str) -> None:
    found = equivalent(one_proc("gemm_bf16"), specification(name))
    assert found.verdict is Verdict.REFUTED


def test_kernels_of_one_specification_are_the_same() -> None:
    found = equivalent(one_proc("gemm_bf16"), one_proc("gemm_bf16_cluster"))
    assert found.proved and found.reassociated == ()


@pytest.mark.parametrize(
    ("example", "name", "reassociated"),
    [("transpose", "transposed", ()), ("stencil", "stencil", ()), ("softmax", "softmax", ("Y",))],
)
def test_example_is_its_specification(example: str, name: str, reassociated: tuple[str, ...]) -> None:
    found = equivalent(load(ROOT / "examples" / f"{example}.py")[example], specification(name))
    assert found.proved and found.reassociated == reassociated


def test_another_softmax_is_not_proved() -> None:
    """Both compute the same up to rounding, if nothing overflows: no values tell them apart."""
    found = equivalent(load(ROOT / "examples" / "softmax.py")["softmax"], specification("softmax_without_the_first"))
    assert not found.proved


EDITS = {
    "wrong row": ("A[BM * tm : BM * tm + BM", "A[BM * tm + 1 : BM * tm + 1 + BM"),
    "wrong slab": ("BN * tn + BN, BK * k : BK * k + BK", "BN * tn + BN, BK * k + 8 : BK * k + 8 + BK"),
    "wrong piece": (
        "BN * tn + 64 * c : BN * tn + 64 * c + 64,",
        "BN * tn + 64 * (3 - c) : BN * tn + 64 * (3 - c) + 64,",
    ),
    "never cleared": ("accumulate=k > 0 or ks > 0", "accumulate=k >= 0 or ks > 0"),
    "cleared too often": ("accumulate=k > 0 or ks > 0", "accumulate=ks > 0"),
    "steps left out": ("seq(0, ceildiv(K, BK))", "seq(0, K // BK)"),
    "one step too many": ("seq(0, ceildiv(K, BK))", "seq(0, ceildiv(K, BK) + 1)"),
}
"""Edits of the flagship, and what becomes of the product."""
HARMLESS = {"one step too many"}
UNDECIDED = {"never cleared"}
"""It reads accumulators that nothing has written."""


@pytest.mark.parametrize("edit", EDITS)
def test_edited_flagship(edit: str, tmp_path: Path) -> None:
    source = (ROOT / "exogpu" / "kernels" / "gemm_bf16.py").read_text(encoding="utf-8")
    old, new = EDITS[edit]
    assert old in source
    path = tmp_path / "edited.py"
    path.write_text(source.replace(old, new), encoding="utf-8")
    found = equivalent(load(path)["gemm_bf16"], specification("bf16_product"))
    expected = Verdict.PROVED if edit in HARMLESS else Verdict.UNKNOWN if edit in UNDECIDED else Verdict.REFUTED
    assert found.verdict is expected
