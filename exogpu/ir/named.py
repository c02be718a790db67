"""Named barriers (PTX ISA, bar): which of the CTA's 16 each declaration and each narrow Fence uses.

Barrier 0 joins the whole CTA. Declared ones come next, then one for each group of threads that a Fence joins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Arrive, Await, BarrierRef, Fence, For, InstrCall, Role, Stmt, Threads
from exogpu.ir.walk import children, walk
from exogpu.source import Span

NAMED_BARRIERS = range(1, 16)

Teams = tuple[tuple[int, ...], int]
"""Groups of threads side by side: the first thread of each, and their size. A role's are counted inside its CTA."""


@dataclass(frozen=True, slots=True)
class BarrierIds:
    """Numbers of declared barriers by name, and the first of the consecutive ones that serve a Fence's groups."""

    declared: dict[str, int]
    teams: dict[Teams, int]


def plan_barriers(proc: Proc) -> BarrierIds:
    """The barrier numbers of a procedure; BadInput when they do not suffice."""
    declared = {b.name: n for n, b in zip(NAMED_BARRIERS, proc.named, strict=False)}
    if len(declared) < len(proc.named):
        raise BadInput((_out_of_ids(proc.named[len(declared)].span, "this is one more"),))
    teams: dict[Teams, int] = {}
    free = NAMED_BARRIERS.start + len(declared)
    for (firsts, size), span in _fences(proc, proc.body, ((0,), proc.block.threads * proc.block.cluster)):
        if size == WARP or size >= proc.block.threads or size % WARP or (firsts, size) in teams:
            continue  # joined without a number, or known
        teams[firsts, size] = free
        free += len(firsts)
        if free > NAMED_BARRIERS.stop:
            text = f"{len(firsts)} more are needed here, one for each group of {size} threads"
            raise BadInput((_out_of_ids(span, text),))
    return BarrierIds(declared, teams)


def _fences(proc: Proc, block: tuple[Stmt, ...], who: Teams) -> Iterator[tuple[Teams, Span]]:
    for stmt in block:
        inside = who
        match stmt:
            case Fence(span):
                yield who, span
            case For(_, lo, hi, Threads(unit)):
                members = range(evaluate(lo, {}), evaluate(hi, {}))
                inside = tuple(first + v * unit for first in who[0] for v in members), unit
            case Role(name, index=index):
                role = next(r for r in proc.block.roles if r.name == name)
                unit = role.threads if index is None else role.unit
                inside = tuple(range(role.first, role.first + role.threads, unit)), unit
            case _:
                pass
        for inner in children(stmt):
            yield from _fences(proc, inner, inside)


def _out_of_ids(span: Span, label: str) -> Diagnostic:
    return Diagnostic(
        "bar.ids",
        f"the kernel needs more than {len(NAMED_BARRIERS)} named barriers",
        span,
        label,
        help="use fewer or larger thread groups for Fence(), or mbarriers",
    )


def kind_problems(proc: Proc) -> Iterator[Diagnostic]:
    """Barriers of the wrong kind: Arrive, Await and copies take mbarriers, bar_arrive and bar_sync named barriers."""
    named = {b.name for b in proc.named}
    for stmt in walk(proc.body):
        match stmt:
            case Arrive(barrier, span=span) | Await(barrier, span=span) if barrier in named:
                yield _wrong_kind(barrier, span, "an mbarrier", "use bar_arrive and bar_sync with it")
            case InstrCall():
                wants = {p.name for p in stmt.instr.params if p.kind == "named"}
                for param, arg in stmt.operands:
                    if isinstance(arg, BarrierRef) and (arg.name in named) != (param in wants):
                        kind = "a named barrier" if param in wants else "an mbarrier"
                        yield _wrong_kind(arg.name, arg.span, kind, "declare it with `mbarrier` or `named_barrier`")
            case _:
                pass


def _wrong_kind(name: str, span: Span, kind: str, fix: str) -> Diagnostic:
    return Diagnostic("lang.type_mismatch", f"`{name}` is not {kind}", span, f"{kind} is expected", help=fix)
