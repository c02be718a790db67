"""The declarations of a skeleton: objects, sizes of the cluster and of register files, preconditions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Final

from exogpu.ir.index import Index
from exogpu.ir.linear import literal
from exogpu.ir.proc import MAX_CLUSTER, MAX_COUNT
from exogpu.ir.skeleton.objects import Flags, Global, Mbarriers, Object, Registers, Shared
from exogpu.ir.skeleton.tree import Require
from exogpu.ir.stmt import Point
from exogpu.lang.calls import bind
from exogpu.lang.errors import closest, reject
from exogpu.lang.indices import flag
from exogpu.lang.scope import Broken, Declared
from exogpu.skeleton.indices import cond, index, integer
from exogpu.skeleton.refs import SHARED, named, part
from exogpu.skeleton.scope import Reader, new_name, what

MAX_REGISTERS = 256
"""Most registers of a thread (PTX ISA, setmaxnreg)."""
REGISTER_FILE = 64 * 1024
"""Registers of a multiprocessor, and so the most of a CTA (CUDA programming guide, compute capability 9.0)."""
REGISTER_STEP = 8
"""A launch gives each thread a multiple of so many registers (CUDA programming guide)."""
MAX_CELLS = 227 * 1024
"""Most cells of shared memory: a cell is at least a byte (CUDA programming guide, compute capability 9.0)."""

MBARRIER_BYTES = 8
"""Bytes of an mbarrier (PTX ISA, mbarrier)."""
MAX_FLAGS = 2**20
"""Most flags of an array: more than any skeleton needs."""

USAGE: Final = {
    "smem": "`smem(3, 128)` or `smem(3, 128, at=x[0])`",
    "gmem": "`gmem(n)` or `gmem(n, result=True)`",
    "registers": "`registers()` or `registers(2)`",
    "mbarrier": "`mbarrier(3, count=1)`; without a count, `init` gives it",
    "flags": "`flags()` or `flags(4)`",
}


@dataclass(slots=True)
class Declarations:
    """What the declarations say."""

    objects: list[Object] = field(default_factory=list)
    requires: list[Require] = field(default_factory=list)
    registers: int | None = None
    given: set[str] = field(default_factory=set)


def setting(r: Reader, node: ast.Call, into: Declarations) -> None:
    """`require(c)`, `cluster(n)`, `launch(registers=n)`."""
    word = r.word(node.func)
    if word == "require":
        given = bind(r, node, word, ("condition",), ())
        into.requires.append(Require(cond(r, given["condition"]), r.span(node)))
        return
    if word in into.given:
        raise reject("duplicate_name", f"`{word}` is given twice", r.span(node), help="remove one")
    into.given.add(word)
    if word == "cluster":
        given = bind(r, node, word, ("n",), ())
        r.cluster = MAX_CLUSTER  # of a rejected number nothing is said again
        r.cluster = _in(r, given["n"], "the number of CTAs", MAX_CLUSTER)
    else:
        given = bind(r, node, word, ("registers",), ())
        into.registers = _in(r, given["registers"], "`registers`", MAX_REGISTERS)


def _in(r: Reader, node: ast.expr, meaning: str, most: int) -> int:
    return integer(r, node, meaning, lambda n: 1 <= n <= most, f"in 1..{most}")


def declaration(r: Reader, target: ast.Name, node: ast.Call, into: Declarations) -> None:
    """`name = smem(...)` and so on."""
    written = target.id
    if r.local(written) is not None:
        raise reject("duplicate_name", f"`{written}` is declared twice", r.span(target), help="choose another name")
    r.declare(written, Broken(written))
    name = new_name(r, written, r.span(target))
    thing = OBJECTS[r.word(node.func)](r, name, node, target)
    r.declare(written, Declared(thing))
    into.objects.append(thing)


def _options(r: Reader, node: ast.Call, *names: str) -> dict[str, ast.expr]:
    """Options by name; the dimensions come before them."""
    word = r.word(node.func)
    given = {k.arg or "**": k.value for k in node.keywords}
    for keyword in node.keywords:
        if keyword.arg not in names:
            text = f"`{word}` has no option `{keyword.arg or '**'}`"
            raise reject(
                "arity", text, r.span(keyword), help=closest(keyword.arg or "", names) or f"write {USAGE[word]}"
            )
    return given


def _shape(r: Reader, node: ast.Call, most: int) -> tuple[int, ...]:
    shape = tuple(integer(r, d, "a dimension", lambda n: n >= 1, "at least 1") for d in node.args)
    if prod(shape) > most:
        raise reject("range", f"{prod(shape)} cells are more than the {most} that exist", r.span(node), "too large")
    return shape


def _shared(r: Reader, name: str, node: ast.Call, target: ast.Name) -> Object:
    options = _options(r, node, "at")
    shape = _shape(r, node, MAX_CELLS)
    return Shared(name, shape, *_place(r, options.get("at"), prod(shape)), r.span(target))


def _global(r: Reader, name: str, node: ast.Call, target: ast.Name) -> Object:
    options = _options(r, node, "result")
    result = flag(r, options["result"], "result") if "result" in options else False
    return Global(name, tuple(_extent(r, d) for d in node.args), result, r.span(target))


def _extent(r: Reader, node: ast.expr) -> Index:
    extent = index(r, node)
    number = literal(extent)
    if number is not None and number < 1:
        raise reject("range", f"a dimension must be at least 1, not {number}", r.span(node))
    return extent


def _registers(r: Reader, name: str, node: ast.Call, target: ast.Name) -> Object:
    _options(r, node)
    return Registers(name, _shape(r, node, MAX_REGISTERS), r.span(target))


def _flags(r: Reader, name: str, node: ast.Call, target: ast.Name) -> Object:
    _options(r, node)
    return Flags(name, _shape(r, node, MAX_FLAGS), r.span(target))


def _mbarriers(r: Reader, name: str, node: ast.Call, target: ast.Name) -> Object:
    options = _options(r, node, "count", "at")
    shape = _shape(r, node, MAX_CELLS // MBARRIER_BYTES)
    count = arrivals(r, options["count"]) if "count" in options else None
    return Mbarriers(name, shape, count, *_place(r, options.get("at"), prod(shape)), r.span(target))


def arrivals(r: Reader, node: ast.expr) -> int:
    """An arrival count."""
    return _in(r, node, "an arrival count", MAX_COUNT)


def _place(r: Reader, node: ast.expr | None, cells: int) -> tuple[str | None, int]:
    """The object below and the first of its cells, in that object's numbering; those of `at=x[1]`."""
    if node is None:
        return None, 0
    below = named(r, node.value if isinstance(node, ast.Subscript) else node)
    if not isinstance(below, Shared):
        text = f"`{below.name}` is {what(below)}"
        raise reject("type_mismatch", text, r.span(node), "shared memory is expected here")
    offset = 0
    for dim, extent in zip(part(r, node, SHARED).dims, below.shape, strict=True):
        first = literal(dim.index if isinstance(dim, Point) else dim.lo)
        if first is None or not 0 <= first < extent:
            text = "`at` names an element by numbers inside its object"
            raise reject("literal", text, r.span(node), help="write `at=x[0]`")
        offset = offset * extent + first
    room = prod(below.shape) - offset
    if cells > room:
        text = f"{cells} cells do not fit: `{below.name}` has {room} from there on"
        raise reject("range", text, r.span(node), "too large")
    return (below.name, offset) if below.overlay is None else (below.overlay, below.offset + offset)


OBJECTS: Final[dict[str, Callable[[Reader, str, ast.Call, ast.Name], Object]]] = {
    "smem": _shared,
    "gmem": _global,
    "registers": _registers,
    "mbarrier": _mbarriers,
    "flags": _flags,
}
SETTINGS: Final = frozenset({"require", "cluster", "launch"})
