"""Queries as SMT-LIB 2 text, the same bytes in every process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from io import StringIO

from pysmt.smtlib.printers import SmtDagPrinter

from exogpu.smt.pysmt_api import Formula, TermApi


@dataclass(frozen=True)
class Script:
    """The conjunction of `formulas`, to be decided. Printed only when somebody asks: most queries are never read."""

    api: TermApi
    formulas: tuple[Formula, ...]

    @cached_property
    def text(self) -> str:
        """Declarations, one assertion per formula, and `(check-sat)`."""
        kept = [f for f in self.formulas if not self.api.is_true(f)]
        symbols = {s.symbol_name(): s for f in kept for s in f.get_free_variables()}
        out = StringIO()
        out.write("(set-logic QF_LIA)\n")
        for name in sorted(symbols):
            sort = "Bool" if symbols[name].is_symbol(self.api.boolean) else "Int"
            out.write(f"(declare-fun |{name}| () {sort})\n")
        for f in kept:
            out.write("(assert ")
            SmtDagPrinter(out).printer(f)
            out.write(")\n")
        out.write("(check-sat)\n")
        return out.getvalue()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()
