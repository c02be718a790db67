"""Data expressions from Python syntax."""

from __future__ import annotations

import ast
from functools import reduce
from numbers import Real
from typing import Final

from exogpu.ir.evaluate import evaluate
from exogpu.ir.functions import FUNCTIONS
from exogpu.ir.integers import as_integer
from exogpu.ir.syntax import FUNCTIONS as INDEX_FUNCTIONS
from exogpu.ir.syntax import OPERATORS as INDEX_OPERATORS
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, ScalarFn, Select, Value, ValueOp
from exogpu.ir.walk import index_names, substitute_scalars
from exogpu.lang.errors import Rejected, closest, reject
from exogpu.lang.indices import cond, index
from exogpu.lang.scope import BarrierName, Buffer, Context, DataScalar, Variable
from exogpu.lang.surface import SCALARS, Word
from exogpu.lang.windows import element

OPERATORS: Final[dict[type[ast.operator], ValueOp]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
FOLDS: Final[dict[str, ValueOp]] = {"min": "min", "max": "max"}


def is_index(ctx: Context, node: ast.expr) -> bool:
    """Whether an expression has the form of an index expression."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int) and not isinstance(value, bool)
        case ast.Name(id=name) if ctx.local(name) is not None:
            return isinstance(ctx.local(name), Variable)
        case ast.Name() | ast.Attribute():
            return as_integer(ctx.constant(node)) is not None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_index(ctx, operand)
        case ast.BinOp(left=left, op=op, right=right):
            return type(op) in INDEX_OPERATORS and is_index(ctx, left) and is_index(ctx, right)
        case ast.Call(func=callee, args=args):
            return ctx.word(callee) in INDEX_FUNCTIONS and all(is_index(ctx, a) for a in args)
    return False


def value(ctx: Context, node: ast.expr) -> Value:
    """A data expression."""
    if is_index(ctx, node):
        position = index(ctx, node)
        if index_names(position):
            return FromIndex(position, ctx.span(node))
        return Num(float(evaluate(position, {})), ctx.span(node))
    match node:
        case ast.Constant(value=float(number)):
            return Num(number, ctx.span(node))
        case ast.Name() | ast.Attribute():
            return _named(ctx, node)
        case ast.Subscript():
            target, indices = element(ctx, node)
            return Read(target.name, indices, ctx.span(node))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            return _signed(ctx, node, isinstance(sign, ast.USub), operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return Arith(OPERATORS[type(op)], value(ctx, left), value(ctx, right), ctx.span(node))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return Select(cond(ctx, test), value(ctx, body), value(ctx, orelse), ctx.span(node))
        case ast.Call():
            return _call(ctx, node)
    raise _no_value(ctx, node)


def _no_value(ctx: Context, node: ast.expr) -> Rejected:
    match node:
        case ast.Compare() | ast.BoolOp():
            help_text = "write `select(condition, 1.0, 0.0)`"
            return reject("type_mismatch", "a condition is not a number", ctx.span(node), help=help_text)
        case ast.BinOp():
            help_text = "use a function, or several products for a power"
            return reject("syntax", "data has the operators + - * / only", ctx.span(node), help=help_text)
    help_text = "write reads, numbers, + - * /, functions and select"
    return reject("syntax", "this is not a data expression", ctx.span(node), help=help_text)


def _signed(ctx: Context, node: ast.expr, negative: bool, operand: ast.expr) -> Value:
    """`-x` and `+x`; a minus before a literal, or before `inf`, belongs to the number."""
    arg = value(ctx, operand)
    if not negative:
        return arg
    literal = isinstance(arg, Num) and isinstance(operand, ast.Constant | ast.Name | ast.Attribute)
    return Num(-arg.value, ctx.span(node)) if isinstance(arg, Num) and literal else Neg(arg, ctx.span(node))


def _named(ctx: Context, node: ast.Name | ast.Attribute) -> Value:
    entity = ctx.lookup(node) if isinstance(node, ast.Name) else ctx.path(node)
    match entity:
        case DataScalar(name):
            return Read(name, (), ctx.span(node))
        case Real() if not isinstance(entity, bool) and entity == entity:
            return Num(float(entity), ctx.span(node))
        case Word("inf"):
            return Num(float("inf"), ctx.span(node))
        case Buffer(name, info):
            dims = ", ".join("..." for _ in info.shape)
            raise reject(
                "rank",
                f"`{name}` is a buffer, and one element is needed here",
                ctx.span(node),
                help=f"write `{name}[{dims}]`",
            )
        case BarrierName(name):
            raise reject("type_mismatch", f"`{name}` is a barrier, not a value", ctx.span(node))
        case _:
            text = f"`{ast.unparse(node)}` is not a number"
            raise reject(
                "type_mismatch", text, ctx.span(node), help="only Python integers and floats can be captured as values"
            )


def _call(ctx: Context, node: ast.Call) -> Value:
    callee = ctx.outer(node.func)
    if isinstance(callee, ScalarFn):
        return inline(callee, _arguments(ctx, node, callee.name, len(callee.params)))
    if isinstance(callee, Scalar):
        (arg,) = _arguments(ctx, node, callee.value, 1)
        return Cast(callee, arg, ctx.span(node))
    name = ctx.word(node.func) or ast.unparse(node.func)
    if name in FOLDS and len(node.args) >= 2 and not node.keywords:
        return reduce(lambda a, b: Arith(FOLDS[name], a, b, ctx.span(node)), (value(ctx, a) for a in node.args))
    if name in FUNCTIONS:
        return Call(name, _arguments(ctx, node, name, FUNCTIONS[name].arity), ctx.span(node))
    if name in SCALARS:
        (arg,) = _arguments(ctx, node, name, 1)
        return Cast(SCALARS[name], arg, ctx.span(node))
    match name, node.args, node.keywords:
        case "select", [test, then, orelse], []:
            return Select(cond(ctx, test), value(ctx, then), value(ctx, orelse), ctx.span(node))
        case "cast", [to, operand], []:
            return Cast(dtype(ctx, to), value(ctx, operand), ctx.span(node))
        case "index", [operand], []:
            return FromIndex(index(ctx, operand), ctx.span(node))
        case "select" | "cast" | "index" | "min" | "max", _, _:
            usage = {"select": "select(condition, then, otherwise)", "cast": "cast(type, value)", "index": "index(e)"}
            shape = usage.get(name, f"{name}(a, b, ...)")
            raise reject("arity", f"wrong arguments for `{name}`", ctx.span(node), help=f"write `{shape}`")
    known = [*FUNCTIONS, *FOLDS, *SCALARS, "select", "cast", "index"]
    text = f"unknown function `{ast.unparse(node.func)}`"
    help_text = closest(name, known) or "use a function of the language, or define one with @scalar"
    raise reject("unknown_name", text, ctx.span(node.func), "not a function of values", help_text)


def _arguments(ctx: Context, node: ast.Call, name: str, arity: int) -> tuple[Value, ...]:
    if len(node.args) != arity or node.keywords:
        given = len(node.args) + len(node.keywords)
        text = f"`{name}` takes {arity} positional argument{'s' * (arity != 1)}, not {given}"
        raise reject("arity", text, ctx.span(node))
    return tuple(value(ctx, a) for a in node.args)


def inline(fn: ScalarFn, args: tuple[Value, ...]) -> Value:
    """The body of a scalar function with its parameters replaced; an argument is converted to f32 first."""
    return substitute_scalars(fn.body, {p: Cast(Scalar.F32, a, a.span) for p, a in zip(fn.params, args, strict=True)})


def dtype(ctx: Context, node: ast.expr) -> Scalar:
    """A scalar type by name, or a captured one."""
    constant = ctx.outer(node)
    if isinstance(constant, Scalar):
        return constant
    if isinstance(node, ast.Name) and node.id in SCALARS:
        return SCALARS[node.id]
    text = f"`{ast.unparse(node)}` is not a scalar type"
    help_text = closest(ast.unparse(node), SCALARS) or f"the types are {', '.join(SCALARS)}"
    raise reject("type", text, ctx.span(node), "unknown type", help_text)
