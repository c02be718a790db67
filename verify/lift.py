"""From a concrete path to lifted chains: each of its events named from the two ends, or from the event after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Var
from exogpu.verify import skipped
from exogpu.verify.chain import (
    CtaOf,
    First,
    Fixed,
    Flat,
    Last,
    LiftedChain,
    Link,
    Meant,
    Near,
    Skipped,
    ThreadOf,
    Where,
)
from exogpu.verify.concrete import Env, Occurrence, cta_meant
from exogpu.verify.flat import Laps, laps
from exogpu.verify.graph import Edge, PathNode
from exogpu.verify.nth import number, sequential
from exogpu.verify.phases import barrier_cta
from exogpu.verify.program import TASK, Applied, Exec, Loop, LoopKind, Program

Anchor = tuple[str, Occurrence]
"""An end of a path and its name."""


class NotLiftable(Exception):
    """The path has an event whose iteration cannot be named from its neighbours."""


def lift_path(
    program: Program,
    x: Occurrence,
    y: Occurrence,
    path: list[PathNode],
    edges: list[Edge],
    axioms: frozenset[str],
    sizes: Env | None,
) -> Iterator[list[LiftedChain]]:
    """Readings of a concrete path, the most promising first: a prefix named from x, the rest from y, changing over
    where an arrive wakes an await (the iterations of two roles are not a fixed distance apart), rather at the last; if
    the executions are close to what they are named from, since then the ends may lie as far apart as they like.
    With a sequential order and `sizes`, iterations of nested loops as those of one; without an order, also as if the
    loops of all roles kept step, or executions were counted (if `sizes` are given)."""
    signals = [0, *(i + 1 for i, edge in enumerate(edges) if edge is not Edge.PROGRAM_ORDER)]
    handed = [e is Edge.PROGRAM_ORDER and _same_thread(*ab) for ab, e in zip(pairwise(path), edges, strict=True)]
    steps = list(zip(path, (*handed, False), strict=False))
    splits = list(dict.fromkeys((*signals[::-1], len(path))))
    nested = any(len(sequential(o.event)) > 1 for o in (x, y, *(n.item for n in path)))

    def reading(split: int) -> Iterator[LiftedChain]:
        for naming in _namings(program, sizes, nested=nested):
            try:
                links = tuple(
                    _lift(program, node, on, naming, *(("x", x), ("y", y)) if i < split else (("y", y), ("x", x)))
                    for i, (node, on) in enumerate(steps)
                )
            except NotLiftable:
                continue
            chain = LiftedChain(links, tuple(edges), axioms)
            yield chain
            if _flat_only(chain):
                return

    found = [chains for split in splits if (chains := list(reading(split)))]
    found.sort(key=lambda chains: _distances(chains[0]))
    at_once = len(found) if program.sequential else 1
    for some in (found[:at_once], found[at_once:]):
        yield list(dict.fromkeys(chain for chains in some for chain in chains))


def _flat_only(chain: LiftedChain) -> bool:
    """All iterations are named by distances that do not depend on how long loops are."""
    places = [w for link in chain.links for _, w in link.where if isinstance(w, Near | Flat | First | Last)]
    return all(isinstance(w, Flat) and w.mine.inner and w.theirs.inner for w in places)


def _distances(chain: LiftedChain) -> int:
    """How far the links are from what they are named from, in all."""
    total = 0
    for link in chain.links:
        for where in dict.fromkeys(w for _, w in link.where):
            match where:
                case Near(delta=n) | Skipped(distance=n) | Flat(distance=n):
                    total += abs(n)
                case _:
                    pass
        total += abs(link.counted[1]) if link.counted is not None else 0
    return total


@dataclass(frozen=True, slots=True)
class _Naming:
    """How iterations are named: as if loops of all roles kept `step`, nested ones as one if `flat`, or by the number of
    the execution at sizes."""

    step: bool
    flat: bool
    counts: Env | None = None


def _namings(program: Program, sizes: Env | None, *, nested: bool) -> tuple[_Naming, ...]:
    if program.sequential:
        return (_Naming(step=False, flat=sizes is not None),)
    in_step = _Naming(step=True, flat=True)
    if not nested:  # the outer loops may keep step although there is nothing in the inner ones
        return (_Naming(step=True, flat=False), in_step, _Naming(step=False, flat=False))
    if sizes is None or any(isinstance(d, Applied) for d in program.derived.values()):
        return (in_step, _Naming(step=False, flat=False))
    return (in_step, _Naming(step=True, flat=False, counts=sizes))


def _same_thread(a: PathNode, b: PathNode) -> bool:
    """Two steps of one thread each, and of the same one."""
    return a.thread == b.thread and {a.item.event.exec, b.item.event.exec} <= {Exec.EACH, Exec.FIRST}


def _lift(program: Program, node: PathNode, handed_on: bool, naming: _Naming, near: Anchor, far: Anchor) -> Link:
    where: list[tuple[str, Where]] = []
    exact = True
    flat = _flat(program, node.item, near, far) if naming.flat else {}
    for loop in node.item.event.loops:
        if loop.var in flat:
            where.append((loop.var, flat[loop.var]))
            continue
        if loop.kind is LoopKind.CTAS or barrier_cta(node.item.event) == Var(loop.var):
            where.append((loop.var, _cta(program, loop, node, far, near)))
            continue
        if program.over_ctas(loop) and program.cluster > 1:
            where.append((loop.var, _cta(program, loop, node, near, far)))
            continue
        if loop.kind is LoopKind.THREADS:
            where.append((loop.var, _thread_loop(loop, node, near, far)))
            continue
        if naming.counts is None:
            place, exact = _sequential_loop(program, loop, node, near, far, exact, in_step=naming.step)
            where.append((loop.var, place))
    counted: tuple[str, int] | None = None
    if naming.counts is not None and sequential(node.item.event):
        mine, theirs = (number(program, o, naming.counts) for o in (node.item, near[1]))
        counted = (near[0], mine - theirs)
    lane = "next" if handed_on and _lanes(node) else _lane(node, near, far)
    return Link(node.item.event, tuple(where), lane, counted)


def _flat(program: Program, item: Occurrence, *anchors: Anchor) -> dict[str, Where]:
    """The iterations of nested loops counted as one, by their distance from an anchor in such loops."""
    mine = laps(program, item.event)
    for name, anchor in anchors if mine is not None else ():
        theirs = laps(program, anchor.event)
        if mine is not None and theirs is not None and _walk_alike(mine, theirs):
            found = Flat(name, mine.position(item.env) - theirs.position(anchor.env), theirs, mine)
            return {loop.var: found for loop in mine.own}
    return {}


def _walk_alike(mine: Laps, theirs: Laps) -> bool:
    """Both go through inner iterations, or one does while the other counts them in its only loop: not if that goes as
    far as the outer one here, since then it is the outer iterations that they have in common."""
    if mine.loops and theirs.loops:
        return True
    outer = [(p.outer.lo, p.outer.hi) for p in (mine, theirs)]
    return bool(mine.loops or theirs.loops) and outer[0] != outer[1]


def _sequential_loop(
    program: Program, loop: Loop, node: PathNode, near: Anchor, far: Anchor, exact: bool, *, in_step: bool
) -> tuple[Where, bool]:
    """Named from the nearest anchor inside the same iteration of the outer loops, or `in_step` with it, else from the
    loop's ends."""
    value = node.item.env[loop.var]
    if exact:
        for name, anchor in (near, far):
            if loop.var in anchor.env:
                return _near(program, loop, node.item, name, anchor, loop.var)
        for name, anchor in (near, far) if in_step else ():
            var = _counterpart(loop, node.item, anchor)
            if var is not None:
                return _near(program, loop, node.item, name, anchor, var)
    lo, last = evaluate(loop.lo, node.item.env), evaluate(loop.hi, node.item.env) - 1
    if loop.var == TASK:
        raise NotLiftable("a task of neither instance")
    return (First(value - lo) if value - lo <= last - value else Last(last - value)), False


def _near(
    program: Program, loop: Loop, item: Occurrence, name: str, anchor: Occurrence, var: str
) -> tuple[Where, bool]:
    """Named by the distance from the anchor's iteration, in iterations or in those that pass."""
    here, delta = anchor.env[var], item.env[loop.var] - anchor.env[var]
    if delta and skipped.filters(program, item.event, loop):
        return Skipped(name, skipped.steps(program, item.event, loop, item.env, here), var), False
    return Near(name, delta, None if var == loop.var else var), delta == 0


def _counterpart(loop: Loop, item: Occurrence, anchor: Occurrence) -> str | None:
    """The anchor's loop at the same depth: loops of different roles often keep step with each other."""
    mine, theirs = ([p.var for p in o.event.loops if p.kind is LoopKind.SEQ] for o in (item, anchor))
    depth = mine.index(loop.var) if loop.var in mine else len(theirs)
    return theirs[depth] if depth < len(theirs) else None


def _cta(program: Program, loop: Loop, node: PathNode, *anchors: Anchor) -> Where:
    """A CTA, named from an anchor: what leaves x goes on where x completes, what leads to y ends where y runs."""
    value = node.item.env[loop.var]
    for name, anchor in anchors:
        own, meant = (CtaOf(name), anchor.first // program.threads), (Meant(name), cta_meant(program, anchor))
        for where, cta in (meant, own) if name == "x" else (own, meant):
            if cta == value:
                return where
    return Fixed(value)


def _thread_loop(loop: Loop, node: PathNode, near: Anchor, far: Anchor) -> Where:
    value = node.item.env[loop.var]
    if evaluate(loop.hi, {}) - evaluate(loop.lo, {}) == 1:
        return Fixed(value)
    base = evaluate(loop.base, node.item.env) if loop.base is not None else 0
    for name, anchor in (near, far):
        if (anchor.first - base) // loop.unit == value:
            return ThreadOf(name)
    return Fixed(value)


def _lanes(node: PathNode) -> bool:
    """Several threads or warps execute the statement, each for itself."""
    return node.item.event.exec in (Exec.EACH, Exec.WARPS) and node.item.event.size > 1


def _lane(node: PathNode, near: Anchor, far: Anchor) -> str | int:
    if not _lanes(node):
        return 0
    for name, anchor in (near, far):
        if anchor.first == node.thread:
            return name
    return node.thread - evaluate(node.item.event.first, node.item.env)
