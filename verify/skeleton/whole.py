"""Obligations about a skeleton as a whole: registers of wgmma, cells of mbarriers, results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product

from exogpu.ir.index import Int
from exogpu.ir.instr import Group, Mode, WgmmaFence
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Global
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.ir.skeleton.walk import walk
from exogpu.smt.index import to_poly
from exogpu.smt.poly import ZERO
from exogpu.smt.terms import Formula
from exogpu.verify.instance import Instance, Model
from exogpu.verify.phases import Phases, executed_by, executors
from exogpu.verify.pieces import Piece
from exogpu.verify.pipeline import accumulators
from exogpu.verify.program import Access, Event, InGroup, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.cells import cells
from exogpu.verify.skeleton.coverage import writes
from exogpu.verify.skeleton.lives import Lives
from exogpu.verify.skeleton.pool import registers
from exogpu.verify.skeleton.settle import obligation, settle


def whole(program: Program, skeleton: Skeleton, lives: Mapping[str, Lives]) -> Iterator[Piece]:
    """The obligations."""
    if any(isinstance(s, op.SetMaxnreg) for b in skeleton.bodies for s in walk(b.stmts)):
        yield Piece(1, lambda _: (registers(skeleton),))
    for event in program.events:
        if isinstance(event.completion, InGroup) and event.completion.group is Group.WGMMA:
            yield Piece(1, partial(_fenced, event=event))
            yield from (Piece(1, partial(_disjoint, event=event, pair=p)) for p in _in_registers(event))
    yield from cells(program, skeleton, lives)
    for item in skeleton.objects:
        if isinstance(item, Global) and item.result:
            yield Piece(4, partial(_written, item=item))


# -- results -----------------------------------------------------------------------------------------------------------


def _written(program: Program, item: Global) -> Iterator[Obligation]:
    """Every cell of a result is written by some statement: in the iterations that its indices name."""
    base = obligation(f"result/{item.name}", "seq.mismatch", f"every cell of {item.name} is written", item.span)
    shape = item.shape or (Int(1),)
    writers = [(e, a) for e in program.events for a in e.accesses if a.buffer == item.name and a.mode is not Mode.READ]
    if not writers:
        yield replace(base, status=Status.UNKNOWN, reason="nothing writes it")
        return

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx = model.ctx
        cell = [ctx.fresh(f"cell.{d}", 0) for d in range(len(shape))]
        inside = [ctx.lt(c, to_poly(ctx, e, model.sizes)) for c, e in zip(cell, shape, strict=True)]
        ways = [f for e, a in writers for f in writes(model, e, a, cell)]
        return ctx.api.conj((*inside, ctx.api.negate(ctx.api.disj(ways))))

    yield settle(program, base, [Property(base.name, (), bad, None)])


# -- registers of wgmma ------------------------------------------------------------------------------------------------


def _fenced(program: Program, event: Event) -> Iterator[Obligation]:
    """Its warps have executed a wgmma.fence before, even if no thread has touched its registers (PTX ISA,
    wgmma.fence)."""
    fences = [e for e in program.events if isinstance(e.action, WgmmaFence)]

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        mine = executed_by(program, executors(program, event), fences)
        return model.ctx.lt(sum((phases.count(xs[0], s) for s in mine), ZERO), 1)

    title = f"a wgmma_fence comes before the wgmma at line {event.span.line}"
    base = obligation(f"fenced/{event.id}", "wgmma.reg_fence", title, event.span)
    yield settle(program, base, [Property(base.name, (event,), bad, None)])


def _in_registers(event: Event) -> Iterator[tuple[Access, Access]]:
    """The accumulator of a wgmma with each operand that lies in the same array of registers."""
    read = (a for a in event.accesses if a.mode is Mode.READ)
    yield from ((w, r) for w, r in product(accumulators(event), read) if w.buffer == r.buffer)


def _disjoint(program: Program, event: Event, pair: tuple[Access, Access]) -> Iterator[Obligation]:
    """A wgmma does not write registers that it reads as an operand, since it is in flight itself."""
    written, read = pair

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.overlap(xs[0], written, xs[0], read)

    title = f"the wgmma at line {event.span.line} does not write its own operands"
    base = obligation(f"operand/{event.id}", "wgmma.reg_inflight", title, read.span)
    yield settle(program, base, [Property(base.name, (event,), bad, None)])
