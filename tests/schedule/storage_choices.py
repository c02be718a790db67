"""Random choices of storage operators, and random programs on which they are interesting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hypothesis import strategies as st

from exogpu.ir.buffers import buffers_of
from exogpu.ir.index import Bin, Cmp, Index, Int, Var
from exogpu.ir.linear import literal
from exogpu.ir.proc import UNSCHEDULED, Proc, Require, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, For, If, Point, Range, Seq, Stmt, Window
from exogpu.ir.types import Rmem, Scalar, Smem
from exogpu.ir.value import Arith, Num, Read
from exogpu.ir.walk import index_names
from exogpu.schedule import (
    Cursor,
    Refused,
    Schedule,
    divide_dim,
    drop_dim,
    expand_dim,
    extract,
    inline_window,
    join_dims,
    put_back,
    rearrange_dims,
    resize_dim,
    ring_buffer,
    set_memory,
    set_type,
    simplify,
    split_reduction,
    stage,
)
from exogpu.schedule.effects import Access, Does, effects
from exogpu.schedule.facts import around
from exogpu.schedule.stage import Before, Edges

Apply = Callable[[Schedule, Cursor, int], Schedule]
EDGES: tuple[Edges, ...] = ("guard", "perfect", "zero")
BEFORE: tuple[Before, ...] = ("copy", "nothing", "zero")


def _accesses(at: Cursor) -> tuple[Access, ...]:
    found = effects(at.block, buffers_of(at.proc))
    if not found:
        raise Refused("schedule.limit", "nothing is accessed")
    return found


def _variables(at: Cursor) -> list[Index]:
    return [Var(stmt.var) for stmt, _ in around(at.proc, at.path) if isinstance(stmt, For)]


def _window(at: Cursor, access: Access, n: int) -> Window:
    """All of each dimension, a part of it, or the index of an access that does not depend on inner loops."""
    dims: list[Point | Range] = []
    for m, (i, extent) in enumerate(zip(access.index, buffers_of(at.proc)[access.buffer].shape, strict=True)):
        whole = Range(Int(0), literal(extent) or 1)
        part = Range(Int(n % 3), 5 + n % 7)
        point = whole if index_names(i) & set(access.inner) else Point(i)
        dims.append((whole, point, part, point)[(n + m) % 4])
    return Window(access.buffer, tuple(dims))


def _stage(s: Schedule, at: Cursor, n: int) -> Schedule:
    accesses = _accesses(at)
    window = _window(at, accesses[n % len(accesses)], n // 7)
    return stage(s, at, window, f"s{len(s.steps)}", edges=EDGES[n % 3], before=BEFORE[n // 3 % 3])


def _there_and_back(s: Schedule, at: Cursor, n: int) -> Schedule:
    name = f"s{len(s.steps)}"
    accesses = _accesses(at)
    window = _window(at, accesses[n % len(accesses)], n // 7)
    return inline_window(stage(s, at, window, name, edges=("guard", "perfect")[n % 2]), name)


def _split(s: Schedule, at: Cursor, n: int) -> Schedule:
    adds = [a for a in _accesses(at) if a.does is Does.ADD]
    if not adds:
        raise Refused("schedule.limit", "nothing is added")
    window = _window(at, adds[n % len(adds)], n // 5)
    name = f"s{len(s.steps)}"
    return split_reduction(s, at, 1 + n % 3, window, name, edges="guard", sums="kept" if n % 2 else "added")


def _part(s: Schedule, at: Cursor, n: int) -> Schedule:
    """Statements scheduled by themselves, by a step of which the rest of the procedure knows nothing."""
    part = extract(s, at, "part")
    first = Cursor(part.proc, 0, (0,))
    steps: tuple[Apply, ...] = (_stage, lambda s, at, n: simplify(s), _split, _there_and_back)
    return put_back(s, at, steps[n % 4](part, first, n // 4) if n else part)


def _expand(s: Schedule, at: Cursor, n: int) -> Schedule:
    choices: list[Index] = [*_variables(at), Var("N"), Int(n % 3)]
    index = choices[n % len(choices)]
    if n % 4 == 3:
        index = Bin("%", index, Int(2))
    return expand_dim(s, at, 6 - n % 5, index, n % 2)


def _rearrange(s: Schedule, at: Cursor, n: int) -> Schedule:
    return rearrange_dims(divide_dim(s, at, 0, (4, 3, 2)[n % 3]), at, (1, 0))


STORAGE: dict[str, Apply] = {
    "stage": _stage,
    "split a reduction": _split,
    "expand a dimension": _expand,
    "expand and drop a dimension": lambda s, at, n: drop_dim(expand_dim(s, at, 1, 0), at, 0),
    "divide and rearrange dimensions": _rearrange,
    "divide and join dimensions": lambda s, at, n: join_dims(divide_dim(s, at, -1, (4, 3, 2)[n % 3]), at, -2),
    "resize a dimension": lambda s, at, n: resize_dim(s, at, -1, 13 - n % 12, (-1, 0, 1)[n // 2 % 3]),
    "ring": lambda s, at, n: ring_buffer(s, at, 12 - n % 12, -1),
    "memory": lambda s, at, n: set_memory(s, at, Smem(swizzle=(0, 128)[n % 2])),
    "stage and inline": _there_and_back,
    "inline a window": lambda s, at, n: inline_window(s, at),
    "extract and put back": _part,
    "type": lambda s, at, n: set_type(s, at, (Scalar.I8, Scalar.I32)[n % 2]),
}
"""They apply to some random program with n = 0."""

N = Var("N")
ARGS = (
    SizeArg("N"),
    TensorArg("x", Scalar.I32, (Bin("+", N, Int(8)),)),
    TensorArg("y", Scalar.I32, (Bin("+", N, Int(8)),)),
)


def _procedure(*body: Stmt) -> Proc:
    return Proc("random", ARGS, (Require(Cmp("<=", N, Int(8))),), UNSCHEDULED, (), body)


def _loop(var: str, hi: Index, *body: Stmt) -> For:
    return For(var, Int(0), hi, Seq(), body)


@st.composite
def rings(draw: st.DrawFn) -> Proc:
    """A buffer that a loop writes and reads a few places apart; the first places are written before."""
    k, a = Var("k"), Var("a")

    def place() -> Index:
        return Bin("+", k, Int(draw(st.integers(0, 3))))

    body: list[Stmt] = []
    for _ in range(draw(st.integers(1, 2))):
        write = Assign("t", (place(),), draw(st.sampled_from(("=", "=", "+="))), Read("x", (k,)))
        inner = _loop("b", Int(2), write) if draw(st.booleans()) and not body else write
        guard = If(Cmp("<", k, Bin("-", N, Int(draw(st.integers(0, 2))))), (inner,), ())
        body.append(guard if draw(st.booleans()) else inner)
    for _ in range(draw(st.integers(1, 2))):
        read = Assign("y", (k,), "+=", Arith("+", Read("t", (place(),)), Read("t", (place(),))))
        body.insert(draw(st.integers(0, len(body))), read)
    first = draw(st.sampled_from((0, 1, 2, 4, 12)))
    init = _loop("a", Int(first), Assign("t", (a,), "=", Num(float(draw(st.integers(0, 3))))))
    return _procedure(Alloc("t", Scalar.I32, (12,), Rmem()), init, _loop("k", N, *body))


@st.composite
def tiles(draw: st.DrawFn) -> Proc:
    """Tiles of a tensor that can reach over its edges, with accesses a few elements apart."""
    tile = Bin("+", Bin("*", Int(3), Var("io")), Var("i"))

    def near() -> Index:
        return Bin("+", tile, Int(draw(st.sampled_from((0, 0, 0, 1, 2, 3)))))

    op: Literal["=", "+="] = draw(st.sampled_from(("=", "=", "+=", "+=")))
    target, other = near(), near()
    stmts: list[Stmt] = [Assign("y", (target,), op, Read(draw(st.sampled_from(("x", "x", "y"))), (other,)))]
    if draw(st.booleans()):
        stmts.append(Assign("y", (target,), op, Read("x", (near(),))))
    low, high = draw(st.sampled_from((0, 1))), draw(st.sampled_from((0, 0, 1, 2)))
    inner: tuple[Stmt, ...] = tuple(stmts)
    if draw(st.booleans()):
        inner = (If(Cmp("<", tile, Bin("-", N, Int(high))), inner, ()),)
        inner = (If(Cmp("<=", Int(1), tile), inner, ()),) if low else inner
    return _procedure(_loop("io", Bin("ceildiv", N, Int(3)), _loop("i", Int(3), *inner)))


@st.composite
def copies(draw: st.DrawFn) -> Proc:
    """A buffer that is filled from a tensor and read, while the tensor may change."""

    def near(name: str, *more: int) -> Index:
        return Bin("+", Var(name), Int(draw(st.sampled_from((0, 0, 1, *more)))))

    def change(name: str) -> list[Stmt]:
        stmt = Assign("x", (near(name, 2, 3),), draw(st.sampled_from(("=", "+="))), Read("y", (Var(name),)))
        return [stmt] if draw(st.integers(0, 3)) == 0 else []

    fill: Stmt = Assign("t", (near("a"),), "=", Read("x", (near("a", 2),)))
    if draw(st.booleans()):
        fill = If(Cmp("<", Var("a"), N), (fill,), ())
    read = Assign("y", (Var("b"),), draw(st.sampled_from(("=", "+="))), Read("t", (near("b", 2),)))
    alloc = Alloc("t", Scalar.I32, (12,), Rmem())
    body = [
        _loop("a", Int(draw(st.integers(3, 5))), fill, *change("a")),
        *(_loop(f"c{n}", Int(2), s) for n, s in enumerate(change("c0"))),
        _loop("b", Int(3), *change("b"), read, *change("b")),
    ]
    if draw(st.booleans()):
        return _procedure(alloc, _loop("o", Int(2), *body))
    return _procedure(_loop("o", Int(2), alloc, *body))


@st.composite
def carried(draw: st.DrawFn) -> Proc:
    """A buffer before a loop that may hand a value from one iteration to the next."""
    k = Var("k")

    def place() -> Index:
        return Bin("+", k, Int(draw(st.sampled_from((0, 0, 1, 2)))))

    body: list[Stmt] = [Assign("t", (place(),), draw(st.sampled_from(("=", "=", "+="))), Read("x", (k,)))]
    if draw(st.booleans()):
        body.append(Assign("t", (place(),), "=", Read("x", (place(),))))
    read: Stmt = Assign("y", (k,), "+=", Read("t", (place(),)))
    if draw(st.booleans()):
        read = If(Cmp("<=", Int(draw(st.integers(1, 2))), k), (read,), ())
    body.insert(draw(st.sampled_from((0, len(body), len(body)))), read)
    return _procedure(Alloc("t", Scalar.I32, (12,), Rmem()), _loop("k", N, *body))


@st.composite
def named_values(draw: st.DrawFn) -> Proc:
    """A value that is named and used, while what it is computed from may change."""
    k = Var("k")

    def place() -> Index:
        return Bin("+", k, Int(draw(st.sampled_from((0, 0, 1)))))

    def change() -> list[Stmt]:
        stmt = Assign("x", (place(),), "=", Num(float(draw(st.integers(5, 9)))))
        return [stmt] if draw(st.booleans()) else []

    value = Arith("+", Read("x", (place(),)), Read("y", (place(),)))
    use = Assign("y", (place(),), draw(st.sampled_from(("=", "+="))), Read("t", (Int(0),)))
    again = [Assign("y", (place(),), "+=", Read("t", (Int(0),)))] if draw(st.booleans()) else []
    named = Assign("t", (Int(0),), "=", value)
    return _procedure(_loop("k", N, Alloc("t", Scalar.I32, (1,), Rmem()), named, *change(), use, *again, *change()))
