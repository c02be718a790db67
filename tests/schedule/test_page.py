"""The page on scheduling is real: its example is derived and proved, and its numbers are those of the derivations."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import exogpu.schedule
from exogpu.cli.app import main
from exogpu.lang import load
from exogpu.schedule import Refused, divide, schedule
from exogpu.schedule.schedule import code
from tests.pages import texts

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scheduling.md"
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)`: .* \| (\d+) \| (\d+) \|$", re.MULTILINE)
NO_OPERATORS = {"by", "each", "when", "arrive", "wait", "fence", "sync", "schedule", "var", "window", "label"}
"""What else the package exports: it builds statements and expressions."""


def test_the_example_is_proved_and_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = texts(PAGE, "python")
    shown, refused = texts(PAGE, "text")
    file = tmp_path / "scale.py"
    file.write_text(source)
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1])}
    subprocess.run([sys.executable, str(file)], check=True, env=environment, timeout=120)
    found = load(file)
    assert code(found["scaled"]) == shown
    assert main(["verify", "--no-cache", str(tmp_path)]) == 0
    assert "scale.py::scale   PROVED" in capsys.readouterr().out
    with pytest.raises(Refused) as caught:
        divide(schedule(found["scale"]), "i", 256)
    assert f"{caught.value}\n" == refused


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
