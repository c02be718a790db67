"""Symbolic instances of events: their variables, domain, executors and order."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from exogpu.ir.collective import WARP
from exogpu.ir.index import BoolOp, Cmp, Cond, Int, Var
from exogpu.ir.proc import MAX_SIZE
from exogpu.ir.types import Gmem
from exogpu.smt.context import Context
from exogpu.smt.index import Env, to_formula, to_poly
from exogpu.smt.poly import ONE, ZERO, Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.derived import applied
from exogpu.verify.program import TASK, TASKS, Access, Applied, Event, Exec, Loop, Program

LANE = "$thread"
WARP_OF_UNIT = "$warp"


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive threads `first .. first + width - 1`; width 1 is one known thread."""

    first: Poly
    width: int


@dataclass(frozen=True, slots=True)
class Instance:
    """One execution of an event: values of its loop variables (and sizes), and the threads that perform it."""

    event: Event
    env: Mapping[str, Poly]
    threads: Span
    domain: Formula

    def __getitem__(self, name: str) -> Poly:
        return self.env[name]


class Model:
    """A program's sizes and their assumptions as solver terms; makes instances."""

    def __init__(self, ctx: Context, program: Program) -> None:
        self.ctx = ctx
        self.program = program
        self.sizes: dict[str, Poly] = {s: _size(ctx, s, least(program.requires, s)) for s in program.sizes}
        limit = None if program.persistent else 2
        self.sizes[TASKS] = ctx.fresh(TASKS, 0, limit)
        given = [to_formula(ctx, c, self.sizes) for c in program.requires]
        given += self._tensor_sizes() if program.sequential else []  # a skeleton says with `require` what it needs
        self.assumptions: Formula = ctx.api.conj((*given, self._task_count()))

    def on(self, ctx: Context) -> Model:
        """The same terms for a copy of the context."""
        out = copy.copy(self)
        out.ctx = ctx
        return out

    def _tensor_sizes(self) -> list[Formula]:
        """Tensor extents are valid array shapes."""
        ctx = self.ctx
        extents = [e for b in self.program.buffers.values() if isinstance(b.memory, Gmem) for e in b.shape]
        return [ctx.le(0, to_poly(ctx, e, self.sizes)) for e in extents]

    def _task_count(self) -> Formula:
        """A CTA walks no more tasks than the grid has."""
        ctx = self.ctx
        empty = [ctx.le(to_poly(ctx, t.hi, self.sizes), to_poly(ctx, t.lo, self.sizes)) for t in self.program.tasks]
        grid = ONE
        for t in self.program.tasks:
            grid = grid * ctx.trip(to_poly(ctx, t.lo, self.sizes), to_poly(ctx, t.hi, self.sizes))
        nothing = ctx.api.implies(ctx.api.disj(empty), ctx.eq(self.sizes[TASKS], 0))
        return ctx.api.conj((nothing, ctx.le(self.sizes[TASKS], grid)))

    def fresh(self, event: Event, tag: str, *, lanes: bool = False) -> Instance:
        """An arbitrary instance of an event; its variables are `tag.name`.

        With `lanes`, a warp-collective operation is taken lane by lane: as the later access of a pair it must be
        ordered in every lane.
        """
        ctx = self.ctx
        env: dict[str, Poly] = dict(self.sizes)
        for loop in event.loops:
            single = loop.var == TASK and not self.program.persistent
            env[loop.var] = ZERO if single else ctx.fresh(f"{tag}.{loop.var}")
        if TASK in env:
            for task in self.program.tasks:
                env[task.name] = self._coordinate(task.name, tag, env)
        if event.exec is Exec.EACH and event.size > 1:
            env[LANE] = ctx.fresh(f"{tag}.{LANE}", 0, event.size)
        if event.exec is Exec.WARPS:
            env[WARP_OF_UNIT] = ctx.fresh(f"{tag}.{WARP_OF_UNIT}", 0, event.size // WARP)
            if lanes:
                env[LANE] = ctx.fresh(f"{tag}.{LANE}", 0, WARP)
        return self.at(event, env)

    def _coordinate(self, name: str, tag: str, env: Env) -> Poly:
        """A coordinate of the task: any, or what its place in the walk determines."""
        meaning = self.program.derived.get(name)
        if isinstance(meaning, Applied):
            return applied(self.ctx, meaning, env)
        return self.ctx.fresh(f"{tag}.{name}")

    def whole(self, x: Instance) -> Instance:
        """A warp-collective operation, if x is a lane of one: done for all lanes when it is done for one."""
        if x.event.exec is not Exec.WARPS or LANE not in x.env:
            return x
        return self.at(x.event, {name: value for name, value in x.env.items() if name != LANE})

    def at(self, event: Event, env: Mapping[str, Poly]) -> Instance:
        """The instance with given variable values."""
        if self.program.derived:
            env = self._with_derived(event, env)
        return Instance(event, env, self._threads(event, env), self._domain(event, env))

    def _with_derived(self, event: Event, env: Mapping[str, Poly]) -> Mapping[str, Poly]:
        from exogpu.verify.counters import derived_values  # counts executions before instances

        return {**env, **derived_values(self, event, env, self._threads(event, env))}

    def _threads(self, event: Event, env: Env) -> Span:
        first = to_poly(self.ctx, event.first, env)
        match event.exec:
            case Exec.FIRST:
                return Span(first, 1)
            case Exec.EACH:
                return Span(first + env.get(LANE, ZERO), 1)
            case Exec.WARPS:
                warp = first + env[WARP_OF_UNIT] * WARP
                return Span(warp + env[LANE], 1) if LANE in env else Span(warp, WARP)
            case Exec.TOGETHER:
                return Span(first, event.size)

    def _domain(self, event: Event, env: Env) -> Formula:
        ctx = self.ctx
        parts = [self.inside(loop, env) for loop in event.loops]
        if TASK in env:
            for task in (t for t in self.program.tasks if t.name in env):
                lo, hi = to_poly(ctx, task.lo, env), to_poly(ctx, task.hi, env)
                parts.append(ctx.between(lo, env[task.name], hi))
        parts += self.lanes(event, env)
        parts += [to_formula(ctx, g, env) for g in event.guards]
        return ctx.api.conj(parts)

    def inside(self, loop: Loop, env: Env) -> Formula:
        """The iteration is one of the loop's."""
        lo, hi = (to_poly(self.ctx, e, env) for e in (loop.lo, loop.hi))
        self.ctx.compared(hi - 1 - env[loop.var])
        return self.ctx.between(lo, env[loop.var], hi)

    def lanes(self, event: Event, env: Env) -> Iterator[Formula]:
        """The lane or warp is one of the unit that executes the event."""
        if LANE in env:
            yield self.ctx.between(0, env[LANE], WARP if event.exec is Exec.WARPS else event.size)
        if WARP_OF_UNIT in env:
            yield self.ctx.between(0, env[WARP_OF_UNIT], event.size // WARP)

    # -- relations -----------------------------------------------------------------------------------------------

    def before(self, a: Instance, b: Instance) -> Formula:
        """`a` is strictly before `b` in the sequential order (and in program order, for a common thread)."""
        return self._lex(a, b, 0)

    def _lex(self, a: Instance, b: Instance, level: int) -> Formula:
        ctx = self.ctx
        left, right = a.event.path[level], b.event.path[level]
        if left.position != right.position:
            return ctx.api.literal(left.position < right.position)
        if left.loop is None or right.loop is None:
            return ctx.api.literal(False)
        i, j = a[left.loop.var], b[left.loop.var]
        deeper = self._lex(a, b, level + 1)
        return ctx.api.disj((ctx.lt(i, j), ctx.api.conj((ctx.eq(i, j), deeper))))

    def different(self, a: Instance, b: Instance) -> Formula:
        """They are not one execution; the lanes of a warp-collective operation are."""
        if a.event is not b.event:
            return self.ctx.api.literal(True)
        names = [loop.var for loop in a.event.loops]
        names += [n for n in (LANE, WARP_OF_UNIT) if n in a.env and (n != LANE or a.event.exec is Exec.EACH)]
        return self.ctx.api.negate(self.ctx.api.conj(self.ctx.eq(a[n], b[n]) for n in names))

    def same_thread(self, a: Span, b: Span) -> Formula:
        """Some thread belongs to both."""
        ctx = self.ctx
        if a.width == b.width == 1:
            return ctx.eq(a.first, b.first)
        return ctx.api.conj((ctx.le(a.first, b.first + (b.width - 1)), ctx.le(b.first, a.first + (a.width - 1))))

    def same_task(self, a: Instance, b: Instance) -> Formula:
        """Equal task coordinates if and only if equal ordinals, for two instances of one CTA."""
        ctx = self.ctx
        if TASK not in a.env or TASK not in b.env:
            return ctx.api.literal(True)
        coordinates = self.same_coordinates(a, b)
        ordinal = ctx.eq(a[TASK], b[TASK])
        return ctx.api.conj((ctx.api.implies(ordinal, coordinates), ctx.api.implies(coordinates, ordinal)))

    def same_coordinates(self, a: Instance, b: Instance) -> Formula:
        """The two instances belong to one task of the grid."""
        ctx = self.ctx
        return ctx.api.conj(ctx.eq(a[t.name], b[t.name]) for t in self.program.tasks)

    def box(self, x: Instance, access: Access) -> tuple[tuple[Poly, Poly], ...]:
        """(first, extent) per dimension, after division over the unit's warps."""
        ctx = self.ctx
        out: list[tuple[Poly, Poly]] = []
        for d, (lo, extent) in enumerate(access.dims):
            start, length = to_poly(ctx, lo, x.env), extent
            if access.warp_dim == d:
                warps = max(1, x.event.size // WARP)
                length = extent // warps
                start = start + self._warp_in_unit(x) * length
            out.append((start, lift(length)))
        return tuple(out)

    def _warp_in_unit(self, x: Instance) -> Poly:
        if WARP_OF_UNIT in x.env:
            return x.env[WARP_OF_UNIT]
        return self.ctx.floordiv(x.env.get(LANE, ZERO), WARP)

    def overlap(self, x: Instance, a: Access, y: Instance, b: Access) -> Formula:
        """The two rectangles share an element of the buffer."""
        ctx = self.ctx
        parts: list[Formula] = []
        for (p, m), (q, n) in zip(self.box(x, a), self.box(y, b), strict=True):
            if m == n == ONE:
                parts.append(ctx.eq(p, q))
            else:
                parts += [ctx.lt(p, q + n), ctx.lt(q, p + m)]
        for access, instance in ((a, x), (b, y)):
            parts += [to_formula(ctx, g, instance.env) for g in access.guards]
        if a.clipped or b.clipped:
            parts += self._overlap_inside(x, a, y, b)
        return ctx.api.conj(parts)

    def _overlap_inside(self, x: Instance, a: Access, y: Instance, b: Access) -> list[Formula]:
        """The common element lies inside the tensor: clipped accesses touch nothing outside."""
        ctx = self.ctx
        shape = self.program.buffers[a.buffer].shape
        parts: list[Formula] = []
        for (p, m), (q, n), extent in zip(self.box(x, a), self.box(y, b), shape, strict=True):
            size = to_poly(ctx, extent, self.sizes)
            parts += [ctx.lt(p, size), ctx.lt(q, size), ctx.lt(0, p + m), ctx.lt(0, q + n), ctx.lt(0, size)]
        return parts


def least(requires: Iterable[Cond], size: str) -> int:
    """The least value that preconditions such as `size >= 1` leave to a size."""
    return max((_least(c, size) for c in requires), default=0)


def _least(cond: Cond, size: str) -> int:
    match cond:
        case BoolOp("and", args):
            return least(args, size)
        case Cmp(">=", Var(name), Int(value)) | Cmp("<=", Int(value), Var(name)) if name == size:
            return max(0, value)
        case Cmp(">", Var(name), Int(value)) | Cmp("<", Int(value), Var(name)) if name == size:
            return max(0, value + 1)
        case _:
            return 0


def _size(ctx: Context, name: str, low: int) -> Poly:
    """A size, as what it exceeds its least value by: `max(size - 1, 0)` folds where `size >= 1`."""
    return ctx.fresh(f"({name}-{low})" if low else name, 0, MAX_SIZE + 1 - low) + low
