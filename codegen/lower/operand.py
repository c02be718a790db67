"""Operands of inline PTX: how each kind enters a helper function's signature and what the call passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from exogpu.codegen.counters import Use
from exogpu.codegen.cuda.tree import Apply, Binary, Expr, IntLit, Name, Spelled, Subscript, Unary
from exogpu.codegen.fold import Interval, simplify, simplify_cond
from exogpu.codegen.lower.place import (
    address_name,
    byte_offset,
    in_cta,
    own_part,
    place,
    pointer,
    require_multiple,
    swizzled,
)
from exogpu.codegen.lower.state import MapSpec, State, barrier_address, swizzle_of
from exogpu.codegen.lower.team import plus
from exogpu.codegen.lower.value import Typed, converted, narrowed, values_at, widened
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.emission import (
    LANE,
    THREAD,
    WARP,
    Accumulator,
    Applied,
    AsmOperand,
    BarrierAddress,
    BarrierCount,
    BarrierId,
    Coordinate,
    CtaMask,
    Element,
    Fragment,
    GlobalAddress,
    Loaded,
    MatrixDescriptor,
    Packed,
    Pairs,
    Predicate,
    RegisterValue,
    Rounded,
    SharedAddress,
    TensorMap,
    TileAddress,
)
from exogpu.ir.index import Bin, Bool, Index, Int
from exogpu.ir.instr import BufferInfo
from exogpu.ir.stmt import BarrierRef, InstrCall, Point, Range, Window
from exogpu.ir.types import Scalar, WgmmaA
from exogpu.ir.value import ScalarFn

DESCRIPTOR_UNIT = 16


@dataclass(frozen=True, slots=True)
class Bound:
    """An operand of one call: its C type and PTX constraint in the helper function, and the argument. `literal` is
    text that replaces it, `registers` the length of a register list, `read` and `written` what becomes of that list."""

    type: str
    constraint: str
    argument: Expr
    literal: str | None = None
    registers: int = 0
    read: bool = False
    written: bool = False
    predicate: bool = False


def executing(state: State) -> State:
    """`state` with THREAD, WARP and LANE bound to the executing team."""
    team = state.team
    values = {THREAD.name: team.thread, WARP.name: team.warp, LANE.name: team.lane}
    limits = {THREAD.name: team.size - 1, WARP.name: max(0, team.size // 32 - 1), LANE.name: min(31, team.size - 1)}
    facts = {**state.facts, **{name: Interval(0, limit) for name, limit in limits.items()}}
    return replace(state, names={**state.names, **values}, facts=facts)


def element_index(call: InstrCall, at: Element) -> tuple[str, tuple[Index, ...]]:
    """Buffer and indices of an element of a window operand."""
    window = call.window(at.operand)
    offsets = iter(at.offsets or [Int(0)] * len(window.shape))
    return window.buffer, tuple(d.index if isinstance(d, Point) else Bin("+", d.lo, next(offsets)) for d in window.dims)


def origin(window: Window) -> tuple[Index, ...]:
    """Indices of a window's first element."""
    return tuple(d.index if isinstance(d, Point) else d.lo for d in window.dims)


def first_register(window: Window) -> int:
    """Element, of those that the thread holds, that begins a fragment window: each thread holds half as many elements
    of a row block as there are columns, in the order of their blocks of 8 (PTX ISA, wgmma A and D)."""
    column = window.dims[-1]
    if not isinstance(column, Range) or not isinstance(column.lo, Int) or column.lo.value % 8:
        message = f"the first column of `{window.buffer}` here is not a literal, so it names no register"
        raise BadInput((Diagnostic("unsupported", message, window.span, help="unroll the loop that it depends on"),))
    return column.lo.value // 2


def bind(state: State, call: InstrCall, operand: AsmOperand, use: Use | None) -> Bound:
    """The operand at this call; `use` is the slot of the call's barrier, if it has one."""
    match operand:
        case SharedAddress(at, align):
            return Bound("unsigned", "r", _shared(state, call, at, align))
        case GlobalAddress(at):
            target = pointer(state, *element_index(call, at), call.span)
            return Bound("unsigned long long", "l", Apply("__cvta_generic_to_global", (target,)))
        case TileAddress(name, align):
            return Bound("unsigned", "r", _tile(state, call.window(name), align, call))
        case TensorMap(tensor, tile):
            return Bound("unsigned long long", "l", Apply("map_address", (_map(state, call, tensor, tile),)))
        case Coordinate(tensor, dim):
            return Bound("int", "r", state.indices.expr(origin(call.window(tensor))[dim]))
        case BarrierAddress() | BarrierId() | BarrierCount():
            return _barrier(state, call, operand, use)
        case CtaMask(name):
            return Bound("unsigned short", "h", _mask(call.window(name)))
        case MatrixDescriptor():
            return Bound("unsigned long long", "l", _descriptor(state, call, operand))
        case Predicate(cond):
            test = simplify_cond(cond, state.facts)
            literal = str(int(test.value)) if isinstance(test, Bool) else None
            return Bound("bool", "r", state.indices.cond(test), literal=literal, predicate=True)
        case Accumulator() | Pairs() | Packed() | Rounded():
            return _registers(state, call, operand)


def _registers(state: State, call: InstrCall, operand: Accumulator | Pairs | Packed | Rounded) -> Bound:
    match operand:
        case Accumulator(name, reads):
            window = call.window(name)
            array = plus(Name(window.buffer, user=True), first_register(window))
            return Bound("float*", "f", array, registers=window.shape[-1] // 2, read=reads, written=True)
        case Pairs(at, count, written):
            array = Unary("&", fragment(state, call, at))
            kind = "unsigned*" if written else "const unsigned*"
            return Bound(kind, "r", array, registers=count, read=not written, written=written)
        case Packed(to, low, high):
            values = (register_value(state, call, low), register_value(state, call, high))
            return Bound("unsigned", "r", Apply(f"pack_{to.value}", tuple(converted(v, Scalar.F32) for v in values)))
        case Rounded(to, value):
            return _rounded(narrowed(register_value(state, call, value), to), to)


def _rounded(value: Expr, to: Scalar) -> Bound:
    match to:
        case Scalar.F32:
            return Bound("float", "f", value)
        case Scalar.F64:
            return Bound("double", "d", value)
        case Scalar.I32:
            return Bound("int", "r", value)
        case _:
            return Bound("unsigned short", "h", Spelled("{0}.bits", (value,)))


def fragment(state: State, call: InstrCall, at: Fragment) -> Expr:
    """A register: one element of an accumulator, or a pair of elements of an A fragment."""
    window = call.window(at.operand)
    elements = 2 if isinstance(state.buffers[window.buffer].memory, WgmmaA) else 1
    position = Bin("+", Int(first_register(window) // elements), at.index)
    return Subscript(Name(window.buffer, user=True), state.indices.expr(position))


def _barrier(
    state: State, call: InstrCall, operand: BarrierAddress | BarrierId | BarrierCount, use: Use | None
) -> Bound:
    ref = call.operand(operand.operand)
    assert isinstance(ref, BarrierRef)
    match operand:
        case BarrierAddress():
            assert use is not None
            return Bound("unsigned", "r", barrier_address(state, ref.name, use))
        case BarrierId():
            number = state.gathered.barriers.declared[ref.name]
        case BarrierCount():
            number = next(b.count for b in state.proc.named if b.name == ref.name)
    return Bound("int", "n", IntLit(number), literal=str(number))


def register_value(state: State, call: InstrCall, value: RegisterValue) -> Typed:
    """A register of an accumulator window or an element, with the per-element function applied."""
    match value:
        case Fragment():
            return Typed(fragment(state, call, value), Scalar.F32)
        case Loaded(at):
            buffer, indices = element_index(call, at)
            return widened(place(state, buffer, indices, call.span), state.buffers[buffer].dtype)
        case Applied(name, inner):
            argument = register_value(state, call, inner)
            fn = call.operand(name)
            if not isinstance(fn, ScalarFn):
                return argument
            return values_at(state, {fn.params[0]: argument}).value(fn.body, Scalar.F32)


def _base(state: State, buffer: str, offset: Expr) -> Expr:
    base = Name(address_name(buffer))
    return base if offset == IntLit(0) else Binary("+", base, offset)


def _shared(state: State, call: InstrCall, at: Element, align: int) -> Expr:
    buffer, indices = element_index(call, at)
    info, index = own_part(state, buffer, indices, call.span)
    require_multiple(simplify(byte_offset(info, index), state.facts), align, f"the window of `{buffer}`", call.span)
    return _base(state, buffer, swizzled(state, info, index))


def tile_part(state: State, window: Window, call: InstrCall) -> tuple[BufferInfo, Sequence[Index]]:
    """The executing CTA's part of a buffer, and the window's start in it. An instruction that is spread over CTAs names
    the place in its own; the hardware goes to the same place in the others (PTX ISA, .multicast::cluster)."""
    start = origin(window)
    if call.instr.spread is not None and call.window(call.instr.spread) == window:
        info, index, _ = in_cta(state, state.buffers[window.buffer], start)
        return info, index
    return own_part(state, window.buffer, start, call.span)


def _tile(state: State, window: Window, align: int, call: InstrCall) -> Expr:
    info, index = tile_part(state, window, call)
    offset = simplify(byte_offset(info, index), state.facts)
    require_multiple(offset, align, f"the tile in `{window.buffer}`", call.span)
    return _base(state, window.buffer, state.indices.expr(offset))


def _mask(window: Window) -> IntLit:
    ctas = next(d for d in window.dims if isinstance(d, Range))
    if not isinstance(ctas.lo, Int):
        raise BadInput((Diagnostic("unsupported", "the CTAs of a multicast are literal", window.span),))
    return IntLit((1 << ctas.extent) - 1 << ctas.lo.value, "u")


def _map(state: State, call: InstrCall, tensor: str, tile: str) -> Name:
    window, shared = call.window(tensor), call.window(tile)
    box = tuple(d.extent if isinstance(d, Range) else 1 for d in window.dims)
    return state.gathered.map_name(MapSpec(window.buffer, box, swizzle_of(state.buffers[shared.buffer])))


def _descriptor(state: State, call: InstrCall, operand: MatrixDescriptor) -> Expr:
    window = call.window(operand.operand)
    info, index = own_part(state, window.buffer, origin(window), call.span)
    *leading, column = index
    rows = simplify(byte_offset(info, (*leading, Int(0))), state.facts)
    require_multiple(rows, operand.atom, f"the first row of the operand in `{window.buffer}`", call.span)
    inside = simplify(Bin("*", column, Int(info.dtype.bytes)), state.facts)
    require_multiple(inside, DESCRIPTOR_UNIT, f"the operand in `{window.buffer}`", call.span)
    advance = inside.value // DESCRIPTOR_UNIT if isinstance(inside, Int) else 0
    start = rows if isinstance(inside, Int) else Bin("+", rows, inside)
    low = (operand.leading << 16) + advance
    high = (operand.layout << 30) | operand.stride
    address = _base(state, window.buffer, state.indices.expr(start))
    return Apply("matrix_descriptor", (address, IntLit(low, "u"), IntLit(high, "u")))
