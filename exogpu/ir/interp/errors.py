"""The error of the interpreter."""

from __future__ import annotations

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.source import Span


class InterpError(BadInput):
    """The program cannot be run on these arguments: carries one `Diagnostic` with the place and the values.

    Codes: `interp.argument` (missing, unknown or unfit argument), `interp.require` (a precondition does not
    hold), `interp.bounds` (an access outside its buffer).
    """

    def __init__(self, code: str, message: str, span: Span, notes: tuple[str, ...] = ()) -> None:
        super().__init__((Diagnostic(code, message, span, notes=notes),))
