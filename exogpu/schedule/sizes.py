"""Operators on the arguments: what is assumed of sizes, and sizes that are fixed."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.index import Int
from exogpu.ir.linear import literal
from exogpu.ir.proc import MAX_SIZE, Arg, Require, SizeArg, TensorArg
from exogpu.ir.substitute import substitute
from exogpu.ir.walk import substitute_cond, substitute_index
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
