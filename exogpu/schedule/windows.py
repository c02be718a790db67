"""Windows that operators take: text of the language, or `window("A", (64 * var("k"), 64), var("i"))`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from exogpu.ir.index import Cond, Index, Int, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.linear import literal
from exogpu.ir.stmt import Point, Range, Window
from exogpu.ir.terms import add, both, equal, subtract, within
from exogpu.schedule.effects import Buffers
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import IndexLike, as_index
from exogpu.schedule.redirect import difference
from exogpu.schedule.signature import checked

WindowLike = str | Window


@checked
def window(buffer: str, *dims: IndexLike | tuple[IndexLike, int]) -> Window:
    """A window from one index, or one first index and extent, for each dimension."""
    return Window(
        buffer, tuple(Range(as_index(d[0]), d[1]) if isinstance(d, tuple) else Point(as_index(d)) for d in dims)
    )


def as_window(given: WindowLike, buffers: Buffers) -> Window:
    """A window as a node, with a literal extent of at least 1 in each ranged dimension."""
    found = _parse(given, buffers) if isinstance(given, str) else given
    info = _info(found.buffer, buffers)
    if len(found.dims) != len(info.shape):
        text = f"`{found.buffer}` has {len(info.shape)} dimensions, and the window has {len(found.dims)}"
        raise Refused("schedule.expression", text)
    if any(d.extent < 1 for d in found.dims if isinstance(d, Range)):
        raise Refused("schedule.expression", "a window has at least one element in each dimension")
    return found


def _info(buffer: str, buffers: Buffers) -> BufferInfo:
    if buffer not in buffers:
        raise Refused("schedule.expression", f"there is no buffer `{buffer}`")
    return buffers[buffer]


def _parse(text: str, buffers: Buffers) -> Window:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        node = None
    match node:
        case ast.Subscript(ast.Name(id=name), ast.Tuple(elts=dims)):
            given = tuple(dims)
        case ast.Subscript(ast.Name(id=name), single):
            given = (single,)
        case _:
            raise Refused("schedule.expression", f"`{text}` is not a window", help="write `name[lo : hi, ...]`")
    shape = _info(name, buffers).shape
    extents = (*shape, *(Int(0) for _ in given[len(shape) :]))
    return Window(name, tuple(_dimension(d, extent) for d, extent in zip(given, extents, strict=False)))


def _dimension(node: ast.expr, whole: Index) -> Point | Range:
    if not isinstance(node, ast.Slice):
        return Point(as_index(ast.unparse(node)))
    if node.step is not None:
        raise Refused("schedule.expression", "a window has no step")
    lo = Int(0) if node.lower is None else as_index(ast.unparse(node.lower))
    hi = whole if node.upper is None else as_index(ast.unparse(node.upper))
    extent = literal(subtract(hi, lo))
    if extent is None:
        raise limit(f"the extent of `{ast.unparse(node)}` is not a literal")
    return Range(lo, extent)


@dataclass(frozen=True, slots=True)
class Frame:
    """A window as a buffer of its own, whose dimensions are the ranged ones (one of length 1 if there is none)."""

    window: Window

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.window.shape or (1,)

    def holds(self, index: tuple[Index, ...]) -> Cond:
        """The condition that the window has an element of the buffer."""
        tests: list[Cond] = []
        for i, d in zip(index, self.window.dims, strict=True):
            match d:
                case Point(at):
                    tests.append(equal(i, at))
                case Range(lo, extent):
                    tests.append(within(i, lo, add(lo, Int(extent))))
        return both(tests)

    def inner(self, index: tuple[Index, ...]) -> tuple[Index, ...]:
        """Where an element of the buffer is in the window."""
        pairs = zip(index, self.window.dims, strict=True)
        return tuple(difference(i, d.lo) for i, d in pairs if isinstance(d, Range)) or (Int(0),)

    def outer(self, names: tuple[str, ...]) -> tuple[Index, ...]:
        """The element of the buffer at the place in the window that variables give."""
        rest = iter(names)
        return tuple(d.index if isinstance(d, Point) else add(d.lo, Var(next(rest))) for d in self.window.dims)
