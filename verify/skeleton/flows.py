"""Who contributes to the phases of a barrier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from exogpu.smt.poly import ZERO, Poly
from exogpu.verify.instance import Model
from exogpu.verify.ordinal import count_all
from exogpu.verify.phases import Channel, alike, channels
from exogpu.verify.program import Counted, Event, Program
from exogpu.verify.skeleton.teams import Turns, together
from exogpu.verify.skeleton.unsupported import SharedInPart

Party = tuple[frozenset[Channel], tuple[Event, ...]]
"""Channels, and the statements that use exactly these."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Statements by which each of the `channels` contributes `rate` executions to every phase of a barrier: arrivals if
    `arrivals` (that many by each execution), else bytes alone. With `numbers`, which say to which phases, they
    contribute bytes to some phases only; with `turns`, those of one party contribute to each, in turn."""

    channels: frozenset[Channel]
    statements: tuple[Event, ...]
    rate: int
    arrivals: int
    numbers: Counted | None = None
    turns: Turns | None = None

    @property
    def of_one_phase(self) -> frozenset[Channel]:
        """Those that contribute to one phase, or as many."""
        return self.channels if self.turns is None else self.turns.parties[0][0]

    def renewed(self, program: Program) -> Flow:
        """The same with the events of a program."""
        statements = tuple(program.events[e.id] for e in self.statements)
        return replace(self, statements=statements, turns=self.turns and self.turns.renewed(program))

    def threads(self, program: Program) -> tuple[int, ...]:
        """One of its threads of each sort: those of a sort execute its statements equally often."""
        sorts = [alike(program, s) for s in self.statements]
        firsts: dict[tuple[tuple[int, ...], ...], int] = {}
        for thread in sorted({thread for thread, _ in self.channels}):
            firsts.setdefault(tuple(sort[thread] for sort in sorts), thread)
        return tuple(firsts.values())

    @property
    def ctas(self) -> frozenset[int]:
        """The CTAs whose barriers it signals."""
        return frozenset(cta for _, cta in self.channels)


def parties(program: Program, statements: Sequence[Event]) -> list[Party]:
    """Channels that exactly the same of the statements use, with those statements, which no others use."""
    found = grouped(program, statements)
    for through, group in found:
        at = group[0]
        if any(not channels(program, e) <= through for e in group):
            raise SharedInPart(f"{at.label} and others on the barrier share only some of their threads", at.span)
    return found


def grouped(program: Program, statements: Sequence[Event]) -> list[Party]:
    """Channels that exactly the same of the statements use, with those statements."""
    groups: dict[tuple[int, ...], set[Channel]] = {}
    used = {e.id: channels(program, e) for e in statements}
    for channel in sorted(frozenset[Channel]().union(*used.values())):
        groups.setdefault(tuple(e.id for e in statements if channel in used[e.id]), set()).add(channel)
    return [(frozenset(through), tuple(program.events[i] for i in ids)) for ids, through in groups.items()]


def totals(model: Model, flow: Flow) -> list[Poly]:
    """All executions by one thread of a flow, for each sort of its threads; of those that take turns, by one of each
    party together."""
    if flow.turns is not None:
        return [together(model, flow.turns.members(model.program, cta)) for cta in sorted(flow.ctas)]
    each = ((count_all(model, s, t) for s in flow.statements) for t in flow.threads(model.program))
    return [sum(counts, ZERO) for counts in each]
