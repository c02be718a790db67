"""Elections by hardware: a proof for the first lane is one for whichever is chosen, if nothing else tells lanes apart.

That is so if only indices of windows tell the threads of a unit of the role apart (in a warp `tid // 32` does not), no
unknown number depends on the thread, nor does what the chosen one executes, and memory is named by thread alike
everywhere: renaming the threads of each unit, and the cells that they name, turns one election into another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exogpu.ir.index import Index
from exogpu.ir.skeleton.objects import Ref, Shared
from exogpu.ir.skeleton.operations import Check
from exogpu.ir.skeleton.tree import TID, Body, Elect, Skeleton, Unknown
from exogpu.ir.skeleton.walk import walk
from exogpu.ir.stmt import Point, Range
from exogpu.ir.walk import index_names
from exogpu.verify.skeleton.mentions import differs, names_in, refs_in, tells_apart
from exogpu.verify.skeleton.unsupported import NotModelled

HELP = "write `elect()` if it is known to be the first lane, or keep what differs between lanes to a role of its own"


def any_will_do(skeleton: Skeleton, body: Body, election: Elect) -> None:
    """Raises `NotModelled` if the chosen lane may make a difference."""
    own, unit = list(walk(election.body)), body.role.unit
    unknowns = dict(skeleton.unknowns)
    if any(_by_lane(unknowns, name) for s in walk(body.stmts) for name in names_in(s)):
        reason = "one lane of many is elected, and an unknown number differs between lanes"
        raise NotModelled(reason, election.span, HELP)
    for s in walk(body.stmts):
        told_apart = not isinstance(s, Check) and tells_apart(s, unit, in_windows=s in own)
        if told_apart or (isinstance(s, Elect) and not s.any):
            raise NotModelled("one lane of many is elected, and others are told apart, too", election.span, HELP)
    for ref in _by_thread(body):
        for other in (r for b in skeleton.bodies for s in walk(b.stmts) for r in refs_in(s) if r.name == ref.name):
            if not _alike(skeleton, unit, ref, other):
                raise NotModelled(f"parts of `{ref.name}` are told apart otherwise than by lane", election.span, HELP)


def _by_lane(unknowns: Mapping[str, Unknown], name: str) -> bool:
    """The name is one of an unknown number that depends on the thread."""
    args = unknowns[name].args if name in unknowns else ()
    return any(n == TID or _by_lane(unknowns, n) for a in args for n in index_names(a))


def _by_thread(body: Body) -> Iterator[Ref]:
    unit = body.role.unit
    for s in walk(body.stmts):
        yield from (r for r in refs_in(s) if any(differs(_low(d), unit) for d in r.dims))


def _low(dim: Point | Range) -> Index:
    return dim.lo if isinstance(dim, Range) else dim.index


def _alike(skeleton: Skeleton, unit: int, ref: Ref, other: Ref) -> bool:
    """Where one window names cells by thread, the other names all of them, or the same ones."""
    laid_over = {o.overlay for o in skeleton.objects if isinstance(o, Shared)}
    own = next((o for o in skeleton.objects if o.name == ref.name and isinstance(o, Shared)), None)
    shape = None if own is None or own.overlay is not None or own.name in laid_over else own.shape
    if shape is None or len(ref.dims) != len(other.dims):
        return False
    for extent, mine, theirs in zip(shape, ref.dims, other.dims, strict=True):
        whole = isinstance(theirs, Range) and theirs.extent == extent
        if differs(_low(mine), unit) and not whole and theirs != mine:
            return False
    return True
