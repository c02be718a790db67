"""Colours of the terminal report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ColorChoice = Literal["auto", "always", "never"]
Role = Literal["error", "warning", "good", "note", "help", "dim", "bold"]

_CODES: Mapping[Role, str] = {
    "error": "1;31",
    "warning": "1;33",
    "good": "1;32",
    "note": "1;36",
    "help": "1;32",
    "dim": "2",
    "bold": "1",
}


@dataclass(frozen=True, slots=True)
class Palette:
    """Wraps text in ANSI colours, or leaves it alone."""

    enabled: bool = False

    def __call__(self, role: Role, text: str) -> str:
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.enabled and text else text


def use_color(choice: ColorChoice, is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour: the explicit choice, else NO_COLOR, else FORCE_COLOR, else only on a terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"
