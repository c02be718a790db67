"""Elections by hardware: a proof for the first lane is one for whichever is chosen, if nothing else tells lanes apart.

That is so if only indices of windows tell the threads of a unit of the role apart (in a warp `tid // 32` does not), no
unknown number depends on the thread, nor does what the chosen one executes, and memory is named by thread alike
everywhere. Two accesses then are ordered whoever is chosen if they are for threads that are not, and there are such:
who is chosen executes as much and more, so nobody of these is the only one to name a cell, and none ends early.
"""

from __future__ import annotations

from itertools import combinations, pairwise, product

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index, Int
from exogpu.ir.instr import Mode
from exogpu.ir.skeleton.objects import Global, Mbarriers, Ref, Shared
from exogpu.ir.skeleton.operations import Access, Check, Exit
from exogpu.ir.skeleton.tree import TID, Body, Elect, Skeleton
from exogpu.ir.skeleton.walk import walk
from exogpu.ir.stmt import Point, Range
from exogpu.ir.walk import index_names
from exogpu.verify.skeleton.mentions import differs, names_in, refs_in, tells_apart
from exogpu.verify.skeleton.unsupported import NotModelled

HELP = "write `elect()` if it is known to be the first lane, or keep what differs between lanes to a role of its own"

Named = tuple[Ref, bool]
"""A window, and whether it is only loaded."""


def any_will_do(skeleton: Skeleton, body: Body, election: Elect) -> None:
    """Raises `NotModelled` if the chosen lane may make a difference."""
    own, unit = list(walk(election.body)), body.role.unit
    if _unknown_by_lane(skeleton, body):
        reason = "one lane of many is elected, and an unknown number differs between lanes"
        raise NotModelled(reason, election.span, HELP)
    for s in walk(body.stmts):
        told_apart = not isinstance(s, Check) and tells_apart(s, unit, in_windows=s in own)
        if told_apart or (isinstance(s, Elect) and not s.any):
            raise NotModelled("one lane of many is elected, and others are told apart, too", election.span, HELP)
    by_lane = [named for named in _windows(body) if _differing(named[0], unit)]
    if by_lane and any(isinstance(s, Exit) for s in own):
        raise NotModelled("one lane of many is elected and ends, and memory is named by lane", election.span, HELP)
    for named, other in product(by_lane, skeleton.bodies):
        if not all(_alike(skeleton, body, named, other, window) for window in _windows(other)):
            raise NotModelled(f"parts of `{named[0].name}` are told apart otherwise than by lane", election.span, HELP)


def _unknown_by_lane(skeleton: Skeleton, body: Body) -> bool:
    """An unknown number that the role names depends on the thread."""
    unknowns = dict(skeleton.unknowns)

    def by_lane(name: str) -> bool:
        args = unknowns[name].args if name in unknowns else ()
        return any(n == TID or by_lane(n) for a in args for n in index_names(a))

    return any(by_lane(name) for s in walk(body.stmts) for name in names_in(s))


def _windows(body: Body) -> tuple[Named, ...]:
    """The windows that a role names, each once."""
    found = ((r, isinstance(s, Access) and s.mode is Mode.READ) for s in walk(body.stmts) for r in refs_in(s))
    return tuple(dict.fromkeys(found))


def _differing(ref: Ref, unit: int) -> tuple[int, ...]:
    """The dimensions in which the threads of a unit name cells of their own."""
    return tuple(n for n, d in enumerate(ref.dims) if differs(_low(d), unit))


def _low(dim: Point | Range) -> Index:
    return dim.lo if isinstance(dim, Range) else dim.index


def _alike(skeleton: Skeleton, body: Body, named: Named, other: Body, window: Named) -> bool:
    """Where one window names cells by lane, the other names all of them, or both name the same ones."""
    (ref, loaded), (theirs, loads) = named, window
    own = next((o for o in skeleton.objects if o.name == ref.name and isinstance(o, Shared | Global)), None)
    laid_over = {o.overlay for o in skeleton.objects if isinstance(o, Shared | Mbarriers)}
    if own is None or own.name in laid_over or (isinstance(own, Shared) and own.overlay is not None):
        return False
    if theirs.name != ref.name or (loaded and loads):
        return True
    if len(theirs.dims) != len(ref.dims):
        return False
    told_apart = [n for n in _differing(ref, body.role.unit) if not _whole(theirs.dims[n], own.shape[n])]
    if any(theirs.dims[n] != ref.dims[n] for n in told_apart):
        return False
    return not told_apart or (_evenly(ref, body) and (other is body or _as_evenly(skeleton, body, ref, other)))


def _whole(dim: Point | Range, extent: int | Index) -> bool:
    return isinstance(dim, Range) and Int(dim.extent) == (Int(extent) if isinstance(extent, int) else extent)


def _as_evenly(skeleton: Skeleton, body: Body, ref: Ref, other: Body) -> bool:
    """Another role has as many threads, and nothing but windows tells those of a warp apart."""
    unit = min(other.role.unit, WARP)
    for s in walk(other.stmts):
        if (isinstance(s, Elect) and not s.any) or (
            not isinstance(s, Check) and tells_apart(s, unit, in_windows=False)
        ):
            return False
    same = other.role.threads == body.role.threads
    return same and not _unknown_by_lane(skeleton, other) and _evenly(ref, other)


def _evenly(ref: Ref, body: Body) -> bool:
    """The lanes of a unit name cells of their own; two units name the same ones, lane by lane, or none in common."""
    role, dims = body.role, [ref.dims[n] for n in _differing(ref, body.role.unit)]
    if any(index_names(_low(d)) != {TID} for d in dims):
        return False
    places = [tuple(evaluate(_low(d), {TID: t}) for d in dims) for t in range(role.threads)]
    for n, d in enumerate(dims):
        starts = sorted({place[n] for place in places})
        if isinstance(d, Range) and any(b - a < d.extent for a, b in pairwise(starts)):
            return False
    units = {tuple(places[first : first + role.unit]) for first in range(0, role.threads, role.unit)}
    if any(len({*unit}) < len(unit) for unit in units):
        return False
    return not any({*one} & {*other} for one, other in combinations(units, 2))
