"""The page on scheduling is real: its example is derived and proved, and its numbers are those of the derivations."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import exogpu.schedule
from exogpu.cli.app import main
from exogpu.ir.proc import Proc
from exogpu.lang import SMEM, load
from exogpu.schedule import Refused, divide, schedule, stage
from exogpu.schedule.schedule import code
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from tests.pages import texts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scheduling.md"
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)`: .* \| (\d+) \| (\d+) \|$", re.MULTILINE)
NO_OPERATORS = {"by", "each", "when", "arrive", "wait", "fence", "sync", "schedule", "var", "window", "label"}
"""What else the package exports: it builds statements and expressions."""


def example(n: int, folder: Path) -> dict[str, Proc]:
    """The procedures of the n-th example, which plain Python executes, too."""
    file = folder / "example.py"
    file.write_text(texts(PAGE, "python")[n], encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1])}
    subprocess.run([sys.executable, str(file)], check=True, env=environment, timeout=120)
    return load(file)


@pytest.mark.parametrize(("n", "algorithm", "kernel"), [(0, "scale", "scaled"), (1, "turn", "turned")])
def test_examples_are_proved_and_printed(
    n: int, algorithm: str, kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = example(n, tmp_path)
    assert code(replace(found[kernel], name=algorithm)) == texts(PAGE, "text")[2 * n]
    assert main(["verify", "--no-cache", str(tmp_path)]) == 0
    assert f"example.py::{kernel}   PROVED" in capsys.readouterr().out


def test_the_division_is_refused_as_shown(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        divide(schedule(example(0, tmp_path)["scale"]), "i", 256)
    assert f"{caught.value}\n" == texts(PAGE, "text")[1]


def test_staging_is_needed_with_its_fence_and_refused_as_shown(tmp_path: Path) -> None:
    found = example(1, tmp_path)
    with pytest.raises(Refused) as caught:
        stage(schedule(found["turn"]), "for l in _: _", "x[b, 0:32]", "row", SMEM())
    assert f"{caught.value}\n" == texts(PAGE, "text")[3]
    file = tmp_path / "example.py"
    steps = [line for line in file.read_text(encoding="utf-8").splitlines() if "fence()" not in line]
    file.write_text("\n".join(steps), encoding="utf-8")
    (refuted,) = [o for o in verify(load(file)["turned"]).obligations if o.status is not Status.PROVED]
    assert refuted.rule == "race.raw" and refuted.status is Status.REFUTED


def test_the_page_names_every_operator() -> None:
    page = PAGE.read_text(encoding="utf-8")
    operators = {name for name in exogpu.schedule.__all__ if name.islower()} - NO_OPERATORS
    assert [name for name in sorted(operators) if f"`{name}`" not in page] == []


def test_the_numbers_of_the_derivations() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(rows) == 5
    for module, kernel, steps, conditions in rows:
        found = import_module(f"exogpu.kernels.schedules.{module}")
        s = found.DERIVATION
        assert getattr(found, kernel) == s.kernel
        assert (len(s.steps), sum(len(step.obligations) for step in s.steps)) == (int(steps), int(conditions)), module
