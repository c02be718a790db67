"""A procedure as a list of assignments, each with the loops and conditions around it and its place in the program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from exogpu.diagnostics import InternalError
from exogpu.equiv.conditions import literals
from exogpu.equiv.symbolic import Fold
from exogpu.ir.buffers import buffers_of, types_of
from exogpu.ir.index import Bool, Cmp, Cond, Index, Not, Var
from exogpu.ir.interp import sequential
from exogpu.ir.proc import Proc, TensorArg
from exogpu.ir.stmt import Alloc, Assign, For, If, Stmt
from exogpu.ir.substitute import Change, change_value
from exogpu.ir.terms import both, either
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Read, Value
from exogpu.ir.value_type import computed, value_type
from exogpu.ir.walk import substitute_cond, substitute_index
from exogpu.source import Span


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop; its variable has a name of its own among all loops of the procedure."""

    var: str
    lo: Index
    hi: Index

    def inside(self, env: Mapping[str, Index]) -> tuple[Cond, Cond]:
        """Its variable is in its range."""
        at = substitute_index(Var(self.var), env)
        return Cmp("<=", substitute_index(self.lo, env), at), Cmp("<", at, substitute_index(self.hi, env))


Step = tuple[int, Loop | None]
"""The position of a statement in its block, and the loop if it is one."""


@dataclass(frozen=True, slots=True)
class Write:
    """An assignment. `steps` lead to it from the top; `guards` are the conditions around it. `folds` is how it combines
    `value` with what is there, None if it replaces that."""

    stmt: Assign
    steps: tuple[Step, ...]
    guards: tuple[Cond, ...]
    folds: Fold | None
    value: Value

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops around it, outermost first."""
        return tuple(loop for _, loop in self.steps if loop is not None)

    def happens(self, env: Mapping[str, Index]) -> tuple[Cond, ...]:
        """It is executed at these values of its variables."""
        ranges = (c for loop in self.loops for c in loop.inside(env))
        return (*ranges, *(substitute_cond(g, env) for g in self.guards))

    def cell(self, env: Mapping[str, Index]) -> tuple[Index, ...]:
        """What it writes at these values of its variables."""
        return tuple(substitute_index(i, env) for i in self.stmt.index)


@dataclass(frozen=True, slots=True)
class Flat:
    """A procedure's assignments in program order; for each buffer its type and shape, and for each that it allocates
    the loops around the allocation: their variables say which of its executions is meant."""

    proc: Proc
    writes: tuple[Write, ...]
    types: Mapping[str, Scalar]
    shapes: Mapping[str, tuple[Index, ...]]
    scopes: Mapping[str, frozenset[str]]
    tensors: Mapping[str, TensorArg]

    def last(self, buffer: str) -> Span:
        """Where the last assignment to a buffer stands, or the procedure, if there is none."""
        return next((w.stmt.span for w in reversed(self.writes) if w.stmt.buffer == buffer), self.proc.span)


@dataclass
class _Walk:
    writes: list[Write] = field(default_factory=list)
    scopes: dict[str, frozenset[str]] = field(default_factory=dict)
    loops: int = 0

    def block(
        self, block: tuple[Stmt, ...], steps: tuple[Step, ...], guards: tuple[Cond, ...], env: Mapping[str, Index]
    ) -> None:
        for n, stmt in enumerate(block):
            match stmt:
                case Assign():
                    renamed = _renamed(stmt, env)
                    folds: Fold | None = "+" if stmt.op == "+=" else None
                    self.writes.append(Write(renamed, (*steps, (n, None)), guards, folds, renamed.rhs))
                case Alloc(name=name):
                    self.scopes[name] = frozenset(loop.var for _, loop in steps if loop is not None)
                case For(var=var, lo=lo, hi=hi, body=body):
                    self.loops += 1
                    own = f"{var}.{self.loops}"
                    loop = Loop(own, substitute_index(lo, env), substitute_index(hi, env))
                    self.block(body, (*steps, (n, loop)), guards, {**env, var: Var(own)})
                case If(cond=cond, then=then, orelse=orelse):
                    test = substitute_cond(cond, env)
                    for m, (way, holds) in enumerate(((then, test), (orelse, Not(test)))):
                        self.block(way, (*steps, (n, None), (m, None)), (*guards, *literals(holds)), env)
                case _:
                    raise InternalError(f"a {type(stmt).__name__} is left in the sequential program")


def _renamed(stmt: Assign, env: Mapping[str, Index]) -> Assign:
    to = Change(lambda e: substitute_index(e, env), lambda c: substitute_cond(c, env))
    index = tuple(substitute_index(i, env) for i in stmt.index)
    return replace(stmt, index=index, rhs=change_value(stmt.rhs, to))


def _folding(writes: Sequence[Write], types: Mapping[str, Scalar]) -> Iterator[Write]:
    """The same, with `x = max(x, v)` as what folds v into x, where x is changed in no other way."""
    found = [_extreme(write, types) for write in writes]
    for write, other in zip(writes, found, strict=True):
        ways = {w.folds for w in found if w.stmt.buffer == write.stmt.buffer} - {None}
        yield other if len(ways) == 1 else write


def _extreme(write: Write, types: Mapping[str, Scalar]) -> Write:
    """`x = max(x, v)` as what folds v into x, if values are stored as they are computed."""
    stmt = write.stmt
    own = Read(stmt.buffer, stmt.index)
    exact = types[stmt.buffer] is (value_type(stmt.rhs, types) or computed(types[stmt.buffer]))
    match stmt.rhs:
        case Arith("max" | "min" as way, left, right) if stmt.op == "=" and exact and own in (left, right):
            return replace(write, folds=way, value=right if left == own else left)
        case _:
            return write


def flatten(proc: Proc) -> Flat:
    """The assignments of a procedure."""
    walk = _Walk()
    walk.block(sequential(proc), (), (), {})
    types = types_of(proc)
    shapes = {name: info.shape for name, info in buffers_of(proc).items()}
    tensors = {a.name: a for a in proc.args if isinstance(a, TensorArg)}
    return Flat(proc, tuple(_folding(walk.writes, types)), types, shapes, walk.scopes, tensors)


def before(a: Write, x: Mapping[str, Index], b: Write | None, y: Mapping[str, Index]) -> Cond:
    """That one assignment is executed before another, or the end (None), each at its values of variables."""
    return Bool(True) if b is None else _before(a.steps, x, b.steps, y)


def _before(a: tuple[Step, ...], x: Mapping[str, Index], b: tuple[Step, ...], y: Mapping[str, Index]) -> Cond:
    if not a or not b:
        return Bool(False)
    (m, loop), (n, _) = a[0], b[0]
    if m != n:
        return Bool(m < n)
    rest = _before(a[1:], x, b[1:], y)
    if loop is None:
        return rest
    one, other = (substitute_index(Var(loop.var), env) for env in (x, y))
    if one == other:
        return rest
    return either((Cmp("<", one, other), both((Cmp("==", one, other), rest))))
