"""Which names a procedure may declare."""

from __future__ import annotations

from keyword import iskeyword

from exogpu.ir.index import ORDINAL


def declarable(name: str) -> bool:
    """Whether the name can be declared: emitted code needs an ASCII identifier, printed code one that Python reads, and
    names with a leading `_` are ours, as are those with signs in them (`i'` is `i` in another execution)."""
    plain = name.isascii() and name.isidentifier() and not iskeyword(name)
    return plain and not name.startswith("_") and name not in ("inf", ORDINAL)
