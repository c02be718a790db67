"""The folders verify/, smt/ and codegen/ are exogpu.verify, exogpu.smt and exogpu.codegen, and nothing else."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINKED = ("verify", "smt", "codegen")


@pytest.mark.parametrize("name", LINKED)
def test_package_is_reached_through_its_link(name: str) -> None:
    link = ROOT / "exogpu" / name
    assert link.is_symlink(), f"exogpu/{name} must be a symbolic link; a checkout without links is not supported"
    assert link.readlink() == Path("..") / name
    package = importlib.import_module(f"exogpu.{name}")
    assert package.__file__ is not None
    assert Path(package.__file__).samefile(ROOT / name / "__init__.py")


@pytest.mark.parametrize("name", LINKED)
def test_package_refuses_to_be_imported_under_its_bare_name(name: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", f"import {name}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert f"ImportError: import it as exogpu.{name}" in result.stderr


def test_there_is_no_other_top_level_package() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == {"exogpu", *LINKED}


def test_every_package_folder_has_an_init_file() -> None:
    folders = {path.parent for name in ("exogpu", *LINKED) for path in (ROOT / name).rglob("*.py")}
    missing = [str(f.relative_to(ROOT)) for f in folders if not (f / "__init__.py").exists()]
    assert missing == []
