"""Index expressions and conditions from Python syntax.

Operations on constants are folded when a captured Python value takes part (`BN // 64`), and left as written otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import reduce

from exogpu.ir.evaluate import holds
from exogpu.ir.index import ORDINAL, Bin, Bool, BoolOp, Cmp, Cond, Index, IndexOp, Int, Not, Var
from exogpu.ir.integers import as_integer
from exogpu.ir.linear import fold, literal
from exogpu.ir.syntax import COMPARISONS, FUNCTIONS, OPERATORS
from exogpu.lang.errors import Rejected, reject
from exogpu.lang.scope import BarrierName, Buffer, Context, DataScalar, Declared, Variable
from exogpu.lang.surface import Word

DIVISIONS = ("//", "%", "ceildiv")


def names(node: ast.expr) -> Iterator[ast.Name]:
    """The names that an expression uses, those of called functions left out."""
    callees = {id(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
    return (n for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in callees)


def index(ctx: Context, node: ast.expr) -> Index:
    """An index expression over sizes, loop variables and captured integers."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return Int(value, ctx.span(node))
        case ast.Name():
            return _named(ctx, node)
        case ast.Attribute():
            return Int(_captured_integer(ctx, node, ctx.path(node)), ctx.span(node))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))) if not isinstance(value, bool):
            return Int(-value, ctx.span(node))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _binary(ctx, node, "-", Int(0, ctx.span(node)), index(ctx, operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _binary(ctx, node, OPERATORS[type(op)], index(ctx, left), index(ctx, right))
        case ast.BinOp(op=ast.Div()):
            help_text = "write `//` (rounds down) or `ceildiv(a, b)` (rounds up)"
            raise reject(
                "non_affine", "an index is an integer, and `/` is not integer division", ctx.span(node), help=help_text
            )
        case ast.Call(func=callee, args=args) if ctx.word(callee) in FUNCTIONS:
            return _function(ctx, node, FUNCTIONS[ctx.word(callee)], args)
        case ast.Call(func=callee):
            text = f"`{ast.unparse(callee)}` is not a function of index expressions"
            raise reject("non_affine", text, ctx.span(node), help="an index has + - * // % min max ceildiv only")
        case ast.Subscript():
            raise _data(ctx, node)
    text = "this is not an index expression"
    raise reject(
        "non_affine",
        text,
        ctx.span(node),
        help="write sizes, loop variables and integers with + - * // % min max ceildiv",
    )


def unit_index(ctx: Context, node: ast.expr) -> Index:
    """The number of a role's unit; it alone may use `ordinal`."""
    with ctx.block():
        if ctx.local(ORDINAL) is None:
            ctx.declare(ORDINAL, Variable(ORDINAL))
        return index(ctx, node)


def _data(ctx: Context, node: ast.expr) -> Rejected:
    help_text = (
        "control and addresses depend on sizes and loop variables only; compute on data with select, min and max"
    )
    return reject("data_dependent", "an index or condition depends on data", ctx.span(node), "reads data", help_text)


def _named(ctx: Context, node: ast.Name) -> Index:
    entity = ctx.lookup(node)
    match entity:
        case Variable(name):
            return Var(name, ctx.span(node))
        case Buffer() | DataScalar():
            raise _data(ctx, node)
        case BarrierName(name):
            raise reject("type_mismatch", f"`{name}` is a barrier, not an index", ctx.span(node))
        case Declared():
            raise reject("type_mismatch", f"`{node.id}` is an object, not an index", ctx.span(node))
        case Word(name=name) if name == ORDINAL:
            text = f"`{ORDINAL}` can be used only in `with role(name[unit])`: results do not depend on it"
            raise reject("role", text, ctx.span(node), help="use the variables of the task loops")
        case _:
            return Int(_captured_integer(ctx, node, entity), ctx.span(node))


def _captured_integer(ctx: Context, node: ast.expr, value: object) -> int:
    number = as_integer(value)
    if number is not None:
        return number
    text = f"`{ast.unparse(node)}` is not an integer"
    raise reject("type_mismatch", text, ctx.span(node), help="only Python integers can be captured in an index")


def _function(ctx: Context, node: ast.Call, op: IndexOp, args: list[ast.expr]) -> Index:
    fits = len(args) == 2 if op == "ceildiv" else len(args) >= 2
    if not fits or node.keywords:
        wanted = "two arguments" if op == "ceildiv" else "two or more arguments"
        raise reject("arity", f"`{op}` takes {wanted}", ctx.span(node))
    parsed = [index(ctx, a) for a in args]
    return reduce(lambda left, right: _binary(ctx, node, op, left, right), parsed)


def _binary(ctx: Context, node: ast.expr, op: IndexOp, left: Index, right: Index) -> Index:
    if op == "*":
        left, right = _product(ctx, node, left, right)
    if op in DIVISIONS:
        right = _divisor(ctx, node, right)
    if isinstance(left, Int) and isinstance(right, Int) and next(names(node), None) is not None:
        return Int(fold(op, left.value, right.value), ctx.span(node))
    return Bin(op, left, right, ctx.span(node))


def _product(ctx: Context, node: ast.expr, left: Index, right: Index) -> tuple[Index, Index]:
    if isinstance(left, Int) or isinstance(right, Int):
        return left, right
    factor = literal(left)
    if factor is not None:
        return Int(factor, left.span), right
    factor = literal(right)
    if factor is not None:
        return left, Int(factor, right.span)
    text = "the product of two variables is not affine"
    raise reject(
        "non_affine", text, ctx.span(node), help="one factor must be a number; use more dimensions instead of a product"
    )


def _divisor(ctx: Context, node: ast.expr, right: Index) -> Int:
    value = literal(right)
    if value is not None and value > 0:
        return Int(value, right.span)
    what = "by a variable" if value is None else f"by {value}"
    raise reject("non_affine", f"division {what} in an index", ctx.span(node), help="divide by a positive number")


def cond(ctx: Context, node: ast.expr) -> Cond:
    """A condition on sizes and loop variables."""
    match node:
        case ast.Constant(value=bool(value)):
            return Bool(value, ctx.span(node))
        case ast.Name() | ast.Attribute() if isinstance(ctx.constant(node), bool):
            return Bool(bool(ctx.constant(node)), ctx.span(node))
        case ast.Compare():
            return _comparison(ctx, node)
        case ast.BoolOp(op=op, values=values):
            return _connective(ctx, node, isinstance(op, ast.And), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            arg = cond(ctx, operand)
            folds = isinstance(arg, Bool) and not isinstance(operand, ast.Constant)
            return Bool(not arg.value, ctx.span(node)) if isinstance(arg, Bool) and folds else Not(arg, ctx.span(node))
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            raise reject(
                "type_mismatch", "`&` and `|` do not combine conditions", ctx.span(node), help="write `and` and `or`"
            )
    index(ctx, node)  # explains data and unknown names better than the general message
    raise reject(
        "type_mismatch", "a condition is expected here", ctx.span(node), help="compare it with a number, as in `x > 0`"
    )


def _comparison(ctx: Context, node: ast.Compare) -> Cond:
    operands = [index(ctx, n) for n in (node.left, *node.comparators)]
    tests: list[Cond] = []
    for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
        if type(op) not in COMPARISONS:
            raise reject("syntax", "only < <= > >= == != compare indices", ctx.span(node))
        tests.append(Cmp(COMPARISONS[type(op)], left, right, ctx.span(node)))
    constant = all(isinstance(o, Int) for o in operands) and next(names(node), None) is not None
    if constant:
        return Bool(all(holds(t, {}) for t in tests), ctx.span(node))
    return tests[0] if len(tests) == 1 else BoolOp("and", tuple(tests), ctx.span(node))


def _connective(ctx: Context, node: ast.BoolOp, conjunction: bool, values: list[ast.expr]) -> Cond:
    """A conjunction or disjunction, without the arguments that captured values decide."""
    args: list[Cond] = []
    for value in values:
        arg = cond(ctx, value)
        if not isinstance(arg, Bool) or isinstance(value, ast.Constant):
            args.append(arg)
        elif arg.value != conjunction:
            return Bool(arg.value, ctx.span(node))
    if not args:
        return Bool(conjunction, ctx.span(node))
    return args[0] if len(args) == 1 else BoolOp("and" if conjunction else "or", tuple(args), ctx.span(node))


def integer(ctx: Context, node: ast.expr, what: str, allowed: Callable[[int], bool], rule: str) -> int:
    """A literal integer that satisfies `allowed`; `rule` says so in words."""
    value = literal(index(ctx, node))
    if value is None:
        raise reject(
            "literal",
            f"{what} must be a literal integer",
            ctx.span(node),
            "varies",
            "use a number or a captured Python integer",
        )
    if not allowed(value):
        raise reject("range", f"{what} must be {rule}, not {value}", ctx.span(node))
    return value


def flag(ctx: Context, node: ast.expr, what: str) -> bool:
    """A literal or captured truth value."""
    value = node.value if isinstance(node, ast.Constant) else ctx.constant(node)
    if isinstance(value, bool):
        return value
    raise reject("type_mismatch", f"`{what}` is True or False", ctx.span(node))
