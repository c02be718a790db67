"""Elections by hardware: a proof for the first lane is one for whichever is chosen, if nothing else tells lanes apart.

The chosen lane of a unit is the same in all its elections; in another unit, or another run, it may be another one. The
proof is for the first lane of each. It carries over if

1. no expression has other values for other lanes of a unit (in a warp `tid // 32` has not), but for the indices of
   windows outside of elections, and checks, which are shown for every lane that may be chosen (`lower`);
2. no other election takes the first lane;
3. whoever names memory by lane (`x[tid]`) does so with one index, which gives the lanes of a unit cells of their own,
   and two units the same ones lane by lane or none in common; everybody else names all cells in that dimension.

By 1 and 2 lanes of a unit that are not chosen do the same, so renaming lanes inside units turns a run in which others
are chosen into one that the proof is of; only cells named by lane may be others then. So an order that was shown of two
accesses holds for other lanes that are chosen, or are not, as those were. By 3 the proof was of such lanes in each
case: a lane meets every other at a cell that all of them name, a window by lane meets all lanes of one that names all
cells, and first lanes meet first lanes, others others, where two windows name the same cells by lane. Only if both of
these are of units that elect, a chosen lane may meet one that is not, in a run and not in the proof. What orders two
lanes that are not chosen orders chosen ones, too, if

4. a chosen lane does all that the others do, so it does not end in an election; and
5. its arrivals in common statements are for the phases that those of the others are for: no barrier gets arrivals from
   all lanes in one statement and from the chosen one alone in another. More waits, copies and commits complete nothing
   later, as a wait for groups counts back from the last one.

What differs otherwise is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index, Int
from exogpu.ir.instr import Mode
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Global, Mbarriers, Ref, Shared
from exogpu.ir.skeleton.tree import TID, Block, Body, Elect, Skeleton, Stmt
from exogpu.ir.skeleton.walk import children, walk
from exogpu.ir.stmt import Point, Range
from exogpu.ir.walk import index_names
from exogpu.verify.skeleton.mentions import differs, names_in, refs_in, tells_apart
from exogpu.verify.skeleton.unsupported import NotModelled

HELP = "write `elect()` if it is known to be the first lane, or keep what differs between lanes to a role of its own"

Named = tuple[Ref, bool]
"""A window, and whether it is only loaded."""


def any_will_do(skeleton: Skeleton, body: Body, election: Elect) -> None:
    """Raises `NotModelled` if the chosen lane may make a difference."""
    unit = body.role.unit
    if _unknown_by_lane(skeleton, body):
        reason = "one lane of many is elected, and an unknown number differs between lanes"
        raise NotModelled(reason, election.span, HELP)
    for s, alone in _placed(body.stmts):
        told_apart = not isinstance(s, op.Check) and tells_apart(s, unit, in_windows=alone)
        if told_apart or (isinstance(s, Elect) and not s.any):
            raise NotModelled("one lane of many is elected, and others are told apart, too", election.span, HELP)
    by_lane = [named for named in _windows(body) if _differing(named[0], unit)]
    if by_lane and any(isinstance(s, op.Exit) for s in walk(election.body)):
        raise NotModelled("one lane of many is elected and ends, and memory is named by lane", election.span, HELP)
    for (ref, loaded), other in product(by_lane, skeleton.bodies):
        theirs = [w for w, loads in _windows(other) if w.name == ref.name and not (loaded and loads)]
        if not _plain(skeleton, ref) or not all(_alike(skeleton, body, ref, other, window) for window in theirs):
            raise NotModelled(f"parts of `{ref.name}` are told apart otherwise than by lane", election.span, HELP)
        if _meet(skeleton, body, ref, other, theirs) and not (_in_step(body) and _in_step(other)):
            reason = f"one lane of many is elected and arrives more often than others that name `{ref.name}` by lane"
            raise NotModelled(reason, election.span, HELP)


def _unknown_by_lane(skeleton: Skeleton, body: Body) -> bool:
    """An unknown number that the role names depends on the thread."""
    named = frozenset[str]().union(*(names_in(skeleton, s) for s in walk(body.stmts)))
    return any(TID in index_names(a) for name, unknown in skeleton.unknowns if name in named for a in unknown.args)


def _windows(body: Body) -> tuple[Named, ...]:
    """The windows that a role names, each once."""
    found = ((r, isinstance(s, op.Access) and s.mode is Mode.READ) for s in walk(body.stmts) for r in refs_in(s))
    return tuple(dict.fromkeys(found))


def _differing(ref: Ref, unit: int) -> tuple[int, ...]:
    """The dimensions in which the threads of a unit name cells of their own."""
    return tuple(n for n, d in enumerate(ref.dims) if differs(_low(d), unit))


def _low(dim: Point | Range) -> Index:
    return dim.lo if isinstance(dim, Range) else dim.index


def _plain(skeleton: Skeleton, ref: Ref) -> bool:
    """Memory of its own: nothing else lies in its cells."""
    laid_over = {o.overlay for o in skeleton.objects if isinstance(o, Shared | Mbarriers)}
    match next((o for o in skeleton.objects if o.name == ref.name), None):
        case Shared(overlay=None) | Global():
            return ref.name not in laid_over
        case _:
            return False


def _alike(skeleton: Skeleton, body: Body, ref: Ref, other: Body, theirs: Ref) -> bool:
    """Where one window names cells by lane, the other names all of them, or both name the same ones."""
    if len(theirs.dims) != len(ref.dims):
        return False
    by_lane = _by_lane(skeleton, body, ref, theirs)
    if any(theirs.dims[n] != ref.dims[n] for n in by_lane):
        return False
    return not by_lane or (_evenly(ref, body) and (other is body or _as_evenly(skeleton, body, ref, other)))


def _by_lane(skeleton: Skeleton, body: Body, ref: Ref, theirs: Ref) -> list[int]:
    """The dimensions in which lanes name cells of their own, and the other window not all of them."""
    shape = next(o.shape for o in skeleton.objects if o.name == ref.name and isinstance(o, Shared | Global))
    return [n for n in _differing(ref, body.role.unit) if not _whole(theirs.dims[n], shape[n])]


def _whole(dim: Point | Range, extent: int | Index) -> bool:
    return isinstance(dim, Range) and Int(dim.extent) == (Int(extent) if isinstance(extent, int) else extent)


def _as_evenly(skeleton: Skeleton, body: Body, ref: Ref, other: Body) -> bool:
    """Another role has as many threads, and nothing but windows tells those of a warp apart."""
    unit = min(other.role.unit, WARP)
    for s in walk(other.stmts):
        if (isinstance(s, Elect) and not s.any) or (
            not isinstance(s, op.Check) and tells_apart(s, unit, in_windows=False)
        ):
            return False
    same = other.role.threads == body.role.threads
    return same and not _unknown_by_lane(skeleton, other) and _evenly(ref, other)


def _in_step(body: Body) -> bool:
    """No barrier is signalled both by all lanes and by the chosen one alone: what all do is for the same phase, whoever
    does it."""
    found = {(name, alone) for s, alone in _placed(body.stmts) for name in _signalled(s)}
    return not {name for name, alone in found if alone} & {name for name, alone in found if not alone}


def _placed(block: Block, *, alone: bool = False) -> Iterator[tuple[Stmt, bool]]:
    """The statements of a block, each with whether only the chosen lane executes it. That is told by its place: equal
    statements may stand elsewhere, and counters may have other names in the text that is walked."""
    for s in block:
        yield s, alone
        for inner in children(s):
            yield from _placed(inner, alone=alone or isinstance(s, Elect))


def _signalled(stmt: Stmt) -> Iterator[str]:
    """The array of mbarriers or flags that a statement signals."""
    match stmt:
        case op.Arrive() | op.CopyArrive() | op.Expect() | op.TmaLoad() | op.StAsync():
            yield stmt.barrier.name
        case op.Signal():
            yield stmt.flag.name
        case _:
            return


def _evenly(ref: Ref, body: Body) -> bool:
    """The lanes of a unit name cells of their own; two units name the same ones, lane by lane, or none in common."""
    dims = [ref.dims[n] for n in _differing(ref, body.role.unit)]
    if any(index_names(_low(d)) != {TID} for d in dims):
        return False
    units = _cells(ref, body)
    for n, d in enumerate(dims):
        starts = sorted({cell[n] for unit in units for cell in unit})
        if isinstance(d, Range) and any(b - a < d.extent for a, b in pairwise(starts)):
            return False
    if any(len({*unit}) < len(unit) for unit in units):
        return False
    return not any({*one} & {*other} for one, other in combinations({*units}, 2))


def _cells(ref: Ref, body: Body) -> list[tuple[tuple[int, ...], ...]]:
    """Of each unit the cells that its lanes name, in the dimensions in which they differ."""
    role, lows = body.role, [_low(ref.dims[n]) for n in _differing(ref, body.role.unit)]
    cells = [tuple(evaluate(low, {TID: t}) for low in lows) for t in range(role.threads)]
    return [tuple(cells[first : first + role.unit]) for first in range(0, role.threads, role.unit)]


def _meet(skeleton: Skeleton, body: Body, ref: Ref, other: Body, theirs: Sequence[Ref]) -> bool:
    """Lanes of two units that elect name the same cells, lane by lane: of two roles, of one, or of one in two CTAs."""
    if not any(_by_lane(skeleton, body, ref, window) for window in theirs):
        return False
    if other is not body:
        return any(isinstance(s, Elect) for s in walk(other.stmts))
    return skeleton.cluster > 1 or len({*_cells(ref, body)}) < len(_cells(ref, body))
