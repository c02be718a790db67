"""Pages of documentation whose blocks are real: commands are run, and what they print is compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = re.compile(r"\d+\.\d\d s, z3 [\d.]+(, rlimit [\d,]+)?|( +\d+\.\d){2}$", re.MULTILINE)

Shown = Callable[[str, int, str], None]


@dataclass(frozen=True, slots=True)
class Block:
    """Text between fences, and the language that they name."""

    language: str
    text: str


def within(text: str) -> list[Block]:
    """The blocks of a text, in order."""
    return [Block(*found) for found in BLOCK.findall(text)]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    return within(page.read_text(encoding="utf-8"))


def texts(page: Path, language: str) -> list[str]:
    """The blocks in one language."""
    return [block.text for block in blocks(page) if block.language == language]


def comparison(page: Path, request: pytest.FixtureRequest) -> Shown:
    """`shown(command, n, output)` compares with the n-th block of a command; `--update-golden` rewrites the block."""

    def check(command: str, number: int, output: str) -> None:
        text = page.read_text(encoding="utf-8")
        block = [m for m in BLOCK.finditer(text) if m[2].startswith(f"$ {command}\n")][number]
        if request.config.getoption("--update-golden"):
            changed = f"{text[: block.start(2)]}$ {command}\n{output}{text[block.end(2) :]}"
            page.write_text(changed, encoding="utf-8")
            return
        assert steady(output) == steady(block[2].partition("\n")[2])

    return check


def steady(text: str) -> str:
    """A report without what differs from one run to the next."""
    return VARYING.sub("(cost)", text)
