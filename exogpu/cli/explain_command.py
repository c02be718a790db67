"""`exogpu explain`: the long text of a diagnostic code."""

from __future__ import annotations

import argparse
import difflib

from exogpu.cli.errors import UsageError
from exogpu.codes import all_codes, lookup
from exogpu.report.model import Exit


def execute(arguments: argparse.Namespace) -> Exit:
    """Prints one code's explanation, or the list of all codes."""
    if arguments.code is None:
        width = max(len(code.name) for code in all_codes())
        for code in all_codes():
            print(f"{code.name.ljust(width)}  {code.meaning}")
        return Exit.PROVED
    found = lookup(arguments.code)
    if found is None:
        close = difflib.get_close_matches(arguments.code, [code.name for code in all_codes()])
        hint = f"; did you mean {' or '.join(close)}?" if close else "; `exogpu explain` lists all codes"
        raise UsageError(f"there is no code `{arguments.code}`{hint}")
    print(f"{found.name}: {found.meaning}\n\n{found.text}")
    if found.proved:
        print(f"\nA proof shows: {found.proved}")
    return Exit.PROVED
