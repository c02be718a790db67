"""Types: `bf16[M, K] @ GMEM`, `f32[8] @ RMEM`, `SMEM(swizzle=128, ring=4)`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exogpu.ir.index import Index, Int
from exogpu.ir.placement import SWIZZLES
from exogpu.ir.types import Gmem, Memory, Rmem, Scalar, Smem, WgmmaA, WgmmaD
from exogpu.lang.errors import closest, reject
from exogpu.lang.indices import index, integer
from exogpu.lang.scope import Context
from exogpu.lang.surface import MEMORIES
from exogpu.lang.values import dtype

Rule = tuple[Callable[[int], bool], str]

OPTIONS: dict[type[Memory], dict[str, Rule]] = {
    Gmem: {},
    Smem: {
        "swizzle": (lambda v: v in SWIZZLES, "0, 32, 64 or 128 bytes"),
        "ring": (lambda v: v >= 1, "at least 1"),
        "pool": (lambda v: False, "text"),
        "offset": (lambda v: v >= 0, "at least 0"),
    },
    Rmem: {"threads": (lambda v: v >= 0, "at least 0")},
    WgmmaD: {},
    WgmmaA: {},
}


@dataclass(frozen=True, slots=True)
class TensorType:
    """A written tensor type."""

    dtype: Scalar
    shape: tuple[ast.expr, ...]
    memory: Memory


def tensor_type(ctx: Context, node: ast.expr, usual: str) -> TensorType:
    """The parts of `type[shape] @ memory`; where the memory is missing, the fix names the `usual` one."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)):
        help_text = f"write `{ast.unparse(node)} @ {usual}`"
        raise reject("memory", "the memory is missing from this type", ctx.span(node), "where does it live?", help_text)
    if not isinstance(node.left, ast.Subscript):
        element = dtype(ctx, node.left)
        help_text = f"write `{element.value}[1] @ ...` for a single element"
        raise reject("type", "a buffer needs a shape", ctx.span(node.left), "no dimensions", help_text)
    inner = node.left.slice
    shape = tuple(inner.elts) if isinstance(inner, ast.Tuple) else (inner,)
    return TensorType(dtype(ctx, node.left.value), shape, memory(ctx, node.right))


def memory(ctx: Context, node: ast.expr) -> Memory:
    """A memory: a name with or without options, or a captured one."""
    callee = node.func if isinstance(node, ast.Call) else node
    written, constant = ast.unparse(callee), ctx.outer(callee)
    if isinstance(constant, Memory) and callee is node:
        return constant
    kind = next((m for m in MEMORIES.values() if m is constant), None) or MEMORIES.get(written)
    if kind is None:
        help_text = closest(written, MEMORIES) or "the memories are GMEM, SMEM, RMEM, WGMMA_D and WGMMA_A"
        raise reject("memory", f"`{written}` is not a memory", ctx.span(callee), "unknown memory", help_text)
    values = _options(ctx, node, OPTIONS[kind]) if isinstance(node, ast.Call) else {}
    return kind(**values)


def _options(ctx: Context, node: ast.Call, allowed: dict[str, Rule]) -> dict[str, Any]:
    name = ast.unparse(node.func)
    usage = f"write `{name}({', '.join(f'{a}=...' for a in allowed)})`" if allowed else f"write `{name}`"
    if node.args:
        raise reject("arity", "memory options are given by name", ctx.span(node.args[0]), help=usage)
    values: dict[str, Any] = {}
    for keyword in node.keywords:
        option = keyword.arg or "**"
        if option not in allowed:
            text = f"`{name}` has no option `{option}`"
            raise reject("arity", text, ctx.span(keyword), help=closest(option, allowed) or usage)
        if option == "pool":
            values[option] = _pool(ctx, keyword.value)
            continue
        values[option] = integer(ctx, keyword.value, f"`{option}`", *allowed[option])
    return values


def _pool(ctx: Context, node: ast.expr) -> str:
    name = node.value if isinstance(node, ast.Constant) else ctx.constant(node)
    if isinstance(name, str) and name.isidentifier():
        return name
    raise reject("type_mismatch", "`pool` is a name in quotes", ctx.span(node), help='write `SMEM(pool="tiles")`')


def literal_shape(ctx: Context, dims: tuple[ast.expr, ...]) -> tuple[int, ...]:
    """The shape of an allocation: positive literals."""
    return tuple(integer(ctx, d, "a dimension of an allocation", lambda v: v >= 1, "at least 1") for d in dims)


def tensor_shape(ctx: Context, dims: tuple[ast.expr, ...]) -> tuple[Index, ...]:
    """The shape of a tensor argument: expressions over sizes."""
    shape = tuple(index(ctx, d) for d in dims)
    for node, extent in zip(dims, shape, strict=True):
        if isinstance(extent, Int) and extent.value < 1:
            raise reject("range", f"a dimension must be at least 1, not {extent.value}", ctx.span(node))
    return shape
