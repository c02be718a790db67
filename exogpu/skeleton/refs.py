"""How statements name objects: `x`, `x[i % S]`, `x[s, 0:64]`, `peer(x[s], c)`."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from exogpu.ir.index import Index, Int
from exogpu.ir.linear import literal
from exogpu.ir.skeleton.objects import Flags, Global, Mbarriers, Object, Ref, Registers, Shared
from exogpu.ir.stmt import Point, Range
from exogpu.lang.calls import bind
from exogpu.lang.errors import reject
from exogpu.lang.scope import Declared
from exogpu.lang.windows import dimension, subscripts, whole
from exogpu.skeleton.indices import index, plain
from exogpu.skeleton.scope import NAMES, Reader, what

Kinds = tuple[type[Object], ...]

SHARED: Final[Kinds] = (Shared,)
GLOBAL: Final[Kinds] = (Global,)
MEMORY: Final[Kinds] = (Shared, Global, Registers)
ATOMIC: Final[Kinds] = (Shared, Global)
OPERAND: Final[Kinds] = (Shared, Registers)
ACCUMULATOR: Final[Kinds] = (Registers,)
BARRIER: Final[Kinds] = (Mbarriers,)
FLAG: Final[Kinds] = (Flags,)


def part(r: Reader, node: ast.expr, kinds: Kinds, *, peers: bool = False) -> Ref:
    """A window of an object of one of these kinds; with `peers`, also of another CTA's."""
    if isinstance(node, ast.Call) and r.word(node.func) == "peer":
        return _peers(r, node, kinds, peers)
    base, written = (node.value, subscripts(node)) if isinstance(node, ast.Subscript) else (node, ())
    thing = named(r, base)
    if not isinstance(thing, kinds):
        wanted = " or ".join(NAMES[k] for k in kinds)
        raise reject("type_mismatch", f"`{thing.name}` is {what(thing)}", r.span(node), f"{wanted} is expected here")
    shape = [Int(d) if isinstance(d, int) else _simplified(d) for d in thing.shape]
    if len(written) > len(shape):
        count = len(shape)
        text = f"`{thing.name}` has {count} dimension{'s' * (count != 1)}, not {len(written)}"
        raise reject("rank", text, r.span(node), help="give leading indices; the rest is meant as a whole")
    dims: list[Point | Range] = [dimension(r, plain(r, d), extent) for d, extent in zip(written, shape, strict=False)]
    dims += [whole(r, node, extent) for extent in shape[len(written) :]]
    return Ref(thing.name, tuple(dims), None, r.span(node))


def single(r: Reader, node: ast.expr, kinds: Kinds, *, peers: bool = False) -> Ref:
    """One element of an object: a barrier or a flag."""
    found = part(r, node, kinds, peers=peers)
    if any(isinstance(d, Range) for d in found.dims):
        text = f"`{found.name}` is an array, and one element is needed here"
        raise reject("rank", text, r.span(node), help=f"write `{found.name}[{', '.join('...' for _ in found.dims)}]`")
    return found


def named(r: Reader, node: ast.expr) -> Object:
    """The object that a name means."""
    if not isinstance(node, ast.Name):
        raise reject("syntax", "an object is named here", r.span(node), help="write `x`, `x[i]` or `peer(x[i], c)`")
    entity = r.lookup(node)
    if not isinstance(entity, Declared):
        raise reject("type_mismatch", f"`{node.id}` is not an object of the skeleton", r.span(node))
    return entity.object


def cta(r: Reader, node: ast.expr) -> Index:
    """The number of a CTA of the cluster."""
    found = index(r, node)
    number = literal(found)
    if number is not None and not 0 <= number < r.cluster:
        text = f"there is no CTA {number} in a cluster of {r.cluster}"
        raise reject("cluster", text, r.span(node), help="declare `cluster(n)` at the beginning of the body")
    return found


def _peers(r: Reader, node: ast.Call, kinds: Kinds, peers: bool) -> Ref:
    given = bind(r, node, "peer", ("x", "cta"), ())
    if not peers:
        raise reject("cluster", "this operation works in the executing thread's own CTA only", r.span(node))
    if r.cluster == 1:
        text = "there are no peers: the skeleton runs without clusters"
        raise reject("cluster", text, r.span(node), help="declare `cluster(2)` at the beginning of the body")
    own = tuple(k for k in kinds if k in (Shared, Mbarriers))
    return replace(part(r, given["x"], own), cta=cta(r, given["cta"]), span=r.span(node))


def _simplified(extent: Index) -> Index:
    number = literal(extent)
    return extent if number is None else Int(number)
