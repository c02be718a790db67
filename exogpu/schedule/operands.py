"""Operands of an instruction: windows that a block touches, and operands written as text."""

from __future__ import annotations

from exogpu.ir.index import Index, Int, Var
from exogpu.ir.instr import Instr, Mode, Param
from exogpu.ir.linear import Linear, linear, literal
from exogpu.ir.stmt import BarrierRef, IndexArg, Operand, Point, Range, Window
from exogpu.ir.terms import subtract, total
from exogpu.ir.value import ScalarFn
from exogpu.ir.walk import index_names
from exogpu.schedule.effects import Access, Buffers, Does
from exogpu.schedule.errors import limit
from exogpu.schedule.expr import as_cond
from exogpu.schedule.windows import WindowLike, as_window

OperandLike = int | WindowLike | ScalarFn
"""A number, the name of a barrier, the text of a window or condition, or a scalar function."""

_TOUCHES = {Mode.READ: (Does.READ,), Mode.WRITE: (Does.WRITE, Does.ADD), Mode.REDUCE: (Does.ADD,)}


def candidates(instr: Instr, param: Param, accesses: tuple[Access, ...], buffers: Buffers) -> list[Window]:
    """The windows of a block that a parameter can stand for: what is accessed in a way that the instruction declares
    for it, in a memory, of a type and of a rank that it takes."""
    modes = [f.mode for f in instr.footprints if f.operand == param.name]
    found: list[Window] = []
    for access in accesses:
        info = buffers[access.buffer]
        fits = not param.memories or isinstance(info.memory, param.memories)
        fits = fits and (not param.dtypes or info.dtype in param.dtypes)
        if not fits or not any(access.does in _TOUCHES[mode] for mode in modes):
            continue
        window = touched(access)
        if window is not None and window not in found and param.rank in (0, len(window.shape)):
            found.append(window)
    return found


def touched(access: Access) -> Window | None:
    """The smallest window around the elements of an access; None if its extents are not literal, or an index is not
    linear in the loops."""
    dims: list[Point | Range] = []
    for index in access.index:
        form = linear(index)
        inner = {a: c for a, c in form.terms.items() if isinstance(a, Var) and a.name in access.inner}
        if any(index_names(a) & set(access.inner) for a in form.terms if a not in inner):
            return None
        if not inner:
            dims.append(Point(index))
            continue
        bounds = {a.name: _bounds(access, a.name) for a in inner if isinstance(a, Var)}
        outer = {a: c for a, c in form.terms.items() if a not in inner}
        lo, extent = Linear(outer, form.const), 1
        for atom, factor in inner.items():
            assert isinstance(atom, Var)
            first, trips = bounds[atom.name]
            if trips is None or trips < 1:
                return None
            lo = lo.plus(linear(first), factor).plus(Linear({}, min(factor, 0) * (trips - 1)))
            extent += abs(factor) * (trips - 1)
        dims.append(Range(total(lo), extent))
    return Window(access.buffer, tuple(dims), access.span)


def _bounds(access: Access, name: str) -> tuple[Index, int | None]:
    """Where a loop inside the block starts, and its literal number of iterations."""
    lo, hi = access.range(name)
    return lo, literal(subtract(hi, lo))


def operand(param: Param, given: OperandLike, buffers: Buffers) -> Operand:
    """An operand that is written out."""
    match param.kind, given:
        case "window", (str() | Window()):
            return as_window(given, buffers)
        case (("barrier" | "named"), str()):
            return BarrierRef(given)
        case "int", int():
            return IndexArg(Int(given))
        case "cond", str():
            return IndexArg(as_cond(given))
        case "fn", ScalarFn():
            return given
    raise limit(f"`{given}` is no operand for `{param.name}`")
