"""Schedules that a user composes from operators: plain functions, proved step by step as everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from exogpu.ir.index import Var
from exogpu.ir.instr import Instr
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Alloc, For, If, Mode
from exogpu.ir.terms import subtract
from exogpu.ir.types import Memory
from exogpu.ir.walk import walk
from exogpu.schedule.annotate import (
    arrive,
    assign_role,
    insert,
    mbarrier,
    set_mode,
    unit_loop,
    wait,
)
from exogpu.schedule.cursor import Cursor, Place, Where, stem
from exogpu.schedule.dimensions import expand_dim, join_dims
from exogpu.schedule.errors import limit
from exogpu.schedule.expr import IndexLike
from exogpu.schedule.guards import drop_guard
from exogpu.schedule.loops import divide, fission, fuse, reorder
from exogpu.schedule.marks import label
from exogpu.schedule.parts import into_loop
from exogpu.schedule.replace import replace
from exogpu.schedule.ring import ring_buffer
from exogpu.schedule.schedule import Schedule
from exogpu.schedule.scopes import lift_alloc, lift_scope
from exogpu.schedule.signature import checked
from exogpu.schedule.stage import stage
from exogpu.schedule.windows import WindowLike

# -- moving ------------------------------------------------------------------------------------------------------------
#
# `to` is where the move ends: in the block of a statement around it, given by a cursor, or as the variable of a loop.


@checked
def outwards(s: Schedule, loop: Where, to: str | Cursor) -> Schedule:
    """Moves a loop out of the loops and conditionals around it, until it is in the body of the loop `to`."""
    at = s.find(loop)
    for _ in range(_between(s, at, to)):
        at = s.forward(at)
        around = at.parent()
        s = reorder(s, around) if isinstance(around.stmt, For) else lift_scope(s, at)
    return s


@checked
def apart(s: Schedule, gap: Place, to: str | Cursor) -> Schedule:
    """Cuts everything around a place in two, up to the body of the loop `to`."""
    for _ in range(_between(s, s.forward(gap.at), to)):
        around = s.forward(gap.at).parent()
        s = fission(s, gap)
        gap = s.forward(around).after
    return s


@checked
def spread(s: Schedule, alloc: Where, to: str | Cursor) -> Schedule:
    """Moves an allocation out to the body of the loop `to`. Each iteration of the loops on the way gets an element of
    its own, so that they can then be cut, or be run by different threads."""
    at = s.find(alloc)
    for _ in range(_between(s, at, to)):
        at = s.forward(at)
        around = at.parent().stmt
        if isinstance(around, For):
            trips = literal(subtract(around.hi, around.lo))
            if trips is None:
                raise limit(f"the trip count of `{around.var}` is not a literal", around.span)
            s = expand_dim(s, at, trips, subtract(Var(around.var), around.lo))
        s = lift_alloc(s, s.forward(at))
    return s


@checked
def spread_scalar(s: Schedule, alloc: Where, to: str | Cursor) -> Schedule:
    """As `spread`, for a buffer of one element: only the dimensions of the loops remain."""
    at = s.find(alloc)
    s = spread(s, at, to)
    return join_dims(s, s.forward(at), -2)


def _between(s: Schedule, at: Cursor, to: str | Cursor) -> int:
    """How many statements are between a statement and one around it."""
    outer = at.around(to) if isinstance(to, str) else s.forward(to)
    if at.path[: len(outer.path)] != outer.path:
        raise limit(f"`{outer}` is not around `{at}`", at.stmt.span)
    return (len(at.path) - len(outer.path)) // 2 - 1


@checked
def unguarded(s: Schedule, where: Where) -> Schedule:
    """Drops every `if` around a statement up to the first loop."""
    at = s.find(where)
    while isinstance((around := s.forward(at).parent()).stmt, If):
        s = drop_guard(s, around)
    return s


# -- tiles -------------------------------------------------------------------------------------------------------------


@checked
def tile(s: Schedule, *loops: tuple[str, int, str]) -> Schedule:
    """Cuts nested loops, each the whole body of the one before, into tiles: `("m", 128, "tm")` makes `m` a loop over
    128 and puts the loop `tm` over tiles outside. The loops over tiles come first, and guards for their edges last."""
    for n, (loop, size, name) in enumerate(loops):
        s = divide(s, loop, size, tail="guard", names=(name, loop))
        if n:
            s = outwards(s, name, loops[n - 1][2])
            s = outwards(s, loop, loops[n - 1][0])
    return s


@checked
def sums_apart(s: Schedule, name: str, loop: Where, to: str | Cursor) -> Schedule:
    """Three nests in the body of the loop `to`: the first clears sums, in the second `loop` adds to them, the third
    uses them. `name`: the buffer with the one sum of an iteration."""
    adding = s.find(loop)
    s = spread_scalar(s, name, to)
    clear = s.find(f"{name}[_] = _")
    s = apart(s, clear.after, to)
    s = unguarded(s, clear)
    return apart(s, s.forward(adding).after, to)


@checked
def clear_first(s: Schedule, name: str, *nest: str) -> Schedule:
    """Moves the nest that clears sums into the first iteration of the loop after it, and there into the nest that adds
    to them: through the loops `nest`, which both have, into the first iteration of the next loop."""
    clear = s.find(f"{name}[_] = _")
    s = into_loop(s, clear.around(nest[0]))
    for loop in nest:
        s = lift_scope(s, s.find(clear).around(loop))
        s = fuse(s, s.find(clear).around(loop))
    return into_loop(s, s.find(clear).around(nest[-1]).body()[0])


# -- parallel ----------------------------------------------------------------------------------------------------------


@checked
def modes(s: Schedule, mode: Mode, *names: str) -> Schedule:
    """Sets how loops are executed: all those with one of the names, or with a name made from it by a number."""
    for stmt in walk(s.proc.body):
        if isinstance(stmt, For) and (stmt.var in names or stem(stmt.var) in names):
            s = set_mode(s, stmt.var, mode)
    return s


@checked
def pipeline(
    s: Schedule, fills: Sequence[tuple[str, Where, Instr]], depth: int, releases: int, names: tuple[str, str]
) -> Schedule:
    """Fills buffers in shared memory asynchronously, in a ring of `depth` stages.

    `fills`: for each buffer the statements that fill it, which stand one after the other, and the instruction that is
    proved to do the same. `names` are those of two barriers: a stage is filled when the first has all its bytes, and
    free again after `releases` arrivals on the second, which the users of a stage make. The label of the filling
    statements is the name of the first.
    """
    full, empty = names
    places = [s.find(where) for _, where, _ in fills]
    s = mbarrier(s, full, ring=depth, count=1)
    s = mbarrier(s, empty, ring=depth, count=releases)
    for place, (buffer, _, instr) in zip(places, fills, strict=True):
        s = ring_buffer(s, buffer, depth)
        s = replace(s, place, instr, barrier=full)
    bytes = sum(_bytes_of_a_cta(s, buffer) for buffer, _, _ in fills)
    s = insert(s, s.find(places[0]).before, wait(empty, lag=depth))
    s = insert(s, s.find(places[-1]).after, arrive(full, tx=bytes))
    return label(s, full, s.find(places[0]).prev().until(s.find(places[-1]).next()))


def _bytes_of_a_cta(s: Schedule, name: str) -> int:
    """The bytes of a buffer that are in one CTA: in a kernel for clusters, the first dimension is over CTAs."""
    alloc = s.find(name).stmt
    assert isinstance(alloc, Alloc)
    return alloc.dtype.bytes * prod(alloc.shape[1:] if s.proc.block.clustered else alloc.shape)


@checked
def warp_specialise(
    s: Schedule, parts: Mapping[str, Sequence[Where]], units: Mapping[str, IndexLike] | None = None
) -> Schedule:
    """Lets each role execute its parts of the procedure; with `units`, the unit of it that has this number."""
    for role, places in parts.items():
        for where in places:
            s = assign_role(s, where, role, (units or {}).get(role))
    return s


@checked
def once(s: Schedule, where: Where, name: str = "t") -> Schedule:
    """Lets one thread execute statements."""
    return unit_loop(s, where, name, 1)


@checked
def through_shared(
    s: Schedule, where: Where, part: WindowLike, name: str, memory: Memory, *, fill: Instr, drain: Instr
) -> Schedule:
    """Lets statements that assign to a window of a tensor, as far as it is in bounds, assign to a tile in shared memory
    with the instruction `fill`, which `drain` then stores."""
    s = stage(s, where, part, name, memory, edges="guard", before="nothing")
    s = unguarded(s, f"{name}[_] = _")
    rank = len(_shape(s, name))
    s = replace(s, s.find(f"{name}[_] = _").parent(rank), fill)
    return replace(s, f"{name}.store", drain)


def _shape(s: Schedule, name: str) -> tuple[int, ...]:
    alloc = s.find(name).stmt
    assert isinstance(alloc, Alloc)
    return alloc.shape
