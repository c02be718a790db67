"""Statements from Python syntax."""

from __future__ import annotations

import ast
from typing import Final

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.index import Bool, Index, Int
from exogpu.ir.instr import BufferInfo
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Alloc, Assign, For, If, Mode, Role, Seq, Stmt, Tasks, Threads, Unroll
from exogpu.ir.types import Gmem
from exogpu.lang.annotations import literal_shape, tensor_type
from exogpu.lang.calls import call_statement
from exogpu.lang.errors import Rejected, closest, reject
from exogpu.lang.indices import cond, index, integer, unit_index
from exogpu.lang.scope import Broken, Buffer, Context, Variable, identifier
from exogpu.lang.surface import Word
from exogpu.lang.values import value
from exogpu.lang.windows import buffer, element

LOOPS = ("tasks", "seq", "unroll", "threads")
UNITS: Final = {"warp": WARP, "warpgroup": WARPGROUP}

UNSUPPORTED: Final[dict[type[ast.stmt], tuple[str, str]]] = {
    ast.While: ("`while` loops", "write `for v in seq(lo, hi)`: trip counts depend on sizes only"),
    ast.Break: ("`break`", "put the rest of the body under `if`"),
    ast.Continue: ("`continue`", "put the rest of the body under `if`"),
    ast.Return: ("`return`", "a procedure writes its results to tensor arguments"),
    ast.FunctionDef: ("nested functions", "define it outside, with @scalar for a per-element function"),
    ast.ClassDef: ("classes", "define it outside the procedure"),
    ast.Try: ("`try`", "nothing inside a procedure raises"),
    ast.Raise: ("`raise`", "state preconditions with `require(condition)`"),
    ast.Assert: ("`assert`", "state preconditions with `require(condition)`"),
    ast.Import: ("`import`", "import outside the procedure"),
    ast.ImportFrom: ("`import`", "import outside the procedure"),
    ast.Global: ("`global`", "outside values are captured by name"),
    ast.Nonlocal: ("`nonlocal`", "outside values are captured by name"),
    ast.Delete: ("`del`", "an allocation ends with its block"),
    ast.Match: ("`match`", "write `if` and `elif`"),
}


def block(ctx: Context, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
    """The statements of a block; each rejected one is noted and left out."""
    parsed: list[Stmt] = []
    with ctx.block():
        for node in nodes:
            with ctx.guard():
                parsed += statement(ctx, node)
    return tuple(parsed)


def statement(ctx: Context, node: ast.stmt) -> tuple[Stmt, ...]:
    """One statement; several or none for an `if` that captured values decide."""
    match node:
        case ast.For():
            return (_for(ctx, node),)
        case ast.If():
            return _if(ctx, node)
        case ast.With():
            return (_with(ctx, node),)
        case ast.AnnAssign():
            return (_alloc(ctx, node),)
        case ast.Assign() | ast.AugAssign():
            return (_assign(ctx, node),)
        case ast.Expr(value=ast.Call() as call):
            return (call_statement(ctx, call),)
        case ast.Pass():
            return ()
    what, help_text = UNSUPPORTED.get(
        type(node), ("this statement", "write a loop, an `if`, an assignment or an instruction")
    )
    raise reject("syntax", f"{what} cannot be used in a procedure", ctx.text.header(node), "not supported", help_text)


def _for(ctx: Context, node: ast.For) -> Stmt:
    lo: Index = Int(0)
    hi: Index = Int(0)
    mode: Mode | None = None
    with ctx.guard():
        lo, hi, mode = _loop_header(ctx, node)
    with ctx.block():
        name = ""
        for target in ast.walk(node.target):
            if isinstance(target, ast.Name):
                ctx.declare(target.id, Broken(target.id))
        with ctx.guard():
            name = _loop_variable(ctx, node, declared=mode is not None)
        body = block(ctx, node.body)
    if mode is None or not name:
        raise Rejected()
    return For(name, lo, hi, mode, body, ctx.text.header(node))


def _loop_variable(ctx: Context, node: ast.For, declared: bool) -> str:
    if not isinstance(node.target, ast.Name):
        raise reject(
            "syntax",
            "a loop has one variable",
            ctx.span(node.target),
            help="write `for v in ...`, one loop per dimension",
        )
    name = ctx.fresh(identifier(ctx, node.target.id, ctx.span(node.target)))
    if declared:
        ctx.declare(node.target.id, Variable(name))
    return name


def _loop_header(ctx: Context, node: ast.For) -> tuple[Index, Index, Mode]:
    if node.orelse:
        raise reject(
            "syntax", "`else` of a loop cannot be used in a procedure", ctx.span(node.orelse[0]), help="remove it"
        )
    call = node.iter
    kind = ctx.word(call.func) if isinstance(call, ast.Call) else ""
    if not isinstance(call, ast.Call) or kind not in LOOPS:
        written = ast.unparse(call.func if isinstance(call, ast.Call) else call)
        help_text = (
            closest(written, LOOPS) or "write seq(lo, hi), unroll(lo, hi), tasks(lo, hi) or threads(n, unit=...)"
        )
        raise reject("syntax", f"`{written}` is not a loop of the language", ctx.span(call), "unknown loop", help_text)
    keywords = {k.arg: k.value for k in call.keywords}
    unit = keywords.pop("unit", None) if kind == "threads" else None
    if not 1 <= len(call.args) <= 2 or keywords:
        usage = "threads(n, unit=...)" if kind == "threads" else f"{kind}(lo, hi)"
        raise reject("arity", f"wrong arguments for `{kind}`", ctx.span(call), help=f"write `{usage}`")
    bounds = [index(ctx, a) for a in call.args]
    if kind in ("unroll", "threads"):
        bounds = [_literal_bound(ctx, a, b, kind) for a, b in zip(call.args, bounds, strict=True)]
    lo = bounds[0] if len(bounds) == 2 else Int(0)
    return lo, bounds[-1], _mode(ctx, kind, unit)


def _literal_bound(ctx: Context, node: ast.expr, bound: Index, kind: str) -> Index:
    number = literal(bound)
    if number is None:
        help_text = (
            "use `seq` for a trip count that depends on sizes"
            if kind == "unroll"
            else "threads are fixed at compile time"
        )
        raise reject("literal", f"the bounds of `{kind}` must be literal", ctx.span(node), "varies", help_text)
    return Int(number, bound.span)


def _mode(ctx: Context, kind: str, unit: ast.expr | None) -> Mode:
    modes: dict[str, Mode] = {"tasks": Tasks(), "seq": Seq(), "unroll": Unroll()}
    if kind in modes:
        return modes[kind]
    if unit is None:
        return Threads(1)
    word = ctx.outer(unit)
    if isinstance(word, Word) and word.name == "cta":
        return Threads(ctx.cta)
    if isinstance(word, Word) and word.name in UNITS:
        return Threads(UNITS[word.name])
    return Threads(integer(ctx, unit, "`unit`", lambda v: v >= 1, "at least 1 thread"))


def _if(ctx: Context, node: ast.If) -> tuple[Stmt, ...]:
    test = None
    with ctx.guard():
        test = cond(ctx, node.test)
    if isinstance(test, Bool) and not isinstance(node.test, ast.Constant):
        return block(ctx, node.body if test.value else node.orelse)
    then, orelse = block(ctx, node.body), block(ctx, node.orelse)
    if test is None:
        raise Rejected()
    return (If(test, then, orelse, ctx.text.header(node)),)


def _with(ctx: Context, node: ast.With) -> Stmt:
    chosen = None
    with ctx.guard():
        chosen = _role(ctx, node)
    body = block(ctx, node.body)
    if chosen is None:
        raise Rejected()
    name, unit = chosen
    return Role(name, body, ctx.text.header(node), unit)


def _role(ctx: Context, node: ast.With) -> tuple[str, Index | None]:
    """The name of a role, and the number of its unit if one is chosen."""
    item = node.items[0]
    call = item.context_expr
    word = ctx.word(call.func) if isinstance(call, ast.Call) else ""
    usage = "write `with role(name):` or `with role(name[unit]):` with a role of `block(...)`"
    if len(node.items) != 1 or item.optional_vars is not None or word != "role":
        raise reject("syntax", "`with` selects one role", ctx.span(call), help=usage)
    match call:
        case ast.Call(args=[ast.Name(id=name)], keywords=[]):
            return name, None
        case ast.Call(args=[ast.Subscript(value=ast.Name(id=name), slice=unit)], keywords=[]):
            return name, unit_index(ctx, unit)
    raise reject("role", "a role is a name of `block(...)`", ctx.span(call), help=usage)


def _alloc(ctx: Context, node: ast.AnnAssign) -> Stmt:
    if not isinstance(node.target, ast.Name):
        raise reject(
            "syntax",
            "an allocation declares one name",
            ctx.span(node.target),
            help="write `name: type[shape] @ memory`",
        )
    written = node.target.id
    ctx.declare(written, Broken(written))
    identifier(ctx, written, ctx.span(node.target))
    if node.value is not None:
        raise reject(
            "syntax",
            "an allocation has no initial value",
            ctx.span(node.value),
            help="assign to its elements afterwards",
        )
    parts = tensor_type(ctx, node.annotation, "SMEM")
    if isinstance(parts.memory, Gmem):
        text = "global memory cannot be allocated in a procedure"
        raise reject("memory", text, ctx.span(node.annotation), help="make it an argument of the procedure")
    shape = literal_shape(ctx, parts.shape)
    name = ctx.fresh(written)
    info = BufferInfo(parts.dtype, parts.memory, tuple(Int(s) for s in shape))
    ctx.declare(written, Buffer(name, info))
    return Alloc(name, parts.dtype, shape, parts.memory, ctx.span(node))


def _assign(ctx: Context, node: ast.Assign | ast.AugAssign) -> Stmt:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if isinstance(node, ast.AugAssign) and not isinstance(node.op, ast.Add):
        text = "the only update is `+=`"
        raise reject("syntax", text, ctx.span(node), help="write `x[i] = x[i] - y` or `x[i] += -y`")
    if len(targets) != 1:
        raise reject(
            "syntax", "an assignment has one target", ctx.span(targets[0]), help="write one assignment per element"
        )
    target = targets[0]
    place = rhs = None
    with ctx.guard():
        place = _target(ctx, target, node.value)
    with ctx.guard():
        rhs = value(ctx, node.value)
    if place is None or rhs is None:
        raise Rejected()
    dest, indices = place
    return Assign(dest.name, indices, "=" if isinstance(node, ast.Assign) else "+=", rhs, ctx.span(node))


def _target(ctx: Context, target: ast.expr, rhs: ast.expr) -> tuple[Buffer, tuple[Index, ...]]:
    if isinstance(target, ast.Subscript):
        return element(ctx, target)
    if isinstance(target, ast.Name) and isinstance(ctx.local(target.id), Buffer):
        buffer(ctx, target)
        text = f"one element of `{target.id}` is assigned at a time"
        raise reject("rank", text, ctx.span(target), help=f"write `{target.id}[...] = ...` in a loop")
    help_text = "there are no local scalars: allocate `x: f32[1] @ RMEM` and assign `x[0]`"
    raise reject("syntax", "only elements of buffers are assigned", ctx.span(target), help=help_text)
