"""`exogpu explain`: the long text of a diagnostic code or of a memory-model axiom."""

from __future__ import annotations

import argparse
import difflib
import textwrap

from exogpu.cli.errors import UsageError
from exogpu.codes import Code, all_codes, lookup
from exogpu.report.model import Exit
from exogpu.verify.axioms import AXIOMS, Axiom, find_axiom

WIDTH = 100


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints one explanation, or the list of all codes and axioms."""
    if arguments.code is None:
        print(_list())
        return Exit.PROVED
    code, axiom = lookup(arguments.code), find_axiom(arguments.code)
    if code is None and axiom is None:
        known = [c.name for c in all_codes()] + [a.name for a in AXIOMS]
        asked = arguments.code
        close = [name for name in known if name.lower() == asked.lower()] or difflib.get_close_matches(asked, known)
        hint = f"; did you mean {' or '.join(close)}?" if close else "; `exogpu explain` lists all codes"
        raise UsageError(f"there is no code `{asked}`{hint}")
    if code is not None:
        print(_code(code))
    if axiom is not None:
        print(_axiom(axiom))
    return Exit.PROVED


def _list() -> str:
    entries = [(c.name, c.meaning) for c in all_codes()] + [(a.name, a.title) for a in AXIOMS]
    width = max(len(name) for name, _ in entries)
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in entries)


def _code(code: Code) -> str:
    shows = f"\n\nA proof shows: {code.proved}" if code.proved else ""
    return f"{code.name}: {code.meaning}\n\n{code.text}{shows}"


def _axiom(axiom: Axiom) -> str:
    name = f"{axiom.name} ({axiom.alias})" if axiom.alias else axiom.name
    parts = [
        f"{name}: {axiom.title}",
        f"The ISA: {axiom.isa}",
        f"The reading: {axiom.reading}",
        f"Without it: {axiom.alternative or 'the hardware offers no other form'}",
        f"By default: {_default(axiom)}",
        f"Used in proofs of: {', '.join(axiom.rules)}",
    ]
    return "\n\n".join(textwrap.fill(part, WIDTH, break_long_words=False, break_on_hyphens=False) for part in parts)


def _default(axiom: Axiom) -> str:
    if not axiom.assumed:
        return f"not assumed; accept it with `--axiom {axiom.alias or axiom.name}`"
    if axiom.alternative:
        return "assumed, and listed by every proof that uses it; `--strict` withdraws it"
    return f"assumed, and listed by every proof that uses it; only `--without {axiom.name}` withdraws it"
