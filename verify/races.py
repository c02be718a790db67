"""Ordering obligations: every two conflicting accesses are happens-before ordered in their sequential order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.instr import Group, Mode, Proxy
from exogpu.ir.types import FRAGMENTS, Gmem, Smem
from exogpu.smt.index import to_poly
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Env, Occurrence, Unrolling
from exogpu.verify.instance import LANE, WARP_OF_UNIT, Instance, Model
from exogpu.verify.needs import FenceKind, Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases, barrier_cta
from exogpu.verify.pipeline import of_one_shape
from exogpu.verify.program import Access, Buffer, Event, ExitAction, InGroup, Program, TxOn
from exogpu.verify.single import Property


@dataclass(frozen=True, slots=True)
class Use:
    """One access of one event."""

    event: Event
    access: Access


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair of statements that may touch one element, and the rule that its violation breaks. `divided`: the same if
    each warp of a warpgroup reads its own rows of a wgmma's operand alone (F5); None if that makes no difference."""

    first: Use
    second: Use
    buffer: Buffer
    rule: str
    goal: Goal
    divided: Conflict | None = None

    @property
    def reuses(self) -> bool:
        """The second access is to another buffer, which has common storage with the first one's."""
        return self.second.access.buffer != self.buffer.name


def conflicts(program: Program) -> Iterator[Conflict]:
    """Every ordered pair of accesses with at least one write, per buffer, and every asynchronous access at exit."""
    uses: dict[str, list[Use]] = {}
    for event in program.events:
        for access in event.accesses:
            uses.setdefault(access.buffer, []).append(Use(event, access))
    for name, found in uses.items():
        buffer = program.buffers[name]
        if not isinstance(buffer.memory, (Smem, Gmem, *FRAGMENTS)):
            continue  # thread-private registers: `ownership` shows that one thread makes every access
        for n, first in enumerate(found):
            # without a sequential order one question covers both orders
            for second in found if program.sequential else found[n:]:
                if conflicting(first.access, second.access):
                    yield either_reading(partial(pair, program, buffer), first, second)
    exits = [e for e in program.events if isinstance(e.action, ExitAction)]
    for name, found in uses.items() if program.sequential else ():
        buffer = program.buffers[name]
        if isinstance(buffer.memory, Smem):
            for use in found:
                if use.event.completion is not None or buffer.per_cta:
                    yield _at_exit(program, buffer, use, exits[0])


def conflicting(a: Access, b: Access) -> bool:
    """At least one writes, and they are not the same reduction; any use of a register by its thread and one by wgmma
    (PTX ISA, wgmma.fence and wgmma.wait_group)."""
    if Proxy.REGISTER in (a.proxy, b.proxy) and a.proxy is not b.proxy:
        return True
    if a.mode is Mode.READ and b.mode is Mode.READ:
        return False
    return not (a.mode is Mode.REDUCE and b.mode is Mode.REDUCE and a.proxy is b.proxy)


def either_reading(ordered: Callable[[Use, Use], Conflict], first: Use, second: Use) -> Conflict:
    """The conflict of two uses whose wgmmas may read all of their operands in every warp, and as F5 has it."""
    whole = ordered(_undivided(first), _undivided(second))
    if (whole.first, whole.second) == (first, second):
        return whole
    return replace(whole, divided=ordered(first, second))


def _undivided(use: Use) -> Use:
    if use.access.proxy is not Proxy.ASYNC or use.access.warp_dim is None:
        return use
    return replace(use, access=replace(use.access, warp_dim=None))


def pair(program: Program, buffer: Buffer, first: Use, second: Use) -> Conflict:
    """The conflict of two uses, whichever comes first."""
    needs = ordering_needs(program, buffer, first, second)
    name = f"{buffer.name}/{first.event.id}-{second.event.id}"
    alike = not program.sequential and first == second  # which of the two is x does not matter

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        parts = [
            model.before(x, y) if program.sequential else model.different(x, y),
            model.same_task(x, y),
            model.overlap(x, first.access, y, second.access),
        ]
        if alike:
            parts.append(model.ctx.api.negate(model.before(y, x)))
        match buffer.memory:
            case Smem() if buffer.alloc is None:
                pass
            case Smem(ring=ring):
                distance = phases.slot(y, buffer.name) - phases.slot(x, buffer.name)
                parts.append(model.ctx.eq(model.ctx.mod(distance, ring), 0))
                if buffer.selection is not None:
                    owners = [to_poly(model.ctx, buffer.selection.index, i.env) for i in (x, y)]
                    parts.append(model.ctx.eq(*owners))
            case Gmem():
                parts.append(model.same_coordinates(x, y))
            case _:
                # registers: a lane shares elements only with itself
                parts.append(model.same_thread(x.threads, y.threads))
        return model.ctx.api.conj(parts)

    def check(unrolling: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        if isinstance(buffer.memory, FRAGMENTS) and not set(x.threads) & set(y.threads):
            return False
        paired = x.key < y.key if program.sequential else (x.event, x.env) != (y.event, y.env)
        if alike and y.key < x.key:
            return False
        return paired and _touch_in_common(unrolling, buffer, x, first.access, y, second.access)

    back = None if program.sequential else ordering_needs(program, buffer, second, first)
    goal = Goal(name, first.event, second.event, condition, check, needs, back)
    return Conflict(first, second, buffer, _rule(buffer, first, second, needs), goal)


def ordering_needs(program: Program, buffer: Buffer, first: Use, second: Use) -> Needs:
    """What a path from the first access to the second must do."""
    a, b = first.access, second.access
    bulk_read = isinstance(first.event.completion, InGroup) and first.event.completion.group is Group.BULK
    both = a.proxy is Proxy.ASYNC and b.proxy is Proxy.ASYNC
    fence: FenceKind | None = None
    if a.proxy is Proxy.GENERIC and b.proxy is Proxy.ASYNC:
        fence = FenceKind.GLOBAL if isinstance(buffer.memory, Gmem) else FenceKind.SHARED
    elif b.proxy is Proxy.REGISTER:
        fence = FenceKind.REGISTER
    return Needs(
        fence=fence,
        reads_only=bulk_read and a.mode is Mode.READ,
        both_async=both,
        overwrites=both and b.mode is not Mode.READ and isinstance(buffer.memory, Smem) and program.cluster > 1,
        abroad=both and program.cluster > 1 and _leaves_home(buffer, first, second),
        axioms=_completion_axioms(first) | _issue_axioms(second),
        home=b.dims[0][0] if buffer.per_cta and isinstance(buffer.memory, Smem) else None,
        apart=a.proxy is b.proxy is Proxy.REGISTER and Mode.READ in (a.mode, b.mode),
    )


def _leaves_home(buffer: Buffer, first: Use, second: Use) -> bool:
    """Asynchronous accesses of two CTAs can meet: in global memory, or where a copy goes to other CTAs."""
    return isinstance(buffer.memory, Gmem) or any(barrier_cta(u.event) is not None for u in (first, second))


def _completion_axioms(use: Use) -> frozenset[str]:
    """What it takes to see an asynchronous access as done."""
    match use.event.completion:
        case InGroup(Group.WGMMA) if use.access.proxy is Proxy.ASYNC:
            return frozenset(("L5",))
        case TxOn():
            return frozenset(("L7",))
        case _:
            return frozenset()


def _issue_axioms(use: Use) -> frozenset[str]:
    """What it takes for an asynchronous access to start after what its thread did before."""
    wgmma = isinstance(use.event.completion, InGroup) and use.event.completion.group is Group.WGMMA
    return frozenset(("F6",)) if wgmma and use.access.proxy is Proxy.ASYNC else frozenset()


def _rule(buffer: Buffer, first: Use, second: Use, needs: Needs) -> str:
    if isinstance(buffer.memory, FRAGMENTS):
        chained = of_one_shape(first.event, second.event)
        return "wgmma.reg_inflight" if needs.fence is None or chained else "wgmma.reg_fence"
    if needs.fence is not None:
        return "proxy.generic_to_async"
    return hazard(first.access, second.access)


def hazard(first: Access, second: Access) -> str:
    """race.raw, race.war or race.waw."""
    if second.mode is Mode.READ:
        return "race.raw"
    return "race.war" if first.mode is Mode.READ else "race.waw"


def _at_exit(program: Program, buffer: Buffer, use: Use, exit_event: Event) -> Conflict:
    """Shared memory of a CTA is not touched after its end: by operations in flight, or by another CTA."""

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        if not buffer.per_cta:
            return model.ctx.api.literal(True)
        lo, extent = model.box(x, use.access)[0]
        here = phases.own_cta(y)
        inside = model.ctx.between(lo, here, lo + extent)
        if use.event.completion is not None:
            return inside
        return model.ctx.api.conj((inside, model.ctx.api.negate(model.ctx.eq(phases.own_cta(x), here))))

    def check(unrolling: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        if not buffer.per_cta:
            return x.key < y.key
        here = y.first // program.threads
        remote = use.event.completion is not None or x.first // program.threads != here
        return x.key < y.key and remote and here in concrete_box(x, use.access)[0]

    needs = Needs(reads_only=use.access.mode is Mode.READ, axioms=_completion_axioms(use))
    rule = (
        "cluster.exit" if use.event.completion is None or barrier_cta(use.event) is not None else "race.async_inflight"
    )
    goal = Goal(f"{buffer.name}/{use.event.id}-exit", use.event, exit_event, condition, check, needs)
    return Conflict(use, Use(exit_event, use.access), buffer, rule, goal)


# -- the same questions on concrete instances ------------------------------------------------------------------------


def _touch_in_common(unrolling: Unrolling, buffer: Buffer, x: Occurrence, a: Access, y: Occurrence, b: Access) -> bool:
    if isinstance(buffer.memory, Smem) and buffer.alloc is not None:
        distance = unrolling.executions(buffer.alloc, y) - unrolling.executions(buffer.alloc, x)
        if distance % buffer.memory.ring:
            return False
        if buffer.selection is not None:
            index = buffer.selection.index
            if evaluate(index, x.env) != evaluate(index, y.env):
                return False
    return boxes_meet(buffer, unrolling.sizes, x, a, y, b)


def happens(x: Occurrence, access: Access) -> bool:
    """The access's own conditions hold."""
    return all(holds(g, x.env) for g in access.guards)


def boxes_meet(buffer: Buffer, sizes: Env, x: Occurrence, a: Access, y: Occurrence, b: Access) -> bool:
    """Both accesses happen and share an element of the buffer."""
    if not (happens(x, a) and happens(y, b)):
        return False
    shape = [evaluate(e, sizes) for e in buffer.shape]
    clip = a.clipped or b.clipped
    return all(
        common_range(p, q, extent if clip else None)
        for p, q, extent in zip(concrete_box(x, a), concrete_box(y, b), shape, strict=True)
    )


def common_range(p: range, q: range, extent: int | None) -> range:
    """The common indices of two ranges, inside `0..extent` if given."""
    lo, hi = max(p.start, q.start), min(p.stop, q.stop)
    if extent is not None:
        lo, hi = max(lo, 0), min(hi, extent)
    return range(lo, max(lo, hi))


def concrete_box(x: Occurrence, access: Access) -> list[range]:
    """Indices touched per dimension."""
    out: list[range] = []
    for d, (lo, extent) in enumerate(access.dims):
        start, length = evaluate(lo, x.env), extent
        if access.warp_dim == d:
            warps = max(1, x.event.size // WARP)
            length = extent // warps
            start += x.env.get(WARP_OF_UNIT, x.env.get(LANE, 0) // WARP) * length
        out.append(range(start, start + length))
    return out


def cross_task(program: Program) -> Iterator[tuple[Buffer, Use, Use, Property]]:
    """No two tasks touch one element of global memory: they may run on different CTAs, which nothing orders."""
    for buffer in program.buffers.values():
        if not isinstance(buffer.memory, Gmem):
            continue
        found = [Use(e, a) for e in program.events for a in e.accesses if a.buffer == buffer.name]
        for n, first in enumerate(found):
            for second in found[n:]:
                if conflicting(first.access, second.access):
                    yield buffer, first, second, _different_tasks(program, buffer, first, second)


def commuting(program: Program, buffer: Buffer) -> Iterator[tuple[Goal, Property]]:
    """Pairs of reductions of a tensor that are no conflict: that they are ordered inside a task, and that no two
    tasks share an element."""
    found = [Use(e, a) for e in program.events for a in e.accesses if a.buffer == buffer.name]
    for first in found:
        for second in found:
            if first.access.mode is second.access.mode is Mode.REDUCE and first.access.proxy is second.access.proxy:
                yield pair(program, buffer, first, second).goal, _different_tasks(program, buffer, first, second)


def _different_tasks(program: Program, buffer: Buffer, first: Use, second: Use) -> Property:
    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        x, y = xs
        different = model.ctx.api.negate(model.same_coordinates(x, y))
        return model.ctx.api.conj((different, model.overlap(x, first.access, y, second.access)))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        x, y = xs
        if all(x.env[t.name] == y.env[t.name] for t in program.tasks):
            return False
        return boxes_meet(buffer, sizes, x, first.access, y, second.access)

    name = f"tasks/{buffer.name}/{first.event.id}-{second.event.id}"
    return Property(name, (first.event, second.event), bad, check, apart=True)
