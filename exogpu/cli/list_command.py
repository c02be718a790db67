"""`exogpu list`: the shipped kernels."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

from exogpu.cli.targets import procedures, shipped
from exogpu.ir.printer import signature
from exogpu.report.model import Exit


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints the signature of every shipped kernel and the first sentence of its file."""
    for target in shipped():
        for proc in procedures(target):
            print(f"{signature(proc)}\n    {_about(target.file)}")
    return Exit.PROVED


def _about(file: str) -> str:
    text = ast.get_docstring(ast.parse(Path(file).read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())
