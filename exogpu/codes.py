"""The table of diagnostic codes: stable public ids with what they mean, read from `codes.md`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SECTION = re.compile(r"^## (\S+)\n\n(.+?)\n\n(?:Proved: (.+?)\n)?(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Code:
    """A code: `meaning` in one line, what a proof of its obligation shows (`proved`, empty for a code that belongs
    to no obligation), and a longer explanation."""

    name: str
    meaning: str
    proved: str
    text: str


@cache
def all_codes() -> tuple[Code, ...]:
    """Every code, sorted by name."""
    source = Path(__file__).with_name("codes.md").read_text(encoding="utf-8")
    sections = (m.groups() for m in _SECTION.finditer(source))
    return tuple(sorted((Code(n, m, p or "", text.strip()) for n, m, p, text in sections), key=lambda code: code.name))


def lookup(name: str) -> Code | None:
    """The code called `name`, or None."""
    return next((code for code in all_codes() if code.name == name), None)
