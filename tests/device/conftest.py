"""Bundles for the GPU tests: files NAME.exogpu in the folder that EXOGPU_BUNDLES names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.codegen.runtime import Kernel


@pytest.fixture(scope="session")
def kernel() -> Callable[[str], Kernel]:
    """`kernel(name)` loads a bundle; the test is skipped where there is none."""

    def load(name: str) -> Kernel:
        folder = os.environ.get("EXOGPU_BUNDLES")
        if folder is None:
            pytest.skip("EXOGPU_BUNDLES does not name a folder of compiled kernels")
        path = Path(folder) / f"{name}.exogpu"
        if not path.exists():
            pytest.skip(f"no bundle {path.name} in EXOGPU_BUNDLES")
        return Kernel.load(path)

    return load
