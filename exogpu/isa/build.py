"""Small builders for instruction meanings and contracts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.stmt import Assign, For, Point, Range, Seq, Stmt, Window
from exogpu.ir.value import Num, Read, ScalarFn, Select, Value
from exogpu.ir.walk import substitute_scalars


def element(window: Window, offsets: Sequence[Index]) -> tuple[Index, ...]:
    """Indices of the window's element at `offsets` (one per ranged dimension)."""
    rest = iter(offsets)
    return tuple(d.index if isinstance(d, Point) else Bin("+", d.lo, next(rest)) for d in window.dims)


def in_bounds(index: Sequence[Index], info: BufferInfo) -> Cond:
    """The condition that `index` lies inside the buffer."""
    tests: list[Cond] = []
    for i, extent in zip(index, info.shape, strict=True):
        tests += [Cmp(">=", i, Int(0)), Cmp("<", i, extent)]
    return BoolOp("and", tuple(tests)) if tests else Bool(True)


def zero_filled(window: Window, offsets: Sequence[Index], info: BufferInfo) -> Value:
    """The window's element, or 0 outside the tensor."""
    index = element(window, offsets)
    return Select(in_bounds(index, info), Read(window.buffer, index), Num(0.0))


def nest(shape: Sequence[int], body: Callable[[tuple[Index, ...]], Stmt]) -> tuple[Stmt, ...]:
    """Sequential loops over `shape` around one statement."""
    names = tuple(f"_e{d}" for d in range(len(shape)))
    stmt = body(tuple(Var(n) for n in names))
    for name, extent in reversed(tuple(zip(names, shape, strict=True))):
        stmt = For(name, Int(0), Int(extent), Seq(), (stmt,))
    return (stmt,)


def apply_fn(fn: ScalarFn | None, arg: Value) -> Value:
    """`fn(arg)`, or `arg` without a function."""
    return arg if fn is None else substitute_scalars(fn.body, {fn.params[0]: arg})


def trails(window: Window, count: int) -> bool:
    """The window's ranged dimensions are the last `count` ones: it is a tile of consecutive rows."""
    return len(window.dims) >= count and [isinstance(d, Range) for d in window.dims] == [
        n >= len(window.dims) - count for n in range(len(window.dims))
    ]


def ranges(window: Window) -> tuple[Range, ...]:
    """The ranged dimensions of a window."""
    return tuple(d for d in window.dims if isinstance(d, Range))


def assign(window: Window, offsets: Sequence[Index], rhs: Value) -> Stmt:
    """`window[offsets] = rhs`."""
    return Assign(window.buffer, element(window, offsets), "=", rhs)


def add(window: Window, offsets: Sequence[Index], rhs: Value) -> Stmt:
    """`window[offsets] += rhs`."""
    return Assign(window.buffer, element(window, offsets), "+=", rhs)
