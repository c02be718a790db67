"""Obligations about a skeleton as a whole: registers, cells of mbarriers, results."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from functools import partial
from itertools import combinations, product, takewhile
from math import prod

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index, Var
from exogpu.ir.instr import Group, Mode, WgmmaFence
from exogpu.ir.linear import linear
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Global, Mbarriers
from exogpu.ir.skeleton.tree import Body, Skeleton, Stmt
from exogpu.ir.walk import index_names
from exogpu.smt.index import Env, to_poly
from exogpu.smt.poly import ZERO, Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.instance import LANE, Instance, Model
from exogpu.verify.phases import Phases, executed_by, executors
from exogpu.verify.pieces import Piece
from exogpu.verify.program import Access, Event, InGroup, LoopKind, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.settle import obligation, settle
from exogpu.verify.skeleton.walk import nested

WAITING = op.Wait | op.Await | op.BarSync | op.WarpSync | op.ClusterWait | op.Spin | op.Exit
"""What may keep a thread waiting for others, or end it."""
MOST_THREADS = 256
"""Most values of loops over threads that are tried for who writes a cell."""


def whole(program: Program, skeleton: Skeleton) -> Iterator[Piece]:
    """The obligations."""
    if any(isinstance(s, op.SetMaxnreg) for b in skeleton.bodies for s, _ in nested(b.stmts)):
        yield Piece(1, lambda _: (_registers(skeleton),))
    for event in program.events:
        if isinstance(event.completion, InGroup) and event.completion.group is Group.WGMMA:
            yield Piece(1, partial(_fenced, event=event))
    placed = [o for o in skeleton.objects if isinstance(o, Mbarriers) and o.overlay is not None]
    for one, other in combinations(placed, 2):
        if one.overlay == other.overlay and set(_cells(one)) & set(_cells(other)):
            yield Piece(1, partial(_one_place, one=one, other=other))
    for item in skeleton.objects:
        if isinstance(item, Mbarriers) and item.overlay is not None:
            yield from _apart(program, item)
        if isinstance(item, Global) and item.result:
            yield Piece(4, partial(_written, item=item))


# -- setmaxnreg --------------------------------------------------------------------------------------------------------


def _registers(skeleton: Skeleton) -> Obligation:
    """Every warpgroup changes its registers before it waits for anything; then what some give back is enough for the
    others (PTX ISA, setmaxnreg)."""
    base = obligation("registers", "setmaxnreg.pool", "the registers of every CTA suffice", skeleton.span)
    launched = skeleton.registers
    if launched is None:
        return replace(base, status=Status.UNKNOWN, reason="it is not said how many registers a launch gives")
    for body in skeleton.bodies:
        problem = _changes_first(body, launched)
        if problem:
            return replace(base, status=Status.UNKNOWN, span=body.role.span, reason=problem)
    for cta in range(skeleton.cluster):
        roles = [b for b in skeleton.bodies if cta in b.role.ctas]
        warps = {id(b): -(-b.role.threads // WARP) for b in roles}
        wanted = sum(warps[id(b)] * _last(b, launched) for b in roles)
        if wanted > sum(warps.values()) * launched:
            return replace(base, status=Status.UNKNOWN, reason=f"CTA {cta} has too few registers")
    return base


def _changes_first(body: Body, launched: int) -> str:
    """Why a role does not change its registers once before it waits, whole warpgroup by whole warpgroup; or empty."""
    changes = [s for s, _ in nested(body.stmts) if isinstance(s, op.SetMaxnreg)]
    if not changes:
        return ""
    before = takewhile(lambda s: s is not changes[0], body.stmts)
    if len(changes) > 1 or changes[0] not in body.stmts or any(_waits(s) for s, _ in nested((*before,))):
        return "registers are changed more than once, or by threads that may have waited"
    if body.role.first % WARPGROUP or body.role.threads % WARPGROUP:
        return "registers are changed by a part of a warpgroup"
    more = changes[0].registers > launched
    less = changes[0].registers < launched
    return "registers are changed in the wrong direction" if more != changes[0].increases and (more or less) else ""


def _waits(stmt: Stmt) -> bool:
    return isinstance(stmt, WAITING) and not (isinstance(stmt, op.BarSync) and not stmt.waits)


def _last(body: Body, launched: int) -> int:
    changes = [s.registers for s, _ in nested(body.stmts) if isinstance(s, op.SetMaxnreg)]
    return changes[0] if changes else launched


# -- mbarriers inside shared memory ------------------------------------------------------------------------------------


def _apart(program: Program, item: Mbarriers) -> Iterator[Piece]:
    """No access touches the cells of an mbarrier."""
    cells = len(_cells(item))
    for event in program.events:
        for n, access in enumerate(event.accesses):
            if access.buffer == item.overlay:
                yield Piece(1, partial(_clear, item=item, cells=cells, event=event, access=access, n=n))


def _cells(item: Mbarriers) -> range:
    return range(item.offset, item.offset + prod(item.shape))


def _one_place(program: Program, one: Mbarriers, other: Mbarriers) -> Iterator[Obligation]:
    title = f"{one.name} and {other.name} have cells of their own"
    base = obligation(f"cells/{one.name}/{other.name}", "mbar.alias", title, other.span)
    yield replace(base, status=Status.UNKNOWN, reason="they lie in one place")


def _clear(program: Program, item: Mbarriers, cells: int, event: Event, access: Access, n: int) -> Iterator[Obligation]:
    strides = [1]
    shape = [evaluate(e, {}) for e in program.buffers[access.buffer].shape][program.buffers[access.buffer].per_cta :]
    for extent in reversed(shape[1:]):
        strides.append(strides[-1] * extent)

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx = model.ctx
        low, high = lift(0), lift(0)
        box = model.box(xs[0], access)[program.buffers[access.buffer].per_cta :]
        for (lo, extent), stride in zip(box, reversed(strides), strict=True):
            low, high = low + lo * stride, high + (lo + extent - 1) * stride
        return ctx.api.conj((ctx.lt(low, item.offset + cells), ctx.le(item.offset, high)))

    title = f"{event.label} (line {event.span.line}) leaves the mbarriers of {item.name} alone"
    base = obligation(f"cells/{item.name}/{event.id}.{n}", "mbar.alias", title, access.span)
    yield settle(program, base, [Property(base.name, (event,), bad, None)])


# -- results -----------------------------------------------------------------------------------------------------------


def _written(program: Program, item: Global) -> Iterator[Obligation]:
    """Every cell of a result is written by some statement: in the iterations that its indices name."""
    base = obligation(f"result/{item.name}", "seq.mismatch", f"every cell of {item.name} is written", item.span)
    writers = [(e, a) for e in program.events for a in e.accesses if a.buffer == item.name and a.mode is not Mode.READ]
    if not writers:
        yield replace(base, status=Status.UNKNOWN, reason="nothing writes it")
        return

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx = model.ctx
        cell = [ctx.fresh(f"cell.{d}", 0) for d in range(len(item.shape))]
        inside = [ctx.lt(c, to_poly(ctx, e, model.sizes)) for c, e in zip(cell, item.shape, strict=True)]
        ways = [f for e, a in writers for f in _writes(model, e, a, cell)]
        return ctx.api.conj((*inside, ctx.api.negate(ctx.api.disj(ways))))

    yield settle(program, base, [Property(base.name, (), bad, None)])


def _writes(model: Model, event: Event, access: Access, cell: list[Poly]) -> Iterator[Formula]:
    """Executions of a statement that write a cell: its loop variables are read off the cell's indices."""
    found: dict[str, Poly] = {}
    sequential = {loop.var for loop in event.loops if loop.kind is LoopKind.SEQ}
    for (lo, _), c in zip(access.dims, cell, strict=True):
        found.update(_read_off(model, lo, c, sequential | {LANE}, {**model.sizes, **found}))
    threads = [loop for loop in event.loops if loop.kind is not LoopKind.SEQ]
    ranges = [range(evaluate(loop.lo, {}), evaluate(loop.hi, {})) for loop in threads]
    if any(loop.var not in found for loop in event.loops if loop.kind is LoopKind.SEQ):
        return
    for n, values in enumerate(product(*ranges)):
        if n == MOST_THREADS:
            return
        env = {**model.sizes, **found, **{loop.var: lift(v) for loop, v in zip(threads, values, strict=True)}}
        if event.size > 1:
            env.setdefault(LANE, lift(0))
        x = model.at(event, env)
        parts = [x.domain]
        for (low, length), c in zip(model.box(x, access), cell, strict=True):
            parts.append(model.ctx.between(low, c, low + length))
        yield model.ctx.api.conj(parts)


def _read_off(model: Model, index: Index, cell: Poly, wanted: Set[str], known: Env) -> Iterator[tuple[str, Poly]]:
    """The variable of which an index is a multiple plus something known, if it is one, where the index is a cell's."""
    form = linear(index)
    free = [(atom, c) for atom, c in form.terms.items() if not index_names(atom) <= known.keys()]
    match free:
        case [(Var(name), times)] if name in wanted and times > 0:
            others = [to_poly(model.ctx, a, known) * c for a, c in form.terms.items() if (a, c) not in free]
            yield name, model.ctx.floordiv(cell - form.const - sum(others, ZERO), times)
        case _:
            return


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
