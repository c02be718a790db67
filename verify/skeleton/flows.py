"""Who contributes to the phases of a barrier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exogpu.smt.poly import ZERO, Poly
from exogpu.verify.instance import Model
from exogpu.verify.ordinal import count_all
from exogpu.verify.phases import Channel, alike, channels
from exogpu.verify.program import Counted, Event, Program
from exogpu.verify.skeleton.unsupported import SharedInPart


@dataclass(frozen=True, slots=True)
class Flow:
    """Statements by which each of the `channels` contributes `rate` executions to every phase of a barrier: arrivals if
    `arrivals` (that many by each execution), else bytes alone. With `numbers`, which say to which phases, they
    contribute bytes to some phases only."""

    channels: frozenset[Channel]
    statements: tuple[Event, ...]
    rate: int
    arrivals: int
    numbers: Counted | None = None

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


def parties(program: Program, statements: Sequence[Event]) -> list[tuple[frozenset[Channel], tuple[Event, ...]]]:
    """Channels that exactly the same of the statements use, with those statements."""
    groups: dict[tuple[int, ...], set[Channel]] = {}
    used = {e.id: channels(program, e) for e in statements}
    for channel in sorted(frozenset[Channel]().union(*used.values())):
        groups.setdefault(tuple(e.id for e in statements if channel in used[e.id]), set()).add(channel)
    for ids, through in groups.items():
        if any(not used[i] <= through for i in ids):
            at = program.events[ids[0]]
            raise SharedInPart(f"{at.label} and others on the barrier share only some of their threads", at.span)
    return [(frozenset(t), tuple(program.events[i] for i in ids)) for ids, t in groups.items()]


def totals(model: Model, flow: Flow) -> list[Poly]:
    """All executions by one thread of a flow, for each sort of its threads."""
    each = ((count_all(model, s, t) for s in flow.statements) for t in flow.threads(model.program))
    return [sum(counts, ZERO) for counts in each]
