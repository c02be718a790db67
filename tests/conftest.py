"""Shared fixtures: golden files, and the skip of GPU tests where there is no GPU."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden from what the code prints now")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is for people, not for CI")
    os.environ["EXOGPU_CACHE"] = ""  # no test may find, or leave, a proof in the user's cache


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    gpu_items = [item for item in items if item.get_closest_marker("gpu")]
    reason = gpu_missing() if gpu_items else ""
    if reason:
        for item in gpu_items:
            item.add_marker(pytest.mark.skip(reason=reason))


def gpu_missing() -> str:
    """Why GPU tests cannot run here, or the empty string."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no CUDA driver on this machine"
    if driver.cuInit(0) != 0:
        return "the CUDA driver finds no usable GPU"
    major = ctypes.c_int()
    compute_capability_major = 75
    if driver.cuDeviceGetAttribute(ctypes.byref(major), compute_capability_major, 0) != 0 or major.value != 9:
        return "the GPU is not a Hopper (compute capability 9.0)"
    return ""


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` compares a text with tests/golden/name; `--update-golden` rewrites the file instead."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden file {name}; run pytest --update-golden and review it"
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; run pytest --update-golden and review it"

    return check


@pytest.fixture
def compiled_example(tmp_path: Path) -> Callable[[str], Path]:
    """`compiled_example(name)` is the bundle of examples/name.py: from the folder that EXOGPU_BUNDLES names (for a GPU
    machine without the solver), else compiled now."""

    def get(name: str) -> Path:
        from exogpu.cli.app import main

        folder = os.environ.get("EXOGPU_BUNDLES")
        if folder:
            return Path(folder) / f"{name}.exogpu"
        bundle = tmp_path / f"{name}.exogpu"
        assert main(["compile", str(ROOT / "examples" / f"{name}.py"), "-o", str(bundle)]) == 0
        return bundle

    return get
