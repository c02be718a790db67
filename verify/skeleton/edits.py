"""Edits of a skeleton's synchronisation: every systematic single one, which a correct skeleton must not survive.

Per statement: dropped, moved past its neighbour, of another slot or parity, with other counts, bytes or depths, by one
lane or by all; per guard and loop around synchronisation the bounds; per array of mbarriers its arrival count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from exogpu.ir.collective import WARP
from exogpu.ir.index import Bin, Cmp, Index, Int
from exogpu.ir.instr import Group, Mode
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Mbarriers, Ref, Registers
from exogpu.ir.skeleton.tree import Block, Elect, For, If, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import children, walk, with_blocks
from exogpu.ir.stmt import Point
from exogpu.source import excerpt
from exogpu.verify.edits import BYTES, Change, with_held
from exogpu.verify.skeleton.mentions import counters, names_in, refs_in

REGISTERS = 8
"""Change of a register count: what setmaxnreg goes in steps of."""


@dataclass(frozen=True, slots=True)
class SkeletonEdit(Change):
    """An edited skeleton."""

    skeleton: Skeleton


@dataclass(frozen=True, slots=True)
class Site:
    """The `index`-th statement of a block, whether one lane executes it, and how a new block makes a skeleton."""

    block: Block
    index: int
    elected: bool
    put: Callable[[Block], Skeleton]

    @property
    def stmt(self) -> Stmt:
        """The statement."""
        return self.block[self.index]

    def become(self, *stmts: Stmt) -> Skeleton:
        """The skeleton with other statements (or none) in its place."""
        return self.put((*self.block[: self.index], *stmts, *self.block[self.index + 1 :]))

    def edit(self, kind: str, what: str, *stmts: Stmt) -> SkeletonEdit:
        """The same as an edit."""
        return SkeletonEdit(kind, what, self.stmt.span, self.become(*stmts))


def mutants(skeleton: Skeleton) -> Iterator[SkeletonEdit]:
    """Every single edit that gives a skeleton of its own, in the order of the text."""
    seen = [skeleton]
    for edit in chain(_counts(skeleton), *(_at(site, skeleton) for site in sites(skeleton))):
        if edit.skeleton not in seen:
            seen.append(edit.skeleton)
            yield edit


def sites(skeleton: Skeleton) -> Iterator[Site]:
    """Every statement, outer before inner, in the order of the text."""
    for n, body in enumerate(skeleton.bodies):

        def put(stmts: Block, n: int = n) -> Skeleton:
            changed = replace(skeleton.bodies[n], stmts=stmts)
            return replace(skeleton, bodies=(*skeleton.bodies[:n], changed, *skeleton.bodies[n + 1 :]))

        yield from _visit(body.stmts, put, elected=body.role.threads == 1)


def _visit(block: Block, put: Callable[[Block], Skeleton], *, elected: bool) -> Iterator[Site]:
    for n, stmt in enumerate(block):
        site = Site(block, n, elected, put)
        yield site
        for arm, inner in enumerate(children(stmt)):
            yield from _visit(inner, _inside(site, arm), elected=elected or isinstance(stmt, Elect))


def _inside(site: Site, arm: int) -> Callable[[Block], Skeleton]:
    """How a new block makes a skeleton that takes the place of one of a statement's blocks."""
    blocks = children(site.stmt)
    return lambda block: site.become(with_blocks(site.stmt, (*blocks[:arm], block, *blocks[arm + 1 :])))


# -- what synchronises -------------------------------------------------------------------------------------------------

SYNCHRONISING = (
    op.Commit
    | op.Wait
    | op.Init
    | op.Inval
    | op.Arrive
    | op.Expect
    | op.CopyArrive
    | op.Await
    | op.BarSync
    | op.WarpSync
    | op.ClusterArrive
    | op.ClusterWait
    | op.ProxyFence
    | op.WgmmaFence
    | op.InitFence
    | op.MemoryFence
    | op.Signal
    | op.Spin
    | op.SetMaxnreg
)


CONTROL = For | If | Elect | Let | Step


def synchronises(stmt: Stmt) -> bool:
    """The statement, or one in it, synchronises."""
    return any(isinstance(s, SYNCHRONISING) for s in walk((stmt,)))


def name(stmt: Stmt) -> str:
    """A statement as its author wrote it; a block by what stands before it, and the first operation inside."""
    held = [_written(s) for s in walk((stmt,)) if not isinstance(s, CONTROL)]
    return with_held(_written(stmt), held if isinstance(stmt, For | If | Elect) else [])


def _written(stmt: Stmt) -> str:
    """Its source text; one call of `cluster_sync` is two statements, which are told apart."""
    text = excerpt(stmt.span) or type(stmt).__name__
    match stmt:
        case op.ClusterArrive() if "sync" in text:
            return f"arrival of {text}"
        case op.ClusterWait() if "sync" in text:
            return f"wait of {text}"
        case _:
            return text


# -- edits of one statement --------------------------------------------------------------------------------------------


def _at(site: Site, skeleton: Skeleton) -> Iterator[SkeletonEdit]:
    stmt = site.stmt
    if isinstance(stmt, SYNCHRONISING):
        yield site.edit("drop", f"no {name(stmt)}")
    yield from _moved(site, skeleton)
    for kind, what, changed in chain(_numbers(stmt), _slots(stmt), _others(stmt)):
        yield site.edit(kind, f"{name(stmt)}: {what}", changed)
    yield from _around(site)
    yield from _by_fewer(site)


def _moved(site: Site, skeleton: Skeleton) -> Iterator[SkeletonEdit]:
    """Past the next statement of its block, and a fence past all that follow, where that changes synchronisation."""
    after = site.block[site.index + 1 :]
    for n, other in enumerate(after):
        if isinstance(site.stmt, Let) or isinstance(other, Let) or not (synchronises(site.stmt) or synchronises(other)):
            return
        if n and not isinstance(site.stmt, op.ProxyFence):
            return
        if not _counts_on(skeleton, site.stmt, other) or _computes(skeleton, site.stmt, other):
            continue
        what = f"{name(site.stmt)} after {name(other)} at line {other.span.line}"
        block = (*site.block[: site.index], *after[: n + 1], site.stmt, *after[n + 1 :])
        yield SkeletonEdit("move", what, site.stmt.span, site.put(block))


def _counts_on(skeleton: Skeleton, first: Stmt, second: Stmt) -> bool:
    """Neither only changes counters, or these concern the other: two such statements do the same in either order."""
    changed, names, only = zip(*(_counting(skeleton, s) for s in (first, second)), strict=True)
    return not any(only) or bool(changed[0] & names[1] or changed[1] & names[0])


def _counting(skeleton: Skeleton, stmt: Stmt) -> tuple[frozenset[str], frozenset[str], bool]:
    """The counters that a statement changes, the names that it depends on, and whether it does nothing else."""
    inside = list(walk((stmt,)))
    changed = counters((stmt,))
    names = changed.union(*(names_in(skeleton, s) for s in inside))
    return changed, names, all(isinstance(s, CONTROL) for s in inside)


def _computes(skeleton: Skeleton, first: Stmt, second: Stmt) -> bool:
    """One writes registers that the other names: their order is what a thread computes, not how it synchronises."""
    written, named = zip(*(_registers(skeleton, s) for s in (first, second)), strict=True)
    return bool(written[0] & named[1] or written[1] & named[0])


def _registers(skeleton: Skeleton, stmt: Stmt) -> tuple[frozenset[str], frozenset[str]]:
    """Those that a statement writes, and those that it names."""
    registers = frozenset(o.name for o in skeleton.objects if isinstance(o, Registers))
    written: set[str] = set()
    named: set[str] = set()
    for s in walk((stmt,)):
        named |= {ref.name for ref in refs_in(s)}
        match s:
            case op.Access(ref=ref, mode=mode) if mode is not Mode.READ:
                written.add(ref.name)
            case op.Wgmma(acc=acc):
                written.add(acc.name)
            case _:
                pass
    return registers & written, registers & named


Changed = tuple[str, str, Stmt]
"""The kind of an edit, what it does, and what a statement becomes."""


def _numbers(stmt: Stmt) -> Iterator[Changed]:
    """Counts, bytes, depths and registers, one step up and down."""
    match stmt:
        case op.Arrive(count=count, tx=tx):
            yield "count", f"{count + 1} arrivals", replace(stmt, count=count + 1)
            if tx is not None:
                yield "bytes", "no bytes", replace(stmt, tx=None)
                yield from (("bytes", text, replace(stmt, tx=n)) for text, n in _bytes(tx))
        case op.Expect(tx=tx) | op.TmaLoad(tx=tx) | op.StAsync(tx=tx):
            yield from (("bytes", text, replace(stmt, tx=n)) for text, n in _bytes(tx))
        case op.Init(count=count):
            yield from (("count", f"count {n}", replace(stmt, count=n)) for n in _near(count, 1))
        case op.BarSync(id=number, count=count):
            if count is not None:
                yield from (("count", f"{n} threads", replace(stmt, count=n)) for n in _near(count, WARP))
            yield "id", "the next barrier", replace(stmt, id=Bin("+", number, Int(1)))
        case op.Wait(pending=pending) if pending >= 0:
            yield "depth", f"{pending + 1} pending", replace(stmt, pending=pending + 1)
            if pending:
                yield "depth", f"{pending - 1} pending", replace(stmt, pending=pending - 1)
        case op.SetMaxnreg(registers=registers):
            found = _near(registers, REGISTERS)
            yield from (("registers", f"{n} registers", replace(stmt, registers=n)) for n in found)
        case _:
            return


def _near(n: int, step: int) -> tuple[int, ...]:
    return tuple(k for k in (n - step, n + step) if k > 0)


def _bytes(tx: Index) -> Iterator[tuple[str, Index]]:
    yield f"{BYTES} bytes more", Bin("+", tx, Int(BYTES))
    yield f"{BYTES} bytes fewer", Bin("-", tx, Int(BYTES))


def _slots(stmt: Stmt) -> Iterator[Changed]:
    """The slot of a ring, one later and one earlier."""
    match stmt:
        case op.Arrive(barrier=ref) | op.Await(barrier=ref) | op.Expect(barrier=ref) | op.TmaLoad(barrier=ref):
            for step, text in ((1, "the next slot"), (-1, "the slot before")):
                changed = _shifted(ref, step)
                if changed != ref:
                    yield "slot", text, replace(stmt, barrier=changed)
        case _:
            return


def _shifted(ref: Ref, step: int) -> Ref:
    return replace(ref, dims=tuple(_turned(d, step) if isinstance(d, Point) else d for d in ref.dims))


def _turned(point: Point, step: int) -> Point:
    match point.index:
        case Bin("%", index, Int(ring)):
            return Point(Bin("%", Bin("+", index, Int(step % ring)), Int(ring)))
        case _:
            return point


def _others(stmt: Stmt) -> Iterator[Changed]:
    """The other parity, reads alone or all, synchronisation that does not wait, or does."""
    match stmt:
        case op.Await(parity=parity):
            yield "parity", "the other parity", replace(stmt, parity=Bin("+", parity, Int(1)))
        case op.Wait(group=Group.BULK, reads_only=reads):
            yield (
                "depth",
                "until all is done" if reads else "until sources are read",
                replace(stmt, reads_only=not reads),
            )
        case op.BarSync(waits=waits):
            yield "wait", "without waiting" if waits else "with waiting", replace(stmt, waits=not waits)
        case op.ProxyFence(everywhere=everywhere):
            yield "fence", "of shared memory" if everywhere else "everywhere", replace(stmt, everywhere=not everywhere)
        case _:
            return


# -- what is around ----------------------------------------------------------------------------------------------------


def _around(site: Site) -> Iterator[SkeletonEdit]:
    """Bounds of loops, guards and elections around synchronisation."""
    stmt = site.stmt
    if not synchronises(stmt):
        return
    match stmt:
        case For(lo=lo, hi=hi):
            yield site.edit("loop", f"{name(stmt)}: one iteration fewer", replace(stmt, hi=Bin("-", hi, Int(1))))
            yield site.edit("loop", f"{name(stmt)}: one iteration more", replace(stmt, hi=Bin("+", hi, Int(1))))
            yield site.edit("loop", f"{name(stmt)}: from one later", replace(stmt, lo=Bin("+", lo, Int(1))))
        case If(cond=cond, then=then, orelse=orelse):
            yield site.edit("guard", f"{name(stmt)}: always", *then)
            if orelse:
                yield site.edit("guard", f"{name(stmt)}: never", *orelse)
            match cond:
                case Cmp(_, _, Int(bound)):
                    for n in (bound - 1, bound + 1):
                        changed = replace(stmt, cond=replace(cond, right=Int(n)))
                        yield site.edit("guard", f"{name(stmt)}: {n} in place of {bound}", changed)
                case _:
                    pass
        case Elect(body=body):
            yield site.edit("elect", f"{name(stmt)}: by all lanes", *body)
        case _:
            return


def _by_fewer(site: Site) -> Iterator[SkeletonEdit]:
    """One lane alone executes what all do."""
    if not site.elected and isinstance(
        site.stmt, op.Arrive | op.Await | op.ProxyFence | op.Commit | op.Signal | op.Spin
    ):
        yield site.edit("elect", f"{name(site.stmt)}: by one lane", Elect((site.stmt,), span=site.stmt.span))


# -- objects -----------------------------------------------------------------------------------------------------------


def _counts(skeleton: Skeleton) -> Iterator[SkeletonEdit]:
    """Arrival counts of mbarriers."""
    for n, item in enumerate(skeleton.objects):
        if isinstance(item, Mbarriers) and item.count is not None:
            for count in _near(item.count, 1):
                objects = (*skeleton.objects[:n], replace(item, count=count), *skeleton.objects[n + 1 :])
                changed = replace(skeleton, objects=objects)
                yield SkeletonEdit("count", f"{item.name} waits for {count} arrivals", item.span, changed)
