"""Threads that take turns at the phases of a barrier: each phase is of one of them, as its index says.

Two warpgroups that work on every other tile release the slots of one ring in turn. How often one of them has arrived
says nothing about the phase; the index of the slot does: `empty[c % S]` is phase c. That every phase gets exactly one
of the executions follows from three facts: no two have the same index, none lies outside 0 .. N-1, and there are N.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, Index, Int
from exogpu.ir.walk import index_names
from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import NoClosedForm, count_all
from exogpu.verify.phases import Channel, Phases, alike
from exogpu.verify.program import Counter, Event, LoopKind, Program
from exogpu.verify.single import Property

Member = tuple[int, tuple[Event, ...]]
"""A thread, and its statements."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Parties of equally many threads, each with statements of its own."""

    parties: tuple[tuple[frozenset[Channel], tuple[Event, ...]], ...]

    def renewed(self, program: Program) -> Turns:
        """The same with the events of a program."""
        return Turns(tuple((through, tuple(program.events[e.id] for e in group)) for through, group in self.parties))

    def members(self, program: Program, cta: int) -> tuple[Member, ...]:
        """One thread of each party that means the barrier of a CTA; the others do as it does."""
        out: list[Member] = []
        for through, statements in self.parties:
            if any(len(set(alike(program, s).values())) > 1 for s in statements):
                raise NoClosedForm("threads that take turns at a barrier execute different parts of a statement")
            mine = [thread for thread, meant in through if meant == cta]
            out += [(min(mine), statements)] if mine else []
        return tuple(out)


def natural(program: Program, event: Event, slot: Index, ring: int) -> Index | None:
    """The phase that the index of a slot says: `i` of `i % ring`, if all threads of the statement have the same."""
    match slot:
        case Bin("%", index, Int(m)) if m == ring and ring > 1:
            common = {loop.var for loop in event.loops if loop.kind is LoopKind.SEQ} | set(program.sizes)
            common |= {name for name, meaning in program.derived.items() if isinstance(meaning, Counter)}
            return index if index_names(index) <= common else None
        case _:
            return None


def enumerate_phases(walks: Sequence[Sequence[Occurrence]], indices: Mapping[int, Index]) -> bool:
    """At a small size, what the threads execute goes through all phases, each once."""
    found = sorted(evaluate(indices[o.event.id], o.env) for walk in walks for o in walk)
    return found == list(range(len(found)))


def each_once(members: Sequence[Member], cta: int) -> Iterator[Property]:
    """What shows that the members' statements are for phases 0 .. N-1, one each."""
    acting = [(thread, e) for thread, statements in members for e in statements]
    for one, other in combinations_with_replacement(acting, 2):
        yield _apart(one, other, cta)
    for thread, event in acting:
        yield _inside(thread, event, members, cta)


def _apart(one: tuple[int, Event], other: tuple[int, Event], cta: int) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        x, y = xs
        same = model.ctx.eq(phases.phase(x), phases.phase(y))
        at = (_by(model, phases, i, t, cta) for i, t in ((x, one[0]), (y, other[0])))
        return model.ctx.api.conj((*at, same, model.different(x, y)))

    return Property(f"turns/{one[1].id}-{other[1].id}/{cta}", (one[1], other[1]), bad, None)


def _inside(thread: int, event: Event, members: Sequence[Member], cta: int) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        inside = model.ctx.between(0, phases.phase(x), together(model, members))
        return model.ctx.api.conj((_by(model, phases, x, thread, cta), model.ctx.api.negate(inside)))

    return Property(f"turns/{event.id}/{cta}", (event,), bad, None)


def _by(model: Model, phases: Phases, x: Instance, thread: int, cta: int) -> Formula:
    return model.ctx.api.conj((model.ctx.eq(x.threads.first, thread), model.ctx.eq(phases.cta(x), cta)))


def together(model: Model, members: Sequence[Member]) -> Poly:
    """How often the members execute their statements."""
    return sum((count_all(model, s, thread) for thread, statements in members for s in statements), ZERO)
