"""Statements as C++ statements, for one role's program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exogpu.codegen.counters import Path, Use
from exogpu.codegen.cuda.tree import (
    Apply,
    Binary,
    Branch,
    Convert,
    Declare,
    Do,
    Expr,
    IntLit,
    Loop,
    Name,
    Node,
    Scope,
    Set,
    Turn,
)
from exogpu.codegen.fold import Interval
from exogpu.codegen.lower.advance import advance, count_name
from exogpu.codegen.lower.emit_instr import lower_instruction
from exogpu.codegen.lower.place import address_name, bytes_name, place, register_count
from exogpu.codegen.lower.role import role_team
from exogpu.codegen.lower.state import C_TYPES, State, barrier_address, parity_expr, slot_expr, swizzle_of
from exogpu.codegen.lower.tasks import ORDINAL as TASK_ORDINAL
from exogpu.codegen.lower.tasks import task_loop
from exogpu.codegen.lower.team import CTA_RANK, add, cta, plus, split, starts_warps, times
from exogpu.codegen.lower.turns import is_turn, sole_turn, units
from exogpu.codegen.lower.value import Typed, converted, narrowed, values_at, widened
from exogpu.codegen.specialise import loop_interval, must_expand
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.collective import WARP
from exogpu.ir.index import ORDINAL, Bin, Int
from exogpu.ir.pools import storage
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    Fence,
    For,
    If,
    InstrCall,
    Point,
    Range,
    Role,
    Seq,
    Stmt,
    Tasks,
    Threads,
    Unroll,
)
from exogpu.ir.types import FRAGMENTS, Rmem, Smem, WgmmaA
from exogpu.ir.value import Arith, Read
from exogpu.ir.value_type import computed
from exogpu.ir.walk import index_names, walk
from exogpu.source import Span

REGISTER_ALIGNMENT = 16


def lower_block(state: State, block: Sequence[Stmt], path: Path) -> tuple[Node, ...]:
    """The statements of a block, then the counters that advance at its end."""
    turn = None if state.turn is not None else sole_turn(block, state.facts)
    if turn is not None:
        return _turn(state, turn, block, path)
    nodes: list[Node] = []
    for i, stmt in enumerate(block):
        here = (*path, i)
        if isinstance(stmt, Alloc) and isinstance(stmt.memory, FRAGMENTS):
            state = replace(state, fragments=(*state.fragments, stmt.name))
        nodes += _idle(state, stmt, here) if state.idle else _statement(state, stmt, here)
        for step in state.plan.after.get(here, ()):
            if not step.by_first or isinstance(stmt, InstrCall):
                nodes += advance(step.counter)
    for counter in state.plan.at_end.get(path, ()):
        nodes += advance(counter)
    return tuple(nodes)


def _statement(state: State, stmt: Stmt, path: Path) -> list[Node]:
    match stmt:
        case Assign():
            return [_assign(state, stmt)]
        case Alloc():
            return _alloc(state, stmt, path)
        case For():
            return _loop(state, stmt, path)
        case If(cond, then, orelse):
            branches = (lower_block(state, block, (*path, n)) for n, block in enumerate((then, orelse)))
            return [Branch(state.indices.cond(cond), *branches)]
        case Role(name, body, index=None):
            return list(lower_block(state.with_team(role_team(state.proc, name)), body, path))
        case Role():
            return _unit(state, stmt, path)
        case InstrCall():
            return lower_instruction(state, stmt, state.plan.uses.get(path))
        case Fence():
            return _fence(state, stmt.span)
        case Arrive():
            return _arrive(state, stmt, path)
        case Await():
            return _await(state, stmt, state.use(path))


def _idle(state: State, stmt: Stmt, path: Path) -> list[Node]:
    """What a unit does instead of a statement that another one executes: it counts."""
    match stmt:
        case For() | If() | Role():
            return _statement(state, stmt, path)
        case InstrCall():
            return []  # whoever executes an instruction counts behind it
        case _:
            return _by_first(state, path)


def _turn(state: State, role: Role, block: Sequence[Stmt], path: Path) -> tuple[Node, ...]:
    """A block that one unit of a role executes: the others only count what it does."""
    assert role.index is not None
    test = is_turn(state, units(state, role.name), role.index)
    mine = replace(state, turn=role.index)
    body = lower_block(mine, block, path)
    return body if test is None else (Turn(test, body, lower_block(replace(mine, idle=True), block, path)),)


def _unit(state: State, stmt: Role, path: Path) -> list[Node]:
    """The body for the unit whose turn it is, tested here if it has not been before."""
    assert stmt.index is not None
    parts = units(state, stmt.name)
    test = None if state.turn is not None else is_turn(state, parts, stmt.index)
    inside = replace(state.with_team(parts.team), turn=stmt.index)
    body = lower_block(inside, stmt.body, path)
    return list(body) if test is None else [Turn(test, body, lower_block(replace(inside, idle=True), stmt.body, path))]


def _assign(state: State, stmt: Assign) -> Node:
    target = place(state, stmt.buffer, stmt.index, stmt.span)
    dtype = state.buffers[stmt.buffer].dtype
    values = values_at(state)
    if stmt.op == "=":
        return Set(target, "=", narrowed(values.value(stmt.rhs, computed(dtype)), dtype))
    old = widened(target, dtype)
    kind = values.kind(Arith("+", Read(stmt.buffer, stmt.index), stmt.rhs), old.type)
    term = values.operand(stmt.rhs, kind)
    if kind is dtype:
        return Set(target, "+=", term)
    return Set(target, "=", narrowed(Typed(Binary("+", converted(old, kind), term), kind), dtype))


def _alloc(state: State, stmt: Alloc, path: Path) -> list[Node]:
    name, c_type = Name(stmt.name, user=True), C_TYPES[stmt.dtype]
    match stmt.memory:
        case Smem():
            return _shared(state, stmt, state.use(path), c_type)
        case Rmem():
            count = register_count(state.buffers[stmt.name])
            align = REGISTER_ALIGNMENT if count * stmt.dtype.bytes % REGISTER_ALIGNMENT == 0 else None
            return [Declare(c_type, name, extent=count, align=align)]
        case memory:
            c_type = "unsigned" if isinstance(memory, WgmmaA) else c_type
            return [Declare(c_type, name, extent=register_count(state.buffers[stmt.name]))]


def _shared(state: State, stmt: Alloc, use: Use, c_type: str) -> list[Node]:
    """Pointers to the buffer's slot; what nothing uses is dropped later."""
    placed = state.layout.buffers[stmt.name]
    slot = slot_expr(use)
    if placed.copies > 1:
        slot = add(times(state.team.member, placed.slots), slot)
    offset = plus(times(slot, placed.slot_bytes), placed.offset)
    start, address = add(Name("shared"), offset), add(Name("shared_base"), offset)
    nodes: list[Node] = [] if storage(state.proc.block, stmt) is None else [Do(Apply("new_storage", ()))]
    nodes.append(Declare("const unsigned", Name(address_name(stmt.name)), address))
    if swizzle_of(state.buffers[stmt.name]):
        return [*nodes, Declare("unsigned char* const", Name(bytes_name(stmt.name)), start)]
    typed = Convert(f"{c_type}*", start, "reinterpret_cast")
    return [*nodes, Declare(f"{c_type}* const", Name(stmt.name, user=True), typed)]


def _loop(state: State, stmt: For, path: Path) -> list[Node]:
    inner = state.with_variable(stmt.var, loop_interval(stmt.lo, stmt.hi, state.facts))
    match stmt.mode:
        case Threads(unit):
            return _threads(inner, stmt, unit, path)
        case Tasks():
            return _tasks(state, stmt, path)
        case Unroll() if _single(stmt):
            return [Scope(lower_block(inner, stmt.body, path))]
        case Unroll():
            unroll = -1
        case Seq():
            unroll = 1 if must_expand(stmt.body) else 0
    bounds = (state.indices.expr(stmt.lo), state.indices.expr(stmt.hi))
    return [Loop(Name(stmt.var, user=True), *bounds, IntLit(1), lower_block(inner, stmt.body, path), unroll)]


def _single(stmt: For) -> bool:
    return isinstance(stmt.lo, Int) and isinstance(stmt.hi, Int) and stmt.hi.value == stmt.lo.value + 1


def _threads(state: State, stmt: For, unit: int, path: Path) -> list[Node]:
    lo, hi = stmt.lo, stmt.hi
    if not isinstance(lo, Int) or not isinstance(hi, Int):
        raise BadInput((Diagnostic("unsupported", "the bounds of a thread loop are literals", stmt.span),))
    block = state.proc.block
    if block.clustered and unit == block.threads and state.team.size == block.threads * block.cluster:
        return _ctas(state, stmt, lo.value, hi.value, path)
    parts = split(state.team, lo.value, hi.value, unit)
    value = IntLit(lo.value) if parts.value is None else parts.value
    body = lower_block(state.with_team(parts.team), stmt.body, path)
    nodes: tuple[Node, ...] = (Declare("const int", Name(stmt.var, user=True), value), *body)
    return [Branch(parts.takes_part, nodes)] if parts.takes_part is not None else [Scope(nodes)]


def _ctas(state: State, stmt: For, lo: int, hi: int, path: Path) -> list[Node]:
    """A loop over the CTAs of the cluster: each runs the iteration of its own number."""
    block = state.proc.block
    inner = replace(state.with_team(cta(block.threads)), own_cta=(*state.own_cta, stmt.var))
    body = lower_block(inner, stmt.body, path)
    nodes: tuple[Node, ...] = (Declare("const int", Name(stmt.var, user=True), CTA_RANK), *body)
    tests = [Binary(">=", CTA_RANK, IntLit(lo))] * (lo > 0) + [Binary("<", CTA_RANK, IntLit(hi))] * (hi < block.cluster)
    if not tests:
        return [Scope(nodes)]
    return [Branch(tests[0] if len(tests) == 1 else Binary("&&", *tests), nodes)]


def _tasks(state: State, stmt: For, path: Path) -> list[Node]:
    """The whole nest of task loops at once."""
    loops = [stmt]
    while len(loops[-1].body) == 1 and isinstance(inner := loops[-1].body[0], For) and isinstance(inner.mode, Tasks):
        loops.append(inner)
        path = (*path, 0)
    numbered = any(
        isinstance(s, Role) and s.index is not None and ORDINAL in index_names(s.index) for s in walk((stmt,))
    )
    names = {**state.names, ORDINAL: TASK_ORDINAL if state.proc.block.persistent else IntLit(0)}
    inside = replace(state.with_variable(ORDINAL, Interval(0, None)), names=names)
    for loop in loops:
        inside = inside.with_variable(loop.var, loop_interval(loop.lo, loop.hi, inside.facts))
    body = lower_block(inside, loops[-1].body, path)
    return task_loop(state.indices, state.proc.block, loops, body, numbered)


def _fence(state: State, span: Span) -> list[Node]:
    team = state.team
    if team.size == 1:
        return []
    block = state.proc.block
    if block.cluster > 1 and team.size == block.threads * block.cluster:
        return [Do(Apply("cluster_barrier", ()))]
    if team.size == block.threads and all(first % block.threads == 0 for first in team.firsts):
        return [Do(Apply("__syncthreads", ()))]
    if any(first // block.threads != (first + team.size - 1) // block.threads for first in team.firsts):
        message = f"no barrier exists for a group of {team.size} threads of several CTAs"
        raise BadInput((Diagnostic("unsupported", message, span, help="use the whole cluster, or parts of one CTA"),))
    if team.size < WARP and WARP % team.size == 0 and all(first % team.size == 0 for first in team.firsts):
        first = Binary("&", Name("lane"), IntLit(WARP - team.size))
        return [Do(Apply("__syncwarp", (Binary("<<", IntLit((1 << team.size) - 1, "u"), first),)))]
    if team.size % WARP or not starts_warps(team):
        message = f"no barrier exists for a group of {team.size} threads"
        message += "" if team.size % WARP else " that does not start at a warp"
        raise BadInput((Diagnostic("unsupported", message, span, help="use whole warps, or a power of two below 32"),))
    if team.size == WARP:
        return [Do(Apply("__syncwarp", ()))]
    number = plus(team.member, state.gathered.barriers.teams[team.firsts, team.size])
    return [Do(Apply("named_barrier", (number, IntLit(team.size))))]


def _arrive(state: State, stmt: Arrive, path: Path) -> list[Node]:
    address = barrier_address(state, stmt.barrier, state.use(path))
    bytes_ = () if stmt.tx is None else (state.indices.expr(stmt.tx),)
    name = "mbarrier_arrive" if stmt.tx is None else "mbarrier_arrive_expect"
    if stmt.ctas is None:
        nodes: list[Node] = [Do(Apply(name, (address, *bytes_)))]
    else:
        order = "_relaxed" if stmt.relaxed else ""
        nodes = [Do(Apply(f"{name}{order}_at", (address, cta, *bytes_))) for cta in _targets(state, stmt.ctas)]
    return _by_first(state, path, nodes)


def _by_first(state: State, path: Path, nodes: Sequence[Node] = ()) -> list[Node]:
    """What the first thread of a team does, and the counters that it advances."""
    steps = [step for step in state.plan.after.get(path, ()) if step.by_first]
    nodes = [*nodes, *(n for step in steps for n in advance(step.counter))]
    if state.team.size == 1 or not nodes:
        return nodes
    return [Branch(Binary("==", state.team.thread, IntLit(0)), tuple(nodes))]


def _targets(state: State, ctas: Point | Range) -> list[Expr]:
    match ctas:
        case Point(index):
            return [state.indices.expr(index)]
        case Range(lo, extent):
            return [state.indices.expr(Bin("+", lo, Int(n))) for n in range(extent)]


def _await(state: State, stmt: Await, use: Use) -> list[Node]:
    if use.counter is None and use.skip:
        return []
    name = "mbarrier_wait_cluster" if stmt.barrier in state.gathered.remote else "mbarrier_wait"
    wait = Do(Apply(name, (barrier_address(state, stmt.barrier, use), parity_expr(use))))
    if use.counter is None or not use.skip:
        return [wait]
    return [Branch(Binary(">=", count_name(use.counter), IntLit(use.skip)), (wait,))]
