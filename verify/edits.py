"""Edits of a kernel's synchronisation: pure functions from a kernel to edited kernels, each with a description.

`sites` walks the statements; an edit puts other statements in the place of one. `mutants` collects every systematic
single edit, `slim` those that make the kernel wait less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exogpu.ir.collective import WARP, WARPGROUP, Collective, inside, whole
from exogpu.ir.evaluate import const
from exogpu.ir.index import Bin, Cmp, Int
from exogpu.ir.instr import HoldsPhase, Instr, ProxyFence, WaitGroup
from exogpu.ir.printer import statement_text
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, Arrive, Await, Fence, For, If, IndexArg, InstrCall, Role, Stmt, Threads
from exogpu.ir.types import Smem
from exogpu.ir.walk import children, walk, with_blocks
from exogpu.source import Span, excerpt, shortened

Block = tuple[Stmt, ...]
BYTES = 16
"""Change of expected bytes: the granularity of a bulk copy."""
UNITS = {1: "thread", WARP: "warp", WARPGROUP: "warpgroup"}


@dataclass(frozen=True, slots=True)
class Change:
    """What was done, and where; `kind` groups changes of one sort."""

    kind: str
    what: str
    span: Span

    @property
    def key(self) -> tuple[str, Span]:
        """Tells the changes of one kernel apart."""
        return self.what, self.span


@dataclass(frozen=True, slots=True)
class Edit(Change):
    """An edited kernel. `before` is the kernel as it was, if the sequential program may have changed too, because data
    statements are among those edited."""

    proc: Proc
    before: Proc | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """The `index`-th statement of a block, the collective that executes it, and how a new block makes a kernel."""

    block: Block
    index: int
    who: Collective
    put: Callable[[Block], Proc]

    @property
    def stmt(self) -> Stmt:
        """The statement."""
        return self.block[self.index]

    def become(self, *stmts: Stmt) -> Proc:
        """The kernel with other statements (or none) in its place."""
        return self.put((*self.block[: self.index], *stmts, *self.block[self.index + 1 :]))

    def moved(self, to: int) -> Proc:
        """The kernel with the statement moved to another index of its block."""
        rest = (*self.block[: self.index], *self.block[self.index + 1 :])
        return self.put((*rest[:to], self.stmt, *rest[to:]))


def sites(proc: Proc) -> Iterator[Site]:
    """Every statement, outer before inner, in the order of the text."""

    def visit(block: Block, who: Collective, put: Callable[[Block], Proc]) -> Iterator[Site]:
        for n, stmt in enumerate(block):
            site = Site(block, n, who, put)
            yield site
            for m, inner in enumerate(children(stmt)):
                yield from visit(inner, inside(proc.block, who, stmt), _nested(site, m))

    return visit(proc.body, whole(proc.block), lambda body: replace(proc, body=body))


def _nested(site: Site, child: int) -> Callable[[Block], Proc]:
    def put(block: Block) -> Proc:
        blocks = list(children(site.stmt))
        blocks[child] = block
        return site.become(with_blocks(site.stmt, blocks))

    return put


def without(proc: Proc, gone: Iterable[Stmt]) -> Proc:
    """The kernel without the given statements (those very objects) and the blocks that they leave empty."""
    ids = {id(stmt) for stmt in gone}

    def left(block: Block) -> Block:
        kept = [with_blocks(s, [left(inner) for inner in children(s)]) for s in block if id(s) not in ids]
        return tuple(s for s in kept if not children(s) or any(children(s)))

    return replace(proc, body=left(proc.body))


def pruned(proc: Proc) -> Proc:
    """The kernel without loops, conditionals and roles that hold nothing."""
    return without(proc, ())


def synchronises(stmt: Stmt) -> bool:
    """The statement only synchronises."""
    match stmt:
        case Fence() | Arrive() | Await():
            return True
        case InstrCall(instr=instr):
            return instr.effect is not None or isinstance(instr.completion, HoldsPhase)
        case _:
            return False


def only_synchronises(stmt: Stmt) -> bool:
    """Nothing in the statement, nested blocks included, touches data."""
    return all(synchronises(s) or isinstance(s, For | If | Role) for s in walk((stmt,)))


def name(stmt: Stmt) -> str:
    """A statement as its author wrote it; a block by what stands before it, and the first statement inside."""
    return with_held(written(stmt), [written(s) for s in walk((stmt,)) if not children(s)] if children(stmt) else [])


def written(stmt: Stmt) -> str:
    """Its source text or, where a rewrite made it of something else, what it is now."""
    source, now = excerpt(stmt.span), statement_text(stmt)
    return source if _sort(source) == _sort(now) else now


def _sort(text: str) -> str:
    """What comes before the operands, whatever the loop variable is called."""
    return re.sub(r"^for \w+ in", "for in", text).partition("(")[0]


def with_held(head: str, held: Sequence[str]) -> str:
    """The text before a block together with statements in it, the first of them if they are several."""
    return shortened([f"{head}: {held[0]}{' ...' * (len(held) > 1)}"]) if held else head


def described(stmt: Stmt, other: Stmt) -> str:
    """The name and the line, with the file if the other statement is in another one."""
    span = stmt.span
    place = f"line {span.line}" if span.file == other.span.file else f"{Path(span.file).name}:{span.line}"
    return f"{name(stmt)} at {place}"


# -- edits of one statement ------------------------------------------------------------------------------------------


def dropped(site: Site) -> Iterator[Edit]:
    """The statement is gone."""
    if synchronises(site.stmt):
        yield Edit("drop", f"no {name(site.stmt)}", site.stmt.span, pruned(site.become()))


def moved(site: Site) -> Iterator[Edit]:
    """One place earlier, one place later, and a proxy fence behind the statement that hands the memory on."""
    stmt, last = site.stmt, len(site.block) - 1
    if not only_synchronises(stmt):
        return
    if site.index > 0:
        before = site.block[site.index - 1]
        yield Edit("move", f"{name(stmt)} before {described(before, stmt)}", stmt.span, site.moved(site.index - 1))
    if site.index < last:
        after = site.block[site.index + 1]
        yield Edit("move", f"{name(stmt)} after {described(after, stmt)}", stmt.span, site.moved(site.index + 1))
    if isinstance(stmt, InstrCall) and isinstance(stmt.instr.effect, ProxyFence):
        for n in range(site.index + 2, last + 1):
            if any(isinstance(s, Arrive | Fence) for s in walk((site.block[n],))):
                what = f"{name(stmt)} after {described(site.block[n], stmt)}"
                yield Edit("move", what, stmt.span, site.moved(n))
                return


def lags(site: Site) -> Iterator[Edit]:
    """An await of the phase before or after."""
    if isinstance(site.stmt, Await):
        for lag in (site.stmt.lag - 1, site.stmt.lag + 1):
            if lag >= 0:
                changed = replace(site.stmt, lag=lag)
                yield Edit("lag", f"{name(site.stmt)}: lag {lag}", site.stmt.span, site.become(changed))


def expected_bytes(site: Site) -> Iterator[Edit]:
    """An arrive that expects 16 bytes less or more."""
    if isinstance(site.stmt, Arrive) and site.stmt.tx is not None:
        for tx in (const(site.stmt.tx) - BYTES, const(site.stmt.tx) + BYTES):
            if tx >= 0:
                changed = replace(site.stmt, tx=Int(tx))
                yield Edit("bytes", f"{name(site.stmt)}: tx {tx}", site.stmt.span, site.become(changed))


def depths(site: Site) -> Iterator[Edit]:
    """A group wait that leaves one group less or more pending."""
    for step in (-1, 1):
        yield from depth(site, step)


def depth(site: Site, step: int) -> Iterator[Edit]:
    """A group wait that leaves `step` more groups pending."""
    match site.stmt:
        case InstrCall(instr=Instr(effect=WaitGroup(operand=str() as pending))) as call:
            arg = call.operand(pending)
            value = const(arg.value) + step if isinstance(arg, IndexArg) else -1
            if value >= 0:
                changed = tuple((p, IndexArg(Int(value)) if p == pending else a) for p, a in call.operands)
                edited = site.become(replace(call, operands=changed))
                yield Edit("depth", f"{name(call)}: {value} pending", call.span, edited)
        case _:
            return


def guards(proc: Proc, site: Site) -> Iterator[Edit]:
    """A condition around synchronisation that is off by one."""
    match site.stmt:
        case If(cond=Cmp(right=right) as cond) as stmt if any(synchronises(s) for s in walk((stmt,))):
            shifted = ((Bin("-", right, Int(1)), "earlier"), (Bin("+", right, Int(1)), "later"))
            for bound, step in shifted:
                changed = replace(stmt, cond=replace(cond, right=bound))
                text = f"{name(stmt)}: one {step}"
                before = None if only_synchronises(stmt) else proc
                yield Edit("guard", text, stmt.span, site.become(changed), before)
        case _:
            return


def roles(proc: Proc, site: Site) -> Iterator[Edit]:
    """Statements that another role executes."""
    if isinstance(site.stmt, Role):
        for role in proc.block.roles:
            if role.name != site.stmt.name:
                changed = replace(site.stmt, name=role.name)
                yield Edit("role", f"role {role.name}", site.stmt.span, site.become(changed))


# -- which threads ---------------------------------------------------------------------------------------------------


def units(proc: Proc, site: Site) -> Iterator[Edit]:
    """Synchronisation by threads, warps or warpgroups where it was by others."""
    stmt, size = site.stmt, site.who.size
    match stmt:
        case For(lo=Int(lo), hi=Int(hi), mode=Threads(unit)) if only_synchronises(stmt):
            held = _held(stmt)
            for other in UNITS:
                if other != unit and (whole_units := max(1, (hi - lo) * unit // other)) * other <= size:
                    loop = replace(stmt, lo=Int(0), hi=Int(whole_units), mode=Threads(other))
                    what = f"{held} by {whole_units} {_plural(other, whole_units)}"
                    yield Edit("unit", what, stmt.span, site.become(loop))
        case Fence():
            for unit in (WARP, WARPGROUP):
                yield from narrowed(proc, site, unit)
        case Arrive():
            for unit in UNITS:
                yield from narrowed(proc, site, unit)
        case Await() | InstrCall(instr=_):
            if synchronises(stmt) and not (isinstance(stmt, InstrCall) and stmt.instr.unit):
                yield from first_only(proc, site)


def _held(loop: For) -> str:
    """The synchronisation in a loop over threads."""
    return with_held("", [written(s) for s in walk(loop.body) if synchronises(s)]).removeprefix(": ")


def narrowed(proc: Proc, site: Site, unit: int) -> Iterator[Edit]:
    """Each unit of the collective executes the statement for itself."""
    size = site.who.size
    if size > unit and size % unit == 0:
        n = size // unit
        loop = For(fresh(proc), Int(0), Int(n), Threads(unit), (site.stmt,), site.stmt.span)
        what = f"{name(site.stmt)} by {n} {_plural(unit, n)}"
        yield Edit("unit", what, site.stmt.span, site.become(loop))


def first_only(proc: Proc, site: Site) -> Iterator[Edit]:
    """Only the first thread of the collective executes the statement."""
    if site.who.size > 1:
        loop = For(fresh(proc), Int(0), Int(1), Threads(1), (site.stmt,), site.stmt.span)
        yield Edit("unit", f"{name(site.stmt)} by the first thread", site.stmt.span, site.become(loop))


def firsts(proc: Proc, site: Site) -> Iterator[Edit]:
    """The second thread, warp or warpgroup executes what the first did."""
    stmt, size = site.stmt, site.who.size
    match stmt:
        case For(lo=Int(lo), hi=Int(hi), mode=Threads(unit)) if only_synchronises(stmt) and (hi + 1) * unit <= size:
            loop = replace(stmt, lo=Int(lo + 1), hi=Int(hi + 1))
            what = f"{_held(stmt)} by the next {UNITS.get(unit, 'unit')}"
            yield Edit("first", what, stmt.span, site.become(loop))
        case Arrive() if size > 1:
            loop = For(fresh(proc), Int(1), Int(2), Threads(1), (stmt,), stmt.span)
            yield Edit("first", f"{name(stmt)} by the second thread", stmt.span, site.become(loop))
        case _:
            return


def _plural(unit: int, n: int) -> str:
    return UNITS.get(unit, f"{unit} threads") + "s" * (n != 1)


def fresh(proc: Proc) -> str:
    """A name for a loop variable that the kernel does not use."""
    used = {s.var for s in walk(proc.body) if isinstance(s, For)}
    used |= {s.name for s in walk(proc.body) if isinstance(s, Alloc)}
    used |= {d.name for d in (*proc.args, *proc.barriers, *proc.named)}
    return next(v for n in range(len(used) + 1) if (v := f"u{n}") not in used)


# -- edits of declarations -------------------------------------------------------------------------------------------


def counts(proc: Proc) -> Iterator[Edit]:
    """A barrier that waits for one arrival less or more, a named one for one warp."""
    for n, barrier in enumerate(proc.barriers):
        for count in (barrier.count - 1, barrier.count + 1):
            if count >= 1:
                changed = (*proc.barriers[:n], replace(barrier, count=count), *proc.barriers[n + 1 :])
                yield Edit("count", f"{barrier.name}: count {count}", barrier.span, replace(proc, barriers=changed))
    for n, named in enumerate(proc.named):
        for count in (named.count - WARP, named.count + WARP):
            if count >= WARP:
                others = (*proc.named[:n], replace(named, count=count), *proc.named[n + 1 :])
                yield Edit("count", f"{named.name}: count {count}", named.span, replace(proc, named=others))


def barrier_rings(proc: Proc) -> Iterator[Edit]:
    """A barrier with one mbarrier less or more."""
    for n, barrier in enumerate(proc.barriers):
        for ring in (barrier.ring - 1, barrier.ring + 1):
            if ring >= 1:
                changed = (*proc.barriers[:n], replace(barrier, ring=ring), *proc.barriers[n + 1 :])
                yield Edit("ring", f"{barrier.name}: ring {ring}", barrier.span, replace(proc, barriers=changed))


def buffer_rings(site: Site) -> Iterator[Edit]:
    """A shared-memory ring with one slot less or more."""
    match site.stmt:
        case Alloc(memory=Smem(ring=ring) as memory) as stmt:
            for slots in (ring - 1, ring + 1):
                if slots >= 1:
                    changed = replace(stmt, memory=replace(memory, ring=slots))
                    yield Edit("ring", f"{stmt.name}: ring {slots}", stmt.span, site.become(changed))
        case _:
            return
