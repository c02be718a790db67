"""What the parallel program needs to know of one instruction call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from exogpu.ir.computed import computed_by_cond
from exogpu.ir.evaluate import const
from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Index, Int, Not, Var
from exogpu.ir.instr import (
    Buffers,
    CompleteTx,
    CopyArrive,
    Footprint,
    GroupMember,
    HoldsPhase,
    InOrder,
    NamedArrive,
    WaitGroup,
)
from exogpu.ir.stmt import BarrierRef, IndexArg, InstrCall, Range, Window
from exogpu.ir.types import Gmem
from exogpu.verify.program import ALL, Access, Action, Aligned, ArriveAction, Computed, InGroup, TxOn, WaitAction


def barrier_of(call: InstrCall, operand: str) -> str:
    """The barrier given for an operand."""
    ref = call.operand(operand)
    if not isinstance(ref, BarrierRef):
        raise TypeError(f"{call.instr.name}: {operand} is not a barrier")
    return ref.name


def delivered(call: InstrCall, buffers: Buffers, *, spread: bool) -> int:
    """Bytes that a copy completes on one barrier."""
    if not isinstance(call.instr.completion, CompleteTx):
        return 0
    window = call.window(call.instr.completion.data)
    return size_of(window, buffers) // (window.shape[0] if spread else 1)


def completion_of(call: InstrCall, size: int, cta: Index | None) -> TxOn | InGroup | None:
    """How an asynchronous instruction completes: a copy of `size` bytes on the barrier of `cta`."""
    match call.instr.completion:
        case InOrder():
            return None
        case GroupMember(group):
            return InGroup(group)
        case HoldsPhase(barrier):
            return TxOn(barrier_of(call, barrier), 0, holds=True)
        case CompleteTx(barrier):
            return TxOn(barrier_of(call, barrier), size, cta)


def effect(call: InstrCall) -> Action | None:
    """What the instruction does besides touching memory."""
    match call.instr.effect:
        case WaitGroup(group, None, reads_only):
            return WaitAction(group, ALL, reads_only)
        case CopyArrive(barrier):
            return ArriveAction(barrier_of(call, barrier), 0, after_copies=True)
        case NamedArrive():
            raise TypeError(f"{call.instr.name} is several events")
        case WaitGroup(group, str() as operand, reads_only):
            arg = call.operand(operand)
            if not isinstance(arg, IndexArg):
                raise TypeError(f"{call.instr.name}: {operand} is missing")
            return WaitAction(group, const(arg.value), reads_only)
        case other:
            return other


def ends(access: Access) -> Iterator[Index]:
    """First and last index per dimension: the elements between are computed by adding offsets."""
    for lo, extent in access.dims:
        yield lo
        if extent > 1:
            yield Bin("+", lo, Int(extent - 1))


def conditions(call: InstrCall) -> Iterator[Computed]:
    """What the conditions and integers among the operands compute."""
    for _, arg in call.operands:
        match arg:
            case IndexArg(Cmp() | BoolOp() | Not() | Bool() as cond):
                yield from (Computed(*c) for c in computed_by_cond(cond))
            case IndexArg(Var() | Int() | Bin() as index):
                yield Computed(index)
            case _:
                pass


def pipeline(call: InstrCall) -> str | None:
    """The shape of a wgmma, whose exemption from fences and waits is for those of one shape on one tile."""
    return None if call.instr.pipelined is None else call.instr.pipelined(call)


def alignments(call: InstrCall, buffers: Buffers) -> tuple[Aligned, ...]:
    """The alignments that it requires."""
    out: list[Aligned] = []
    for need in call.instr.alignments(call, buffers):
        window = call.window(need.operand)
        dim = need.dim % len(window.dims)
        place = window.dims[dim]
        index = place.lo if isinstance(place, Range) else place.index
        out.append(Aligned(window.buffer, dim, index, need.multiple))
    return tuple(out)


def footprint(call: InstrCall, f: Footprint, buffers: Buffers) -> Access:
    """What it does to one of its windows."""
    window = call.window(f.operand)
    dims = tuple((d.lo, d.extent) if isinstance(d, Range) else (d.index, 1) for d in window.dims)
    ranged = tuple(n for n, d in enumerate(window.dims) if isinstance(d, Range))
    warp_dim = None if f.warp_dim is None else ranged[f.warp_dim]
    clips = f.operand in call.instr.zero_fill and isinstance(buffers[window.buffer].memory, Gmem)
    clipped = (tuple(range(len(dims))) if call.instr.fills_points else ranged) if clips else ()
    return Access(window.buffer, dims, f.mode, f.proxy, window.span, warp_dim, clipped)


def one_cta(call: InstrCall, f: Footprint, cta: Index, buffers: Buffers) -> Access:
    """The access of the part of a spread instruction that works in one CTA."""
    access = footprint(call, f, buffers)
    if f.operand != call.instr.spread:
        return access
    dim = next(n for n, d in enumerate(call.window(f.operand).dims) if isinstance(d, Range))
    return replace(access, dims=(*access.dims[:dim], (cta, 1), *access.dims[dim + 1 :]))


def size_of(window: Window, buffers: Buffers) -> int:
    """Bytes of a window."""
    return prod(window.shape) * buffers[window.buffer].dtype.bytes
