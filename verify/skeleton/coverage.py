"""Who writes a cell, and accesses that never meet because something writes all that they have in common in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice, product

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.instr import Mode
from exogpu.ir.linear import linear
from exogpu.ir.types import Gmem, Smem
from exogpu.ir.walk import index_names
from exogpu.smt.index import Env, to_poly
from exogpu.smt.poly import ZERO, Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.instance import LANE, Instance, Model
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases
from exogpu.verify.program import Access, Event, LoopKind, Program
from exogpu.verify.races import Conflict, Use, either_reading, pair
from exogpu.verify.single import Property

MOST_THREADS = 256
"""Most values of loops over threads that are tried for who writes a cell."""


def between(program: Program, conflict: Conflict) -> Iterator[list[Goal | Property]]:
    """Ways to show that an asynchronous write comes after one of two accesses and before the other, wherever they meet:
    orders are transitive, cell by cell. Cells of registers are each thread's own, and only wgmma writes them so."""
    if not isinstance(conflict.buffer.memory, Smem | Gmem):
        return
    for event in program.events:
        for access in event.accesses if event.completion is not None else ():
            if access.buffer == conflict.buffer.name and access.mode is Mode.WRITE:
                written = Use(event, access)
                for first, last in ((conflict.first, conflict.second), (conflict.second, conflict.first)):
                    if event not in (first.event, last.event):
                        steps = [_before(program, conflict, *two) for two in ((first, written), (written, last))]
                        yield [_covered(written, first, last), *steps]


def _before(program: Program, conflict: Conflict, one: Use, other: Use) -> Goal:
    found = either_reading(partial(pair, program, conflict.buffer), one, other)
    return replace(found.goal, back=None)


def _covered(written: Use, one: Use, other: Use) -> Property:
    """Each cell that the two have in common is written."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx = model.ctx
        boxes = [model.box(x, use.access) for x, use in zip(xs, (one, other), strict=True)]
        cell = [ctx.fresh(f"cell.{d}", 0) for d in range(len(boxes[0]))]
        inside = [ctx.between(lo, c, lo + n) for box in boxes for (lo, n), c in zip(box, cell, strict=True)]
        ways = writes(model, written.event, written.access, cell)
        return ctx.api.conj((*inside, ctx.api.negate(ctx.api.disj(ways))))

    name = f"between/{one.event.id}-{written.event.id}-{other.event.id}"
    return Property(name, (one.event, other.event), bad, None)


def writes(model: Model, event: Event, access: Access, cell: Sequence[Poly]) -> Iterator[Formula]:
    """Executions of a statement that write a cell, by each thread: its loop variables are read off the cell's
    indices."""
    sequential = {loop.var for loop in event.loops if loop.kind is LoopKind.SEQ}
    threads = [loop for loop in event.loops if loop.kind is not LoopKind.SEQ]
    ranges = [range(evaluate(loop.lo, {}), evaluate(loop.hi, {})) for loop in threads]
    for values in islice(product(*ranges), MOST_THREADS):
        env = {**model.sizes, **{loop.var: lift(v) for loop, v in zip(threads, values, strict=True)}}
        for (lo, _), c in zip(access.dims, cell, strict=True):
            env.update(_read_off(model, lo, c, sequential | {LANE}, env))
        if not sequential <= env.keys():
            return
        if event.size > 1:
            env.setdefault(LANE, lift(0))
        x = model.at(event, env)
        parts = [x.domain]
        for (low, length), c in zip(model.box(x, access), cell, strict=True):
            parts.append(model.ctx.between(low, c, low + length))
        yield model.ctx.api.conj(parts)


def _read_off(model: Model, index: Index, cell: Poly, wanted: Set[str], known: Env) -> Iterator[tuple[str, Poly]]:
    """The variable of which an index is a multiple plus something known, if it is one, where the index is a cell's; a
    remainder is taken for what it is of. Whether the cell is the one is tested afterwards."""
    form = linear(index)
    free = [(atom, c) for atom, c in form.terms.items() if not index_names(atom) <= known.keys()]
    if len(free) != 1 or free[0][1] <= 0:
        return
    (atom, times), others = (
        free[0],
        (to_poly(model.ctx, a, known) * c for a, c in form.terms.items() if (a, c) not in free),
    )
    value = model.ctx.floordiv(cell - form.const - sum(others, ZERO), times)
    match atom:
        case Var(name) if name in wanted:
            yield name, value
        case Bin("%", inner, Int()):
            yield from _read_off(model, inner, value, wanted, known)
        case _:
            return
