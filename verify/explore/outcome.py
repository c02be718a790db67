"""What an exploration ends with."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.diagnostics import Label
from exogpu.source import Span
from exogpu.verify.result import Step


@dataclass(frozen=True, slots=True)
class Fault:
    """An execution that goes wrong by the PTX rules. `rule` is the diagnostic's code, `message`, `span`, `label`,
    `labels` and `help` its parts; `facts` name roles, phases and bytes; `steps` are the interleaving, as far as it
    matters. `other`: rules that executions on other schedules break."""

    rule: str
    message: str
    span: Span
    label: str
    labels: tuple[Label, ...]
    help: str | None
    sizes: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    other: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clean:
    """Nothing was found; `exhaustive` if no execution at these sizes can go wrong."""

    exhaustive: bool


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Not executed: `reason`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Observation:
    """A thread's operation on an mbarrier and the phase that it met: an arrival's or a copy's own phase; for a wait the
    phase whose completion let it pass, -1 if none was complete. `life`: how often the mbarrier had been initialised
    before. Joins of named barriers are there, too, with their generations.

    `path`: the index of the body, then indices of statements; those of a branch or a loop's body as (statement, arm,
    statement), with arm 1 for `orelse` only. `thread` counts over the cluster, `cell` is row-major."""

    path: tuple[int, ...]
    thread: int
    barrier: str
    cta: int
    cell: int
    phase: int
    life: int = 0


class Excessive(Exception):
    """The exploration would take too long, or something has no meaning here; carries the reason."""
