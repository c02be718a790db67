"""Calls that are statements: instructions, Fence, Arrive and Await."""

from __future__ import annotations

import ast

from exogpu import isa
from exogpu.ir.index import Int
from exogpu.ir.instr import Instr, Param
from exogpu.ir.proc import MAX_COUNT
from exogpu.ir.stmt import Arrive, Await, BarrierRef, Fence, IndexArg, InstrCall, Operand, Point, Range, Stmt
from exogpu.ir.value import ScalarFn
from exogpu.lang.errors import Rejected, closest, reject
from exogpu.lang.indices import cond, flag, index, integer
from exogpu.lang.scope import BarrierName, Context
from exogpu.lang.windows import dimension, window

INSTRUCTIONS: dict[str, Instr] = {name: getattr(isa, name) for name in isa.__all__}
SYNC = ("Fence", "Arrive", "Await")


def call_statement(ctx: Context, node: ast.Call) -> Stmt:
    """A call in statement position."""
    constant = ctx.outer(node.func)
    if isinstance(constant, Instr):
        return instruction(ctx, node, constant)
    name = ast.unparse(node.func)
    word = ctx.word(node.func)
    if word == "Fence":
        bind(ctx, node, "Fence", (), ())
        return Fence(ctx.span(node))
    if word == "Arrive":
        given = bind(ctx, node, "Arrive", ("barrier", "tx", "relaxed"), ("tx", "relaxed"))
        tx = given.get("tx")
        rule = f"in 0..{MAX_COUNT}"
        bytes = None if tx is None else Int(integer(ctx, tx, "`tx`", lambda v: 0 <= v <= MAX_COUNT, rule), ctx.span(tx))
        name, ctas = owned_barrier(ctx, given["barrier"])
        relaxed = flag(ctx, given["relaxed"], "relaxed") if "relaxed" in given else False
        return Arrive(name, bytes, ctas, relaxed, ctx.span(node))
    if word == "Await":
        given = bind(ctx, node, "Await", ("barrier", "lag"), ("lag",))
        lag = given.get("lag")
        steps = 0 if lag is None else integer(ctx, lag, "`lag`", lambda v: v >= 0, "at least 0")
        return Await(barrier(ctx, given["barrier"]), steps, ctx.span(node))
    if name in INSTRUCTIONS:
        return instruction(ctx, node, INSTRUCTIONS[name])
    help_text = closest(name, [*INSTRUCTIONS, *SYNC]) or "a statement calls an instruction, Fence, Arrive or Await"
    raise reject("unknown_name", f"unknown instruction `{name}`", ctx.span(node.func), "not an instruction", help_text)


def bind(
    ctx: Context, node: ast.Call, name: str, params: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, ast.expr]:
    """Arguments by parameter name; rejects wrong arity and unknown keywords, all of them at once."""
    signature = f"{name}({', '.join(p + '=...' if p in optional else p for p in params)})"
    problems: list[Rejected] = []
    given: dict[str, ast.expr] = dict(zip(params, node.args, strict=False))
    for extra in node.args[len(params) :]:
        count = len(params)
        text = (
            f"`{name}` takes at most {count} argument{'s' * (count != 1)}" if count else f"`{name}` takes no arguments"
        )
        problems.append(reject("arity", text, ctx.span(extra), "too many", f"write `{signature}`"))
    for keyword in node.keywords:
        key = keyword.arg or "**"
        if key in params and key not in given:
            given[key] = keyword.value
            continue
        text = f"`{name}` gets `{key}` twice" if key in params else f"`{name}` has no parameter `{key}`"
        problems.append(reject("arity", text, ctx.span(keyword), "", closest(key, params) or f"write `{signature}`"))
    missing = [p for p in params if p not in given and p not in optional]
    if missing:
        text = f"`{name}` needs {' and '.join(f'`{m}`' for m in missing)}"
        problems.append(reject("arity", text, ctx.span(node), "missing arguments", f"write `{signature}`"))
    if problems:
        raise Rejected(*(d for p in problems for d in p.diagnostics))
    return given


def barrier(ctx: Context, node: ast.expr) -> str:
    """The name of a declared barrier."""
    entity = ctx.lookup(node) if isinstance(node, ast.Name) else None
    if isinstance(entity, BarrierName):
        return entity.name
    text = f"`{ast.unparse(node)}` is not a barrier"
    raise reject(
        "type_mismatch",
        text,
        ctx.span(node),
        "a barrier is expected",
        "declare it with `name = mbarrier(ring=..., count=...)`",
    )


def owned_barrier(ctx: Context, node: ast.expr) -> tuple[str, Point | Range | None]:
    """A barrier, or `barrier[c]` and `barrier[0:n]`: those of other CTAs of the cluster."""
    if not isinstance(node, ast.Subscript):
        return barrier(ctx, node), None
    name = barrier(ctx, node.value)
    return name, dimension(ctx, node.slice, Int(ctx.cluster))


def instruction(ctx: Context, node: ast.Call, instr: Instr) -> InstrCall:
    """An instruction call; its operands are read by the kind of each parameter."""
    optional = tuple(p.name for p in instr.params if p.optional)
    given = bind(ctx, node, instr.name, tuple(p.name for p in instr.params), optional)
    operands: list[tuple[str, Operand]] = []
    for param in instr.params:
        if param.name in given:
            with ctx.guard():
                operands.append((param.name, _operand(ctx, given[param.name], param, instr.name)))
    if len(operands) < len(given):
        raise Rejected()
    return InstrCall(instr, tuple(operands), ctx.span(node))


def _operand(ctx: Context, node: ast.expr, param: Param, name: str) -> Operand:
    match param.kind:
        case "window":
            return window(ctx, node)
        case "barrier" | "named":
            return BarrierRef(barrier(ctx, node), ctx.span(node))
        case "int":
            return IndexArg(index(ctx, node))
        case "cond":
            return IndexArg(cond(ctx, node))
        case "fn":
            fn = ctx.outer(node)
            if isinstance(fn, ScalarFn):
                return fn
            text = f"`{param.name}` of `{name}` must be a scalar function"
            raise reject("type_mismatch", text, ctx.span(node), help="define it with @scalar outside the procedure")
