"""What a kernel can do without: every removal or weakening of its synchronisation that is still proved for all sizes.

First each weakening alone, then a greedy minimum: the costliest that is still proved is kept, and the search goes on
from there, until nothing more can be taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from exogpu.ir.collective import WARP
from exogpu.ir.instr import CopyArrive, Effect, NamedArrive, ProxyFence, WaitGroup
from exogpu.ir.proc import BarrierDecl, NamedBarrier, Proc
from exogpu.ir.stmt import Arrive, Await, Fence, InstrCall
from exogpu.ir.uses import barriers
from exogpu.ir.walk import walk
from exogpu.source import Span
from exogpu.verify.assess import Assessed, Fate
from exogpu.verify.edits import (
    Edit,
    Site,
    depth,
    dropped,
    first_only,
    lags,
    name,
    narrowed,
    sites,
    synchronises,
    without,
)

Key = tuple[str, Span]


class Judge(Protocol):
    """Decides edited kernels, in order: each weakening `alone`, or on top of those taken."""

    def __call__(self, edits: Sequence[Edit], /, *, alone: bool) -> Iterable[Assessed[Edit]]: ...


@dataclass(frozen=True, slots=True)
class Slimmed:
    """Each weakening of a kernel alone, those of the greedy minimum in the order taken, and what is left."""

    alone: tuple[Assessed[Edit], ...]
    taken: tuple[Edit, ...]
    proc: Proc


def slim(proc: Proc, judge: Judge) -> Slimmed:
    """The minimum of a proved kernel."""
    alone = tuple(judge(weakenings(proc), alone=True))
    refused = {a.edit.key for a in alone if a.verdict.fate is not Fate.HARMLESS}
    taken: list[Edit] = []
    edit = next((a.edit for a in alone if a.verdict.fate is Fate.HARMLESS), None)
    while edit is not None:
        taken.append(edit)
        edit = _next(edit.proc, refused, judge)
    return Slimmed(alone, tuple(taken), taken[-1].proc if taken else proc)


def _next(proc: Proc, refused: set[Key], judge: Judge) -> Edit | None:
    """The costliest weakening that is still proved. What was refused once is not tried again: a kernel that
    synchronises even less would need it as much."""
    for assessed in judge([edit for edit in weakenings(proc) if edit.key not in refused], alone=False):
        if assessed.verdict.fate is Fate.HARMLESS:
            return assessed.edit
        refused.add(assessed.edit.key)
    return None


def weakenings(proc: Proc) -> list[Edit]:
    """Every edit after which the kernel waits for less, the costliest synchronisation first."""
    found = [(_cost(proc, site), edit) for site in sites(proc) for edit in _weaker(proc, site)]
    found += [(3, edit) for edit in _unused_barriers(proc)]
    return [edit for _, edit in sorted(found, key=lambda pair: pair[0])]


def _weaker(proc: Proc, site: Site) -> Iterator[Edit]:
    """The statement removed, else doing less."""
    yield from dropped(site)
    match site.stmt:
        case Fence():
            yield from narrowed(proc, site, WARP)
            yield from narrowed(proc, site, 4 * WARP)
        case Await(lag=lag):
            yield from (edit for edit in lags(site) if edit.what.endswith(f" {lag + 1}"))
            yield from first_only(proc, site)
        case InstrCall(instr=instr) as call:
            yield from depth(site, 1)
            if instr.weaker is not None:
                weaker = site.become(replace(call, instr=instr.weaker))
                yield Edit("weaker", f"{name(call)}: {instr.weaker.name}", call.span, weaker)
            if isinstance(instr.effect, ProxyFence):
                yield from first_only(proc, site)
        case _:
            return


def _unused_barriers(proc: Proc) -> Iterator[Edit]:
    """A barrier with all its arrives and awaits gone, if no copy completes on it."""
    declared: tuple[BarrierDecl | NamedBarrier, ...] = (*proc.barriers, *proc.named)
    for barrier in declared:
        users = [s for s in walk(proc.body) if barrier.name in {name for name, _ in barriers(s)}]
        if users and all(synchronises(s) for s in users):
            edited = without(proc, users)
            left = tuple(b for b in edited.barriers if b is not barrier)
            named = tuple(b for b in edited.named if b is not barrier)
            yield Edit("drop", f"no {barrier.name}", barrier.span, replace(edited, barriers=left, named=named))


def _cost(proc: Proc, site: Site) -> int:
    """Rank of a statement by what it costs at run time: 0 for a barrier of the CTA."""
    match site.stmt:
        case Fence():
            size = site.who.size
            return 0 if size >= proc.block.threads else 1 if size > WARP else 5
        case InstrCall(instr=instr):
            return _instruction_cost(instr.effect)
        case Await():
            return 3
        case Arrive():
            return 4
        case _:
            return 7


def _instruction_cost(effect: Effect | None) -> int:
    match effect:
        case NamedArrive(waits=True):
            return 1
        case ProxyFence():
            return 2
        case WaitGroup():
            return 3
        case NamedArrive() | CopyArrive():
            return 4
        case _:
            return 6
