"""Sums and register operands in the simulator: it shares nothing with the prover, and agrees with its verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.kernels.gemm_splitk import gemm_splitk
from exogpu.lang import load
from exogpu.verify.simulator import Agrees, simulate
from tests.texts import kernel
from tests.verify import test_reductions, test_register_operands

CASES = Path(__file__).resolve().parents[1] / "codegen" / "cases"
UNSEEN = {"contract.partial_store"}
"""Rules that the simulator does not model."""


def sizes(text: str) -> dict[str, int]:
    """Small sizes that the preconditions of a twin allow."""
    if "def k(N" in text:
        return {"N": 200}
    return {"M": 1 if "M == 1" in text else 3, "N": 64 if "N == 64" in text else 40}


TWINS = [t for t in test_reductions.TWINS if t[0] not in UNSEEN] + test_register_operands.TWINS[:10]


@pytest.mark.parametrize(("rule", "bad", "good"), TWINS, ids=[f"{n}-{t[0]}" for n, t in enumerate(TWINS)])
def test_bad_twin_goes_wrong_and_good_twin_agrees(tmp_path: Path, rule: str, bad: str, good: str) -> None:
    assert not isinstance(simulate(kernel(tmp_path, bad), sizes(good), schedules=12), Agrees), rule
    assert simulate(kernel(tmp_path, good), sizes(good), schedules=2) == Agrees(2)


@pytest.mark.parametrize(
    ("file", "name", "given"),
    [
        ("reductions", "column_sums", {"M": 3, "N": 128}),
        ("reductions", "tile_sums", {"M": 8, "N": 40}),
        ("reductions", "narrow_sums", {"M": 2}),
        ("reductions", "product_sums", {"T": 3}),
        ("registers", "rows_along_n", {"M": 3, "N": 300, "K": 70}),
        ("registers", "rows_along_m", {"M": 70, "N": 3, "K": 70}),
        ("registers", "chained", {"M": 3, "N": 70}),
        ("registers", "overlapped", {"M": 3, "N": 70}),
    ],
)
def test_cases_agree(file: str, name: str, given: dict[str, int]) -> None:
    assert simulate(load(CASES / f"{file}.py")[name], given, schedules=2) == Agrees(2)


@pytest.mark.parametrize("columns", [7, 8])
def test_split_k_agrees(columns: int) -> None:
    """With atomic sums, and with sums of bulk operations; the last split has no column of A."""
    assert simulate(gemm_splitk, {"M": 3, "N": columns, "K": 130}, schedules=1) == Agrees(1)
