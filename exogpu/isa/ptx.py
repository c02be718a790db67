"""The vocabulary of emissions, `exogpu.ir.emission`, loaded when an instruction is emitted: a proof does without it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exogpu.ir.emission import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        return getattr(import_module("exogpu.ir.emission"), name)
