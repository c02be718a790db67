"""Traversal: children, bottom-up maps and free names, one plain function each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.stmt import For, If, Role, Stmt
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value


def map_value(value: Value, fn: Callable[[Value], Value]) -> Value:
    """`value` rebuilt bottom-up with `fn` applied to every node."""
    match value:
        case Arith(_, left, right):
            return fn(replace(value, left=map_value(left, fn), right=map_value(right, fn)))
        case Neg(arg) | Cast(_, arg):
            return fn(replace(value, arg=map_value(arg, fn)))
        case Call(_, args):
            return fn(replace(value, args=tuple(map_value(a, fn) for a in args)))
        case Select(_, then, orelse):
            return fn(replace(value, then=map_value(then, fn), orelse=map_value(orelse, fn)))
        case Read() | Num() | FromIndex():
            return fn(value)


def substitute_scalars(value: Value, env: Mapping[str, Value]) -> Value:
    """`value` with the scalars (reads without indices) in `env` replaced."""

    def scalar(v: Value) -> Value:
        return env.get(v.buffer, v) if isinstance(v, Read) and not v.index else v

    return map_value(value, scalar)


def children(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The nested blocks of a statement."""
    match stmt:
        case For(body=body) | Role(body=body):
            return (body,)
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case _:
            return ()


def with_blocks(stmt: Stmt, blocks: Sequence[tuple[Stmt, ...]]) -> Stmt:
    """A statement with other nested blocks, as many as it has."""
    match stmt:
        case For() | Role():
            (body,) = blocks
            return replace(stmt, body=body)
        case If():
            then, orelse = blocks
            return replace(stmt, then=then, orelse=orelse)
        case _:
            return stmt


def walk(block: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Every statement of a block, in program order, outer before inner."""
    for stmt in block:
        yield stmt
        for inner in children(stmt):
            yield from walk(inner)


def index_names(e: Index | Cond) -> frozenset[str]:
    """Names that occur in an index expression or condition."""
    match e:
        case Var(name):
            return frozenset((name,))
        case Int() | Bool():
            return frozenset()
        case Bin(_, left, right) | Cmp(_, left, right):
            return index_names(left) | index_names(right)
        case BoolOp(_, args):
            return frozenset[str]().union(*(index_names(a) for a in args))
        case Not(arg):
            return index_names(arg)


def reads(value: Value, under: tuple[Cond, ...] = ()) -> Iterator[tuple[Read, tuple[Cond, ...]]]:
    """Every read of a data expression, with the `Select` conditions under which it is evaluated."""
    match value:
        case Read():
            yield value, under
        case Arith(_, left, right):
            yield from reads(left, under)
            yield from reads(right, under)
        case Neg(arg) | Cast(_, arg):
            yield from reads(arg, under)
        case Call(_, args):
            for arg in args:
                yield from reads(arg, under)
        case Select(cond, then, orelse):
            yield from reads(then, (*under, cond))
            yield from reads(orelse, (*under, Not(cond)))
        case Num() | FromIndex():
            return


def substitute_index(e: Index, env: Mapping[str, Index]) -> Index:
    """`e` with variables replaced."""
    match e:
        case Var(name):
            return env.get(name, e)
        case Int():
            return e
        case Bin(_, left, right):
            return replace(e, left=substitute_index(left, env), right=substitute_index(right, env))


def substitute_cond(c: Cond, env: Mapping[str, Index]) -> Cond:
    """`c` with variables replaced."""
    match c:
        case Bool():
            return c
        case Not(arg):
            return replace(c, arg=substitute_cond(arg, env))
        case BoolOp(_, args):
            return replace(c, args=tuple(substitute_cond(a, env) for a in args))
        case Cmp(_, left, right):
            return replace(c, left=substitute_index(left, env), right=substitute_index(right, env))


def conjuncts(cond: Cond) -> tuple[Cond, ...]:
    """A condition as separate ones, in the order of their evaluation."""
    match cond:
        case BoolOp("and", args):
            return tuple(c for a in args for c in conjuncts(a))
        case Not(BoolOp("or", args)):
            return tuple(c for a in args for c in conjuncts(Not(a)))
        case Not(Not(arg)):
            return conjuncts(arg)
        case _:
            return (cond,)
