"""Elements of buffers as C++ lvalues, pointers and shared-memory addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from exogpu.codegen.cuda.tree import Apply, Binary, Convert, Expr, IntLit, Name, Subscript, Unary
from exogpu.codegen.fold import simplify
from exogpu.codegen.lower.state import C_TYPES, State, swizzle_of
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.linear import linear
from exogpu.ir.types import Gmem, Rmem, Smem, WgmmaA, WgmmaD
from exogpu.source import Span


def extents(info: BufferInfo) -> tuple[int, ...]:
    """Literal extents of a buffer that is not a tensor argument."""
    return tuple(e.value for e in info.shape if isinstance(e, Int))


def linear_index(index: Sequence[Index], shape: Sequence[int]) -> Index:
    """Row-major position of an element."""
    position: Index = Int(0)
    for i, extent in zip(index, shape, strict=True):
        position = Bin("+", Bin("*", position, Int(extent)), i)
    return position


def byte_offset(info: BufferInfo, index: Sequence[Index]) -> Index:
    """Row-major byte offset in a shared-memory buffer, before swizzling."""
    return Bin("*", linear_index(index, extents(info)), Int(info.dtype.bytes))


def in_cta(state: State, info: BufferInfo, index: Sequence[Index]) -> tuple[BufferInfo, Sequence[Index], Expr | None]:
    """What one CTA holds of a buffer, the index in it, and which CTA that is (None: the executing one)."""
    if not state.proc.block.clustered or not isinstance(info.memory, Smem):
        return info, index, None
    cta = simplify(index[0], state.facts)
    own = isinstance(cta, Var) and cta.name in state.own_cta
    return replace(info, shape=info.shape[1:]), index[1:], None if own else state.indices.expr(cta)


def own_part(state: State, buffer: str, index: Sequence[Index], span: Span) -> tuple[BufferInfo, Sequence[Index]]:
    """What the executing CTA holds of a buffer, and the index in it; BadInput for another CTA's part."""
    info, rest, cta = in_cta(state, state.buffers[buffer], index)
    if cta is not None:
        message = f"this instruction reaches only the own CTA's part of `{buffer}`"
        fix = "index the first dimension with the variable of the enclosing `threads(..., unit=cta)` loop"
        raise BadInput((Diagnostic("unsupported", message, span, help=fix),))
    return info, rest


def swizzled(state: State, info: BufferInfo, index: Sequence[Index]) -> Expr:
    """Byte offset of an element in a shared-memory buffer."""
    offset = simplify(byte_offset(info, index), state.facts)
    swizzle = swizzle_of(info)
    expr = state.indices.expr(offset)
    if not swizzle or linear(offset).multiple_of(8 * swizzle):
        return expr
    return Apply("swizzle", (expr,), (str(swizzle),))


def register_count(info: BufferInfo) -> int:
    """Variables that one thread holds of a register buffer: elements, or pairs of an A fragment."""
    match info.memory:
        case Rmem(threads):
            return prod(extents(info)[threads:])
        case WgmmaA():
            return extents(info)[-1] // 4
        case _:
            return extents(info)[-1] // 2


def place(state: State, buffer: str, index: Sequence[Index], span: Span) -> Expr:
    """The lvalue of an element, of the buffer's storage type."""
    info, index, cta = in_cta(state, state.buffers[buffer], index)
    name = Name(buffer, user=True)
    match info.memory:
        case Gmem():
            return Subscript(name, global_offset(state, buffer, info, index))
        case Smem(swizzle=0):
            start: Expr = name if cta is None else Apply("in_cta", (name, cta))
            return Subscript(start, state.indices.expr(linear_index(index, extents(info))))
        case Smem():
            bytes_: Expr = Name(bytes_name(buffer))
            bytes_ = bytes_ if cta is None else Apply("in_cta", (bytes_, cta))
            pointer = Binary("+", bytes_, swizzled(state, info, index))
            return Unary("*", Convert(f"{C_TYPES[info.dtype]}*", pointer, "reinterpret_cast"))
        case Rmem(threads):
            return Subscript(name, state.indices.expr(linear_index(index[threads:], extents(info)[threads:])))
        case WgmmaD() | WgmmaA():
            raise BadInput((_no_element_access(buffer, span),))


def _no_element_access(buffer: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "unsupported",
        f"single elements of the wgmma registers `{buffer}` have no address",
        span,
        help="instructions access them; store an accumulator to shared or global memory, with a per-element function",
    )


def global_offset(state: State, buffer: str, info: BufferInfo, index: Sequence[Index]) -> Expr:
    """64-bit element offset in a tensor: a row pitch for rank 2, contiguous dimensions beyond."""
    parts = [state.indices.expr(i) for i in index]
    if len(parts) < 2:
        return parts[0] if parts else IntLit(0)
    strides = [state.indices.expr(extent) for extent in info.shape[1:]]
    offset: Expr = Convert("int64", parts[0])
    for part, stride in zip(parts[1:], strides, strict=True):
        step = Name(pitch_name(buffer)) if len(parts) == 2 else stride
        offset = Binary("*", offset, step)
        offset = offset if part == IntLit(0) else Binary("+", offset, part)
    return offset


def pitch_name(tensor: str) -> str:
    """The kernel parameter with a tensor's row pitch in elements."""
    return f"{tensor}_pitch"


def bytes_name(buffer: str) -> str:
    """The byte pointer to a swizzled buffer."""
    return f"{buffer}_bytes"


def address_name(buffer: str) -> str:
    """The 32-bit shared-memory address of a buffer."""
    return f"{buffer}_address"


def pointer(state: State, buffer: str, index: Sequence[Index], span: Span) -> Expr:
    """A pointer to an element."""
    return Unary("&", place(state, buffer, index, span))


def require_multiple(e: Index, align: int, what: str, span: Span) -> None:
    """BadInput unless `e` bytes is known to be a multiple of `align`."""
    if not linear(e).multiple_of(align):
        raise BadInput(
            (
                Diagnostic(
                    "contract.alignment",
                    f"{what} must start at a multiple of {align} bytes",
                    span,
                    notes=("the index expressions do not show that it does",),
                    help=f"make every index a visible multiple, such as `{align} * i`",
                ),
            )
        )
