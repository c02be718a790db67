"""Well-formedness: what the front end checks after reading a procedure, and scheduling passes check of their results.

A procedure is well-formed if every name is declared once and used in its scope, roles partition the block, task
loops form one perfect nest outside everything else, data is touched inside it only, each statement is executed by a
collective of the size that it needs, and instructions get operands that satisfy their contracts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from exogpu.diagnostics import Diagnostic
from exogpu.ir.collective import WARP, WARPGROUP, whole
from exogpu.ir.index import ORDINAL, Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.literals import ranges
from exogpu.ir.named import kind_problems
from exogpu.ir.names import declarable
from exogpu.ir.operands import operand_problems
from exogpu.ir.placement import Place, count, misplaced
from exogpu.ir.pools import pool_problems
from exogpu.ir.proc import MAX_CLUSTER, UNSCHEDULED, Launch, Proc, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, For, InstrCall, Role, Stmt, Tasks
from exogpu.ir.types import ALLOCATED, Gmem, Scalar
from exogpu.ir.units import unit_problems
from exogpu.ir.uses import barriers, elements, indices
from exogpu.ir.value import ScalarFn
from exogpu.ir.value_type import type_problems, value_type
from exogpu.ir.walk import children, index_names, walk
from exogpu.source import NOWHERE, Span

MAX_THREADS = 1024

_COLLECTIVES = {"lang.collective", "lang.fence", "lang.threads"}
"""What a wrong block implies for statements."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names in scope at a statement."""

    variables: frozenset[str]
    barriers: frozenset[str]
    scalars: dict[str, Scalar]
    buffers: dict[str, BufferInfo] = field(default_factory=dict)

    @property
    def types(self) -> dict[str, Scalar]:
        """Element types of everything that a data expression can read."""
        return self.scalars | {name: info.dtype for name, info in self.buffers.items()}


def check(proc: Proc) -> tuple[Diagnostic, ...]:
    """Every violated rule; empty for a well-formed procedure."""
    if proc.block == UNSCHEDULED and proc.block.span == NOWHERE:
        text = f"`{proc.name}` is an algorithm: it says what is computed, and not by which threads"
        fix = "derive a kernel from it (docs/scheduling.md; `launch` gives it threads), or name it in `exogpu equiv`"
        return (Diagnostic("lang.block", text, proc.span, help=fix),)
    block, tasks = [*_block(proc.block)], [*_task_nest(proc)]
    problems = [
        *_names(proc),
        *_duplicates(proc),
        *_functions(proc),
        *block,
        *tasks,
        *ranges(proc),
        *pool_problems(proc.block, proc.body),
        *kind_problems(proc),
        *unit_problems(proc),
    ]
    implied = {"lang.outside_tasks"} if any(d.code == "lang.no_tasks" for d in tasks) else set[str]()
    implied |= _COLLECTIVES if block else set()
    names = _declared(proc)
    problems += _header(proc, names)
    placed = _placed(proc.body, Place(proc.block, whole(proc.block)), set())
    problems += (d for d in placed if d.code not in implied)
    problems += _statements(proc.body, names)
    return tuple(problems)


def check_meaning(proc: Proc) -> tuple[Diagnostic, ...]:
    """The violated rules that the sequential meaning needs: names, ranks, types and operands. Where statements stand
    and who executes them does not matter to it."""
    names = _declared(proc)
    first = (*_names(proc), *_duplicates(proc), *_functions(proc), *ranges(proc))
    return (*first, *_header(proc, names), *_statements(proc.body, names))


def _declared(proc: Proc) -> Names:
    return Names(
        frozenset(a.name for a in proc.args if isinstance(a, SizeArg)),
        frozenset([*(b.name for b in proc.barriers), *(b.name for b in proc.named)]),
        {a.name: a.dtype for a in proc.args if isinstance(a, ScalarArg)},
        {a.name: BufferInfo(a.dtype, Gmem(), a.shape) for a in proc.args if isinstance(a, TensorArg)},
    )


def _header(proc: Proc, names: Names) -> Iterator[Diagnostic]:
    for arg in proc.args:
        if isinstance(arg, TensorArg):
            yield from (d for extent in arg.shape for d in _index(extent, names.variables, arg.span))
            yield from _dimensions(arg.name, arg.shape, arg.span)
    for require in proc.requires:
        yield from _index(require.cond, names.variables, require.span)


def _dimensions(name: str, shape: Sequence[object], span: Span) -> Iterator[Diagnostic]:
    """Without an index an element would look like a scalar argument."""
    if not shape:
        text = f"`{name}` has no dimensions"
        yield Diagnostic("lang.rank", text, span, help="give it one of length 1, as in `f32[1]`")


def _placed(block: tuple[Stmt, ...], place: Place, said: set[str | None]) -> Iterator[Diagnostic]:
    """Misplaced statements; of those with the same wrong collective only the first (`said` are the fixes)."""
    for stmt in block:
        for problem in misplaced(stmt, place):
            if problem.code != "lang.collective" or problem.help not in said:
                yield problem
            said.add(problem.help)
        nested = place.enter(stmt)
        for inner in children(stmt):
            yield from _placed(inner, nested, said if nested.who == place.who else set())


def _statements(block: tuple[Stmt, ...], names: Names) -> Iterator[Diagnostic]:
    """Unknown names, wrong ranks, types and operands."""
    for stmt in block:
        unknown = [*_uses(stmt, names)]
        yield from unknown
        if not unknown:
            yield from _typing(stmt, names)
        if isinstance(stmt, Alloc):
            yield from _dimensions(stmt.name, stmt.shape, stmt.span)
            info = BufferInfo(stmt.dtype, stmt.memory, tuple(Int(s) for s in stmt.shape))
            names = replace(names, buffers=names.buffers | {stmt.name: info})
        variables = names.variables | {stmt.var} if isinstance(stmt, For) else names.variables
        for inner in children(stmt):
            yield from _statements(inner, replace(names, variables=variables))


def _typing(stmt: Stmt, names: Names) -> Iterator[Diagnostic]:
    match stmt:
        case Assign(buffer=buffer, op=op, rhs=rhs):
            dtype = names.buffers[buffer].dtype
            yield from type_problems(rhs, dtype, names.types)
            kind = value_type(rhs, names.types)
            if op == "+=" and not dtype.is_float and kind is not None and kind.is_float:
                # each sum would be rounded to an integer, so its terms could not be taken in any other order
                text = f"a floating-point value is added to `{buffer}`, which holds integers"
                yield Diagnostic("lang.type_mismatch", text, rhs.span, help="convert it with `cast(i32, ...)` first")
        case InstrCall():
            yield from operand_problems(stmt, names.buffers)
        case Alloc(name, memory=memory) if not isinstance(memory, ALLOCATED):
            text = f"`{name}` is allocated, and its memory is none of SMEM, RMEM, WGMMA_D and WGMMA_A"
            yield Diagnostic("lang.memory", text, stmt.span, help="global tensors are arguments")
        case _:
            return


def _uses(stmt: Stmt, names: Names) -> Iterator[Diagnostic]:
    variables = names.variables | {ORDINAL} if isinstance(stmt, Role) else names.variables
    for e in indices(stmt):
        yield from _index(e, variables, stmt.span)
    for name, span in barriers(stmt):
        if name not in names.barriers:
            yield Diagnostic("lang.scope", f"no barrier `{name}` is in scope", span)
    for name, given, span in elements(stmt):
        rank = 0 if name in names.scalars else None
        rank = len(names.buffers[name].shape) if name in names.buffers else rank
        if rank is None:
            yield Diagnostic("lang.scope", f"no buffer `{name}` is in scope", span)
        elif rank != given:
            yield Diagnostic("lang.rank", f"`{name}` has {rank} dimensions, and {given} are given", span)
    if isinstance(stmt, Assign) and stmt.buffer in names.scalars:
        yield Diagnostic("lang.type_mismatch", f"scalar argument `{stmt.buffer}` cannot be assigned", stmt.span)


def _index(e: Index | Cond, variables: frozenset[str], span: Span) -> Iterator[Diagnostic]:
    for name in sorted(index_names(e) - variables):
        yield Diagnostic("lang.scope", f"no size or loop variable `{name}` is in scope", span)
    if not affine(e):
        yield Diagnostic("lang.non_affine", "a factor or divisor in an index is not a literal", span)


def affine(e: Index | Cond) -> bool:
    """Whether the factors and divisors in an expression are literals, and divisors positive."""
    match e:
        case Var() | Int() | Bool():
            return True
        case Bin("*", left, right):
            return (isinstance(left, Int) or isinstance(right, Int)) and affine(left) and affine(right)
        case Bin("//" | "%" | "ceildiv", left, right):
            return isinstance(right, Int) and right.value > 0 and affine(left)
        case Bin(_, left, right) | Cmp(_, left, right):
            return affine(left) and affine(right)
        case BoolOp(_, args):
            return all(affine(a) for a in args)
        case Not(arg):
            return affine(arg)


def _declarations(proc: Proc) -> Iterator[tuple[str, Span]]:
    """Every name that is declared, and where."""
    yield from ((d.name, d.span) for d in (*proc.args, *proc.barriers, *proc.named))
    for stmt in walk(proc.body):
        if isinstance(stmt, For | Alloc):
            yield stmt.var if isinstance(stmt, For) else stmt.name, stmt.span


def _names(proc: Proc) -> Iterator[Diagnostic]:
    roles = ((role.name, role.span) for role in proc.block.roles)
    for name, span in ((proc.name, proc.span), *roles, *_declarations(proc)):
        if not declarable(name):
            help = "choose a name of ASCII letters and digits that starts with a letter"
            yield Diagnostic("lang.name", f"`{name}` cannot be used as a name", span, help=help)


def _duplicates(proc: Proc) -> Iterator[Diagnostic]:
    seen = Counter[str]()
    for name, span in _declarations(proc):
        seen[name] += 1
        if seen[name] == 2:
            yield Diagnostic("lang.duplicate_name", f"`{name}` is declared twice", span)


def _functions(proc: Proc) -> Iterator[Diagnostic]:
    """Scalar functions of one name must be equal: they are printed once."""
    known: dict[str, ScalarFn] = {}
    for stmt in walk(proc.body):
        for _, operand in stmt.operands if isinstance(stmt, InstrCall) else ():
            if isinstance(operand, ScalarFn) and known.setdefault(operand.name, operand) != operand:
                text = f"two different scalar functions are called `{operand.name}`"
                yield Diagnostic("lang.duplicate_name", text, stmt.span, help="rename one")


def _block(block: Launch) -> Iterator[Diagnostic]:
    if not 1 <= block.threads <= MAX_THREADS:
        text = f"a block has 1 to {MAX_THREADS} threads, not {block.threads}"
        yield Diagnostic("lang.block", text, block.span, help="use fewer threads and more tasks")
    if block.threads % WARP:
        text = f"a block consists of whole warps, and {block.threads} is not a multiple of {WARP}"
        yield Diagnostic("lang.block", text, block.span, help=f"round up to {block.threads + -block.threads % WARP}")
    if not 1 <= block.cluster <= MAX_CLUSTER:
        text = f"a cluster has 1 to {MAX_CLUSTER} CTAs, not {block.cluster}"
        yield Diagnostic("lang.cluster", text, block.span, help=f"use at most {MAX_CLUSTER}")
    for name, times in Counter(r.name for r in block.roles).items():
        if times > 1:
            yield Diagnostic("lang.duplicate_name", f"role `{name}` is declared twice", block.span)
    first = 0
    for role in block.roles:
        if role.first != first or role.threads % WARP or role.threads < WARP:
            yield Diagnostic("lang.role", f"role `{role.name}` is not the next whole warps of the block", role.span)
        first = role.first + role.threads
        if role.regs is not None and (role.regs % 8 or not 24 <= role.regs <= 256):
            text = f"`regs` is a multiple of 8 in 24..256, not {role.regs}"
            nearest = min(max(role.regs // 8 * 8, 24), 256)
            yield Diagnostic("lang.role", text, role.span, help=f"use {nearest}")
        if role.regs is not None and (role.first % WARPGROUP or role.threads % WARPGROUP):
            text = f"role `{role.name}` sets registers but is not made of whole, aligned warpgroups"
            fix = "use `warpgroups(n, regs=...)`, and put roles of single warps last"
            yield Diagnostic(
                "lang.role", text, role.span, f"threads {role.first}..{role.first + role.threads - 1}", help=fix
            )
    if block.roles and first != block.threads:
        yield Diagnostic("lang.role", f"the roles have {count(first)}, the block {block.threads}", block.span)


def _task_nest(proc: Proc) -> Iterator[Diagnostic]:
    """The task loops of the body form one perfect nest over sizes."""
    outer = [s for s in proc.body if isinstance(s, For) and isinstance(s.mode, Tasks)]
    if not outer:
        text = "the procedure has no task loop"
        yield Diagnostic("lang.no_tasks", text, proc.span, help="put the work into `for v in tasks(lo, hi):`")
    for extra in outer[1:]:
        text = "a procedure has one nest of task loops, and this is a second one"
        yield Diagnostic("lang.tasks", text, extra.span, help="write a second procedure")
    sizes = frozenset(a.name for a in proc.args if isinstance(a, SizeArg))
    for loop in outer[:1]:
        yield from _task_loop(loop, sizes)


def _task_loop(loop: For, sizes: frozenset[str]) -> Iterator[Diagnostic]:
    if (index_names(loop.lo) | index_names(loop.hi)) - sizes:
        text = "the bounds of a task loop depend on another loop"
        yield Diagnostic("lang.tasks", text, loop.span, help="use sizes only, and skip tasks with `if`")
    inner = [s for s in loop.body if isinstance(s, For) and isinstance(s.mode, Tasks)]
    for stmt in loop.body if inner else ():
        if stmt is not inner[0]:
            text = "a statement stands between two task loops"
            yield Diagnostic("lang.tasks", text, stmt.span, help="move it into the inner task loop")
    for nested in inner[:1]:
        yield from _task_loop(nested, sizes)
