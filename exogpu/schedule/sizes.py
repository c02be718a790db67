"""Operators on the arguments: what is assumed of sizes, sizes that are fixed, the order of dimensions."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.index import Int
from exogpu.ir.linear import literal
from exogpu.ir.proc import MAX_SIZE, Arg, Require, SizeArg, TensorArg
from exogpu.ir.stmt import Assign, InstrCall, Stmt
from exogpu.ir.substitute import Change, change, substitute
from exogpu.ir.uses import elements
from exogpu.ir.value import Read, Value
from exogpu.ir.walk import children, substitute_cond, substitute_index, with_blocks
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import CondLike, as_cond
from exogpu.schedule.work import Work, operator


@operator
def restrict(at: Work, cond: CondLike) -> None:
    """Adds a precondition on the sizes, which the runtime checks: the procedure computes the same where it holds, and
    refuses other sizes."""
    test = as_cond(cond)
    at.in_scope(test, ())
    at.proc = replace(at.proc, requires=(*at.proc.requires, Require(test)))


@operator
def fix(at: Work, name: str, value: int) -> None:
    """Gives a size argument a value: the procedure no longer takes it, and computes what it did for that value."""
    size = next((a for a in at.proc.args if isinstance(a, SizeArg) and a.name == name), None)
    if size is None:
        raise Refused("schedule.pattern", f"`{name}` is not a size argument", at.proc.span)
    if not 0 <= value <= MAX_SIZE:
        raise limit(f"a size is from 0 to {MAX_SIZE}, and {value} is not", size.span)
    env = {name: Int(value)}

    def fixed(arg: Arg) -> Arg:
        if not isinstance(arg, TensorArg):
            return arg
        shape = (substitute_index(e, env) for e in arg.shape)
        return replace(arg, shape=tuple(e if literal(e) is None else Int(literal(e) or 0) for e in shape))

    args = tuple(fixed(a) for a in at.proc.args if a is not size)
    requires = tuple(replace(r, cond=substitute_cond(r.cond, env)) for r in at.proc.requires)
    body = substitute(at.proc.body, env)
    if body:
        at.splice((0,), len(body), body, {(n,): (n,) for n in range(len(body))})
    at.proc = replace(at.proc, args=args, requires=requires)


@operator
def reorder_dimensions(at: Work, name: str, *order: int) -> None:
    """Takes a tensor argument with its dimensions in another order: dimension d is what was dimension `order[d]`. For
    the tensor in this order the procedure computes what it did for the original."""
    tensor = next((a for a in at.proc.args if isinstance(a, TensorArg) and a.name == name), None)
    if tensor is None:
        raise Refused("schedule.pattern", f"`{name}` is not a tensor argument", at.proc.span)
    if sorted(order) != list(range(len(tensor.shape))):
        raise limit(f"{order} is no order of the dimensions of `{name}`", tensor.span)

    def element(value: Value) -> Value:
        if not isinstance(value, Read) or value.buffer != name:
            return value
        return replace(value, index=tuple(value.index[d] for d in order))

    def stmt(old: Stmt) -> Stmt:
        if isinstance(old, InstrCall) and any(used == name for used, _, _ in elements(old)):
            raise limit(f"`{old.instr.name}` uses `{name}`", old.span)
        if isinstance(old, Assign) and old.buffer == name:
            return replace(old, index=tuple(old.index[d] for d in order))
        return with_blocks(old, tuple(tuple(map(stmt, block)) for block in children(old)))

    body = change(tuple(map(stmt, at.proc.body)), Change(value=element))
    at.splice((0,), len(body), body, {(n,): (n,) for n in range(len(body))})
    new = replace(tensor, shape=tuple(tensor.shape[d] for d in order))
    at.proc = replace(at.proc, args=tuple(new if a is tensor else a for a in at.proc.args))
