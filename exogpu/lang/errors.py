"""How the front end gives up on a piece of text: `Rejected` carries the findings up to the nearest statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from exogpu.diagnostics import Diagnostic
from exogpu.lang.cuda import meant
from exogpu.source import Span


class Rejected(Exception):
    """The text being read is not acceptable. No diagnostics: the cause was reported where a name was declared."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__()
        self.diagnostics = diagnostics


def reject(code: str, message: str, span: Span, label: str = "", help: str | None = None) -> Rejected:
    """A `Rejected` with one finding, of code `lang.<code>`."""
    return Rejected(Diagnostic(f"lang.{code}", message, span, label=label, help=help))


def closest(name: str, known: Iterable[str], elsewhere: Callable[[str], str | None] = meant) -> str | None:
    """A fix for a name that is mistyped or, as `elsewhere` says, of CUDA C++; None when nothing is near."""
    known_elsewhere = elsewhere(name)
    if known_elsewhere is not None:
        return known_elsewhere
    from difflib import get_close_matches  # only now: most kernels have no mistake

    near = get_close_matches(name, sorted(known), n=1)
    return f"did you mean `{near[0]}`?" if near else None
