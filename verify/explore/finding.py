"""What an execution runs into, before it is put in words."""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.diagnostics import Label
from exogpu.source import Span
from exogpu.verify.explore.memory import Unordered


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """`strands`: who takes part; `pair`: the accesses, if it is a race; `barriers`: what is waited for in vain. `mild`:
    the execution goes on, and what comes of it may tell more; `help`: what to do, if the rule does not say."""

    rule: str
    message: str
    span: Span
    label: str
    strands: tuple[int, ...]
    labels: tuple[Label, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    pair: Unordered | None = None
    also: tuple[str, ...] = ()
    barriers: frozenset[str] = frozenset()
    help: str | None = None
    mild: bool = field(default=False, kw_only=True)


class Violation(Exception):
    """Ends an execution."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding
