"""Prints a run in the format that was asked for, and notes that belong to no report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from exogpu.report.model import Run
from exogpu.report.style import ColorChoice, Palette, use_color


def palette(choice: ColorChoice) -> Palette:
    """The colours for standard output."""
    return Palette(use_color(choice, sys.stdout.isatty(), os.environ))


def render(run: Run, form: str, color: ColorChoice, *, chains: bool = False, explain: bool = False) -> str:
    """The report as text; only the renderer that is needed is imported."""
    if form == "text":
        from exogpu.report.text import TextOptions, render_text

        return render_text(run, TextOptions(palette(color), chains, explain))
    return _renderer(form)(run)


def _renderer(form: str) -> Callable[[Run], str]:
    from exogpu.report import github, json, junit, sarif, short

    renderers: dict[str, Callable[[Run], str]] = {
        "short": short.render_short,
        "json": json.render_json,
        "sarif": sarif.render_sarif,
        "junit": junit.render_junit,
        "github": github.render_github,
    }
    return renderers[form]


def not_kept(folder: Path, error: OSError) -> None:
    """Says that a proof will be made again next time."""
    print(f"exogpu: note: {folder} cannot keep the proof: {error.strerror}", file=sys.stderr)
