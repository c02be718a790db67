"""Elements and windows of buffers: `a[i, j]`, `a[w, :, 16 * k : 16 * k + 16]`."""

from __future__ import annotations

import ast

from exogpu.ir.index import Index, Int
from exogpu.ir.linear import linear
from exogpu.ir.stmt import Point, Range, Window
from exogpu.lang.errors import reject
from exogpu.lang.indices import index
from exogpu.lang.scope import Buffer, Context


def buffer(ctx: Context, node: ast.expr) -> Buffer:
    """The tensor or allocation that a name means."""
    if not isinstance(node, ast.Name):
        raise reject("syntax", "a buffer is named here", ctx.span(node), help="write `name[index, ...]`")
    entity = ctx.lookup(node)
    if not isinstance(entity, Buffer):
        raise reject("type_mismatch", f"`{node.id}` is not a buffer", ctx.span(node), "has no elements")
    return entity


def subscripts(node: ast.Subscript) -> tuple[ast.expr, ...]:
    """The indices inside the brackets, one per dimension."""
    return tuple(node.slice.elts) if isinstance(node.slice, ast.Tuple) else (node.slice,)


def element(ctx: Context, node: ast.Subscript) -> tuple[Buffer, tuple[Index, ...]]:
    """One element of a buffer."""
    target = buffer(ctx, node.value)
    dims = subscripts(node)
    _check_rank(ctx, node, target, len(dims))
    for d in dims:
        if isinstance(d, ast.Slice):
            text = "one element is needed here, and this is a range"
            raise reject(
                "rank", text, ctx.span(d), help="write a loop over the elements, or an instruction on the window"
            )
    return target, tuple(index(ctx, d) for d in dims)


def window(ctx: Context, node: ast.expr) -> Window:
    """A rectangular part of a buffer; its bare name is all of it."""
    if isinstance(node, ast.Name):
        named = buffer(ctx, node)
        dims = tuple(whole(ctx, node, extent) for extent in named.info.shape)
        return Window(named.name, dims, ctx.span(node))
    if not isinstance(node, ast.Subscript):
        raise reject(
            "type_mismatch", "a window of a buffer is expected here", ctx.span(node), help="write `name[lo : hi, ...]`"
        )
    target = buffer(ctx, node.value)
    written = subscripts(node)
    _check_rank(ctx, node, target, len(written))
    pairs = zip(written, target.info.shape, strict=True)
    return Window(target.name, tuple(dimension(ctx, d, extent) for d, extent in pairs), ctx.span(node))


def _check_rank(ctx: Context, node: ast.Subscript, target: Buffer, given: int) -> None:
    rank = len(target.info.shape)
    if rank != given:
        text = f"`{target.name}` has {rank} dimension{'s' * (rank != 1)}, not {given}"
        raise reject("rank", text, ctx.span(node), help="give one index or range per dimension")


def whole(ctx: Context, node: ast.expr, extent: Index) -> Range:
    """All of a dimension, whose extent must be a literal."""
    if not isinstance(extent, Int):
        help_text = "write a range of literal length, as in `a[64 * i : 64 * i + 64, ...]`"
        raise reject(
            "window_extent",
            "a window's extent must be a literal, and this dimension's is a size",
            ctx.span(node),
            help=help_text,
        )
    return Range(Int(0), extent.value)


def dimension(ctx: Context, node: ast.expr, extent: Index) -> Point | Range:
    """One index, or a range of literal length; `extent` is the length of `:`."""
    if not isinstance(node, ast.Slice):
        return Point(index(ctx, node))
    if node.step is not None:
        raise reject(
            "syntax", "a window has no step", ctx.span(node.step), help="windows are contiguous in every dimension"
        )
    if node.lower is None and node.upper is None:
        return whole(ctx, node, extent)
    lo = Int(0) if node.lower is None else index(ctx, node.lower)
    hi = extent if node.upper is None else index(ctx, node.upper)
    length = linear(hi).plus(linear(lo), -1)
    if length.terms:
        help_text = "write the upper bound as the lower bound plus a number, as in `16 * k : 16 * k + 16`"
        raise reject("window_extent", "a window's extent must be a literal", ctx.span(node), "varies", help_text)
    if length.const < 1:
        raise reject("window_extent", f"the window has {length.const} elements here", ctx.span(node), "empty")
    return Range(lo, length.const)
