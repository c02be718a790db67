"""Preparing a statement tree for lowering: projection onto a role, textual unrolling, constant folding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exogpu.codegen.fold import Facts, Interval, interval, simplify, simplify_cond
from exogpu.codegen.rewrite import Rewriter, rewrite_leaf
from exogpu.ir.index import Bool, Cond, Index, Int
from exogpu.ir.instr import InOrder
from exogpu.ir.proc import MAX_SIZE, Proc, SizeArg
from exogpu.ir.stmt import Alloc, Arrive, Assign, Await, Block, Fence, For, If, InstrCall, Role, Stmt, Unroll, Window
from exogpu.ir.types import Rmem
from exogpu.ir.walk import children, reads, substitute_cond, substitute_index, walk, with_blocks


def project(block: Block, role: str | None) -> Block:
    """The statements that threads of `role` execute (None: all of a procedure without roles), without allocations
    and control structures that nothing in them needs."""
    kept = _select(block, role)
    used = frozenset(name for stmt in walk(kept) for name in _buffers(stmt))
    return _without_unused(kept, used)


def _select(block: Block, role: str | None) -> Block:
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Role(name) if name != role:
                pass
            case For() | Role() | If():
                blocks = [_select(inner, role) for inner in children(stmt)]
                if any(blocks):
                    out.append(with_blocks(stmt, blocks))
            case _:
                out.append(stmt)
    return tuple(out)


def _without_unused(block: Block, used: frozenset[str]) -> Block:
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Alloc(name):
                out += (stmt,) if name in used else ()
            case For() | Role() | If():
                blocks = [_without_unused(inner, used) for inner in children(stmt)]
                if any(blocks):
                    out.append(with_blocks(stmt, blocks))
            case _:
                out.append(stmt)
    return tuple(out)


def _buffers(stmt: Stmt) -> frozenset[str]:
    match stmt:
        case Assign(buffer, _, _, rhs):
            return frozenset((buffer, *(read.buffer for read, _ in reads(rhs))))
        case InstrCall(_, operands):
            return frozenset(arg.buffer for _, arg in operands if isinstance(arg, Window))
        case _:
            return frozenset()


def size_facts(proc: Proc) -> dict[str, Interval]:
    """What is known of the size arguments: 0 <= size <= MAX_SIZE."""
    return {a.name: Interval(0, MAX_SIZE) for a in proc.args if isinstance(a, SizeArg)}


def loop_interval(lo: Index, hi: Index, facts: Facts) -> Interval:
    """The values that a loop variable takes."""
    last = interval(hi, facts).hi
    return Interval(interval(lo, facts).lo, None if last is None else last - 1)


def specialise(block: Block, facts: Facts, env: Mapping[str, Index] | None = None) -> Block:
    """`block` with constants folded, decided branches taken, and loops that must be unrolled in the text replaced by
    one loop for each iteration, in whose body the variable is a literal."""
    known = env or {}
    by = _rewriter(facts, known)
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case For(var, lo, hi, mode, body):
                low, high = by.index(lo), by.index(hi)
                if isinstance(mode, Unroll) and must_expand(body) and isinstance(low, Int) and isinstance(high, Int):
                    for v in range(low.value, high.value):
                        once = specialise(body, facts, {**known, var: Int(v)})
                        out += [replace(stmt, lo=Int(v), hi=Int(v + 1), body=once)] if once else []
                    continue
                inner = specialise(body, {**facts, var: loop_interval(low, high, facts)}, known)
                if inner:
                    out.append(replace(stmt, lo=low, hi=high, body=inner))
            case If(cond, then, orelse):
                test = by.cond(cond)
                if isinstance(test, Bool):
                    out += specialise(then if test.value else orelse, facts, known)
                else:
                    branches = specialise(then, facts, known), specialise(orelse, facts, known)
                    out.append(replace(stmt, cond=test, then=branches[0], orelse=branches[1]))
            case Role(_, body, index=unit):
                unit = None if unit is None else by.index(unit)
                out.append(replace(stmt, body=specialise(body, facts, known), index=unit))
            case _:
                out.append(rewrite_leaf(stmt, by))
    return tuple(out)


def _rewriter(facts: Facts, env: Mapping[str, Index]) -> Rewriter:
    def index(e: Index) -> Index:
        return simplify(substitute_index(e, env), facts)

    def cond(c: Cond) -> Cond:
        return simplify_cond(substitute_cond(c, env), facts)

    return Rewriter(index, cond)


def must_expand(body: Block) -> bool:
    """Whether an unrolled loop is written out: its body synchronises, allocates in a ring, or names accumulator
    registers, so that each iteration needs text of its own. Other loops are left to the C++ compiler."""
    return any(_needs_text(stmt) for stmt in walk(body))


def _needs_text(stmt: Stmt) -> bool:
    match stmt:
        case Arrive() | Await() | Fence() | Role():
            return True
        case Alloc(memory=memory):
            return not isinstance(memory, Rmem)
        case InstrCall(instr):
            return instr.aligned or instr.effect is not None or not isinstance(instr.completion, InOrder)
        case Assign(_, _, _, _) | For() | If():
            return False
