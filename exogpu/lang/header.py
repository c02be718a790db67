"""The head of a procedure: arguments, `require`, `block` and `mbarrier` declarations."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import accumulate

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.instr import BufferInfo
from exogpu.ir.proc import (
    MAX_COUNT,
    Arg,
    BarrierDecl,
    Launch,
    NamedBarrier,
    Require,
    RoleDecl,
    ScalarArg,
    SizeArg,
    TensorArg,
)
from exogpu.ir.types import Gmem
from exogpu.ir.wellformed import MAX_THREADS
from exogpu.lang.annotations import tensor_shape, tensor_type
from exogpu.lang.calls import bind
from exogpu.lang.errors import closest, reject
from exogpu.lang.indices import cond, flag, integer
from exogpu.lang.scope import BarrierName, Broken, Buffer, Context, DataScalar, Variable, identifier
from exogpu.lang.values import dtype


def arguments(ctx: Context, node: ast.arguments) -> tuple[Arg, ...]:
    """The declared arguments; tensors may use sizes that are declared after them."""
    written = plain_arguments(ctx, node)
    for a in written:
        with ctx.guard():
            declare_size(ctx, a)
    parsed: list[Arg] = []
    for a in written:
        with ctx.guard():
            parsed.append(_argument(ctx, a))
    return tuple(parsed)


def plain_arguments(ctx: Context, node: ast.arguments) -> tuple[ast.arg, ...]:
    """The arguments as written; anything but plain `name: type` pairs is noted."""
    special = [node.vararg, *node.kwonlyargs] if node.vararg is not None else node.kwonlyargs
    for extra in (*node.posonlyargs[:1], *special[:1], *([] if node.kwarg is None else [node.kwarg])):
        text = "arguments are plain `name: type` pairs"
        ctx.found += reject("syntax", text, ctx.span(extra), help="remove `*`, `**` and `/`").diagnostics
    for default in (*node.defaults, *(d for d in node.kw_defaults if d is not None)):
        text = "arguments have no default values"
        ctx.found += reject("syntax", text, ctx.span(default), help="remove the default").diagnostics
    return (*node.posonlyargs, *node.args, *node.kwonlyargs)


def is_size(ctx: Context, node: ast.arg) -> bool:
    """Whether an argument is declared as a size."""
    return node.annotation is not None and ctx.word(node.annotation) == "size"


def declare_size(ctx: Context, node: ast.arg) -> None:
    """Declares the argument, if it is a size."""
    ctx.declare(node.arg, Broken(node.arg))
    name = ctx.fresh(identifier(ctx, node.arg, ctx.span(node)))
    if is_size(ctx, node):
        ctx.declare(name, Variable(name))


def _argument(ctx: Context, node: ast.arg) -> Arg:
    name, span, written = node.arg, ctx.span(node), node.annotation
    if written is None:
        help_text = f"write `{name}: size`, `{name}: f32` or `{name}: f32[N] @ GMEM`"
        raise reject("type", f"argument `{name}` has no type", span, help=help_text)
    if is_size(ctx, node):
        return SizeArg(name, span)
    if isinstance(written, ast.Name | ast.Attribute):
        scalar_type = dtype(ctx, written)
        ctx.declare(name, DataScalar(name, scalar_type))
        return ScalarArg(name, scalar_type, span)
    parts = tensor_type(ctx, written, "GMEM")
    if not isinstance(parts.memory, Gmem):
        text = f"argument `{name}` must be in global memory"
        raise reject("memory", text, ctx.span(written), help="write `@ GMEM`; allocate other memories in the body")
    shape = tensor_shape(ctx, parts.shape)
    ctx.declare(name, Buffer(name, BufferInfo(parts.dtype, parts.memory, shape)))
    return TensorArg(name, parts.dtype, shape, span)


def require(ctx: Context, node: ast.Call) -> Require:
    """`require(condition)`."""
    given = bind(ctx, node, "require", ("condition",), ())
    return Require(cond(ctx, given["condition"]), ctx.span(node))


def barrier(ctx: Context, target: ast.Name, node: ast.Call) -> BarrierDecl:
    """`name = mbarrier(ring=..., count=...)`."""
    name = _new_barrier(ctx, target)
    given = bind(ctx, node, "mbarrier", ("ring", "count"), ("ring",))
    written = given.get("ring")
    ring = 1 if written is None else integer(ctx, written, "`ring`", lambda v: v >= 1, "at least 1")
    count = integer(ctx, given["count"], "`count`", lambda v: 1 <= v <= MAX_COUNT, f"in 1..{MAX_COUNT}")
    unique = ctx.fresh(name)
    ctx.declare(name, BarrierName(unique))
    return BarrierDecl(unique, ring, count, ctx.span(target))


def named_barrier(ctx: Context, target: ast.Name, node: ast.Call) -> NamedBarrier:
    """`name = named_barrier(count=...)`."""
    name = _new_barrier(ctx, target)
    given = bind(ctx, node, "named_barrier", ("count",), ())
    rule = f"a multiple of {WARP} in {WARP}..{MAX_THREADS}"
    count = integer(ctx, given["count"], "`count`", lambda v: v in range(WARP, MAX_THREADS + 1, WARP), rule)
    unique = ctx.fresh(name)
    ctx.declare(name, BarrierName(unique))
    return NamedBarrier(unique, count, ctx.span(target))


def _new_barrier(ctx: Context, target: ast.Name) -> str:
    name = target.id
    if ctx.local(name) is not None:
        raise reject("duplicate_name", f"`{name}` is declared twice", ctx.span(target), help="choose another name")
    ctx.declare(name, Broken(name))
    identifier(ctx, name, ctx.span(target))
    return name


def block(ctx: Context, node: ast.Call) -> Launch:
    """`block(n)`, or `block(role=warps(n), ...)` with roles in thread order."""
    named = ("persistent", "raster", "cluster")
    options: dict[str, ast.expr] = {k.arg: k.value for k in node.keywords if k.arg in named}
    roles = [k for k in node.keywords if k.arg not in options]
    if len(node.args) > 1 or bool(node.args) == bool(roles):
        help_text = "write `block(256)`, or name the roles: `block(producer=warps(1), consumer=warpgroups(2))`"
        raise reject("arity", "`block` takes a number of threads or named roles", ctx.span(node), help=help_text)
    persistent = flag(ctx, options["persistent"], "persistent") if "persistent" in options else False
    raster = _count(ctx, options, "raster")
    cluster = _count(ctx, options, "cluster")
    if node.args:
        threads = integer(ctx, node.args[0], "the number of threads", lambda v: v >= 1, "at least 1")
        return Launch(threads, (), persistent, raster, cluster, "cluster" in options, ctx.span(node))
    parts = [_role(ctx, k) for k in roles]
    firsts = accumulate((p.threads for p in parts), initial=0)
    decls = tuple(replace(p, first=first) for first, p in zip(firsts, parts, strict=False))
    return Launch(
        sum(r.threads for r in decls), decls, persistent, raster, cluster, "cluster" in options, ctx.span(node)
    )


def _count(ctx: Context, options: dict[str, ast.expr], name: str) -> int:
    return integer(ctx, options[name], f"`{name}`", lambda v: v >= 1, "at least 1") if name in options else 1


def _role(ctx: Context, keyword: ast.keyword) -> RoleDecl:
    """The role of `name=warps(n, regs=...)`, as if it were the first."""
    units = {"warps": WARP, "warpgroups": WARPGROUP}
    node, name = keyword.value, keyword.arg
    if name is None:
        raise reject("syntax", "roles are written out, not unpacked", ctx.span(keyword), help="write `name=warps(n)`")
    unit = units.get(ctx.word(node.func)) if isinstance(node, ast.Call) else None
    if unit is None or not isinstance(node, ast.Call):
        written = ast.unparse(node.func if isinstance(node, ast.Call) else node)
        help_text = closest(written, units) or f"write `{name}=warps(n)` or `{name}=warpgroups(n)`"
        raise reject("role", f"role `{name}` needs a number of warps or warpgroups", ctx.span(node), help=help_text)
    identifier(ctx, name, ctx.span(keyword))
    given = bind(ctx, node, ast.unparse(node.func), ("n", "regs"), ("regs",))
    count = integer(ctx, given["n"], "the size of a role", lambda v: v >= 1, "at least 1")
    regs = integer(ctx, given["regs"], "`regs`", lambda v: v >= 1, "at least 1") if "regs" in given else None
    by_warps = unit == WARP and count * unit % WARPGROUP == 0
    return RoleDecl(name, 0, count * unit, regs, ctx.span(keyword), by_warps)
