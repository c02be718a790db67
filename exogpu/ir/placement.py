"""Where a statement may stand: inside or outside the task loops, roles and thread loops, and in which collective."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from exogpu.diagnostics import Diagnostic
from exogpu.ir.collective import WARP, WARPGROUP, Collective, inside, role, whole
from exogpu.ir.index import ORDINAL, Index, Int
from exogpu.ir.instr import ClusterArrive, ClusterWait, InOrder, Instr
from exogpu.ir.proc import Launch
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    Fence,
    For,
    If,
    InstrCall,
    Point,
    Range,
    Role,
    Seq,
    Stmt,
    Tasks,
    Threads,
    Unroll,
)
from exogpu.ir.types import Gmem, Rmem, Scalar, Smem, WgmmaA, WgmmaD
from exogpu.ir.walk import index_names
from exogpu.source import Span

SWIZZLES = (0, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands. `nested`: inside anything but task loops; `threads`: variables of `threads` loops;
    `in_cta`: inside what one CTA executes."""

    block: Launch
    who: Collective
    in_tasks: bool = False
    in_threads: bool = False
    nested: bool = False
    threads: frozenset[str] = frozenset()
    in_cta: bool = False

    @property
    def whole_cta(self) -> bool:
        """Whether all threads of a CTA execute the statement together."""
        return self.who.size == self.block.threads and self.who.starts_at_multiple_of(self.block.threads)

    def enter(self, stmt: Stmt) -> Place:
        """The place of the statements nested in `stmt`."""
        if isinstance(stmt, For) and isinstance(stmt.mode, Tasks):
            return replace(self, in_tasks=True)
        new = {stmt.var} if isinstance(stmt, For) and isinstance(stmt.mode, Threads) else set[str]()
        known = not isinstance(stmt, Role) or role(self.block, self.who, stmt.name) is not None
        who = inside(self.block, self.who, stmt) if known else self.who
        in_threads = self.in_threads or bool(new)
        there = replace(self, who=who, in_threads=in_threads, nested=True, threads=self.threads | new)
        return replace(there, in_cta=self.in_cta or there.whole_cta)


def count(n: int) -> str:
    """`1 thread`, `2 threads`."""
    return f"{n} thread{'s' * (n != 1)}"


def narrow(who: Collective, unit: int) -> str:
    """What to write so that units of the given size execute a statement."""
    if who.size < unit:
        return f"move it out of the narrower `threads` loop, to where {count(unit)} execute it"
    words = {1: "", WARP: ", unit=warp", WARPGROUP: ", unit=warpgroup"}
    return f"put it into `for t in threads({who.size // unit}{words.get(unit, f', unit={unit}')}):`"


def misplaced(stmt: Stmt, place: Place) -> Iterator[Diagnostic]:
    """The violated rules of placement of one statement, nested blocks left out."""
    match stmt:
        case Assign():
            yield from _data(stmt, place, "an assignment")
            if place.who.size != 1:
                yield _wrong_size(stmt, "an assignment is executed by one thread", place.who, 1)
        case Alloc():
            yield from _data(stmt, place, "an allocation")
            yield from _allocation(stmt, place)
        case For():
            yield from _loop(stmt, place)
        case Role():
            yield from _role(stmt, place)
        case InstrCall(instr=instr):
            if instr.footprints or not isinstance(instr.completion, InOrder):
                yield from _data(stmt, place, f"`{instr.name}`")
            yield from _instruction(stmt, instr, place.who)
            if isinstance(instr.effect, ClusterArrive | ClusterWait) and not place.block.clustered:
                text = f"`{instr.name}` needs a cluster, and the kernel has none"
                yield Diagnostic("lang.cluster", text, stmt.span, help="write `block(..., cluster=n)`")
        case Fence():
            yield from _fence(stmt, place.who)
            yield from _straddles(stmt, place)
        case Arrive():
            yield from _arrive(stmt, place)
        case If() | Await():
            return


def _data(stmt: Stmt, place: Place, what: str) -> Iterator[Diagnostic]:
    if not place.in_tasks:
        text = f"{what} stands outside the task loops"
        fix = "put it into `for v in tasks(lo, hi):`; only synchronisation may stand before and after the task loops"
        yield Diagnostic("lang.outside_tasks", text, stmt.span, help=fix)


def _wrong_size(stmt: Stmt, rule: str, who: Collective, unit: int) -> Diagnostic:
    text = f"{rule}, not by {count(who.size)}"
    return Diagnostic("lang.collective", text, stmt.span, f"executed by {count(who.size)}", help=narrow(who, unit))


def _instruction(stmt: Stmt, instr: Instr, who: Collective) -> Iterator[Diagnostic]:
    if instr.unit and who.size != instr.unit:
        yield _wrong_size(stmt, f"`{instr.name}` is executed by {count(instr.unit)}", who, instr.unit)
        return
    unit = instr.unit or WARP
    if instr.aligned and who.size % unit:
        yield _wrong_size(stmt, f"`{instr.name}` is executed by whole units of {count(unit)}", who, unit)
    elif instr.aligned and not who.starts_at_multiple_of(unit):
        text = f"`{instr.name}` is executed by aligned units of {count(unit)}, and this collective starts elsewhere"
        yield Diagnostic(
            "lang.collective", text, stmt.span, help=f"let the role or loop start at a multiple of {count(unit)}"
        )


def _arrive(stmt: Arrive, place: Place) -> Iterator[Diagnostic]:
    """The CTAs of a remote arrive are literal, or one that the executing thread's coordinates name."""
    if stmt.relaxed and (stmt.ctas is None or stmt.tx is not None):
        text = "only an arrive on the barriers of other CTAs, without bytes, is relaxed"
        fix = f"write `Arrive({stmt.barrier}[...], relaxed=True)`, or leave `relaxed` out"
        yield Diagnostic("lang.cluster", text, stmt.span, help=fix)
    match stmt.ctas:
        case Range(lo, extent) if not isinstance(lo, Int) or not 0 <= lo.value <= place.block.cluster - extent:
            text = f"`{stmt.barrier}[...]` ranges over CTAs that the cluster of {place.block.cluster} does not have"
            yield Diagnostic("lang.cluster", text, stmt.span, help="write literal bounds inside the cluster")
        case Point(index) if index_names(index) - place.threads:
            text = f"which CTA's `{stmt.barrier}` is meant depends on more than the executing thread"
            fix = "index it with variables of `threads` loops, or with a range such as `[0:2]`"
            yield Diagnostic("lang.cluster", text, stmt.span, help=fix)
        case _:
            return


def _fence(stmt: Fence, who: Collective) -> Iterator[Diagnostic]:
    if who.size == 1:
        text = "a fence among one thread orders nothing"
        fix = "move it out of the `threads` loop, to the collective whose threads must wait for each other"
        yield Diagnostic("lang.fence", text, stmt.span, "executed by 1 thread", help=fix)
        return
    unit = WARP if who.size % WARP == 0 else who.size
    if WARP % unit or not who.starts_at_multiple_of(unit):
        text = "a fence joins whole warps or an even part of one warp, and this collective is neither"
        fix = "use a collective of a multiple of 32 threads that starts at a warp"
        yield Diagnostic("lang.fence", text, stmt.span, f"executed by {count(who.size)}", help=fix)


def _straddles(stmt: Fence, place: Place) -> Iterator[Diagnostic]:
    """No hardware barrier joins threads of several CTAs other than the whole cluster."""
    who, cta = place.who, place.block.threads
    if place.block.cluster > 1 and not place.in_cta and who != whole(place.block) and cta % who.size:
        text = "a fence joins threads of one CTA, or the whole cluster"
        fix = "put it into `for c in threads(n, unit=cta):`, or move it to where the whole cluster executes it"
        yield Diagnostic("lang.fence", text, stmt.span, f"executed by {count(who.size)}", help=fix)


def _role(stmt: Role, place: Place) -> Iterator[Diagnostic]:
    if role(place.block, place.who, stmt.name) is None:
        names = ", ".join(f"`{r.name}`" for r in place.block.roles)
        fix = f"the roles are {names}" if names else f"declare it: `block({stmt.name}=warps(n), ...)`"
        yield Diagnostic("lang.role", f"the block has no role `{stmt.name}`", stmt.span, "unknown role", help=fix)
    if not place.whole_cta:
        text = "a role is selected among all threads of one CTA only"
        fix = "move it out of the enclosing role or `threads` loop"
        if place.block.clustered and place.who == whole(place.block):
            fix = f"put it into `for c in threads({place.block.cluster}, unit=cta):`"
        yield Diagnostic("lang.role", text, stmt.span, help=fix)
    if stmt.index is not None and ORDINAL in index_names(stmt.index) and not place.in_tasks:
        text = f"`{ORDINAL}` numbers the tasks of a CTA, and this stands outside the task loops"
        yield Diagnostic("lang.outside_tasks", text, stmt.span, help="select the unit by a number")


def _loop(stmt: For, place: Place) -> Iterator[Diagnostic]:
    match stmt.mode:
        case Tasks() if place.nested:
            text = "a task loop stands inside another statement"
            yield Diagnostic(
                "lang.tasks", text, stmt.span, help="task loops are outermost; use `seq` for loops of one CTA"
            )
        case Threads(unit):
            yield from _literal_bounds(stmt, "threads")
            if isinstance(stmt.hi, Int) and stmt.hi.value * unit > place.who.size:
                yield _too_wide(stmt, stmt.hi.value, unit, place.who)
        case Unroll():
            yield from _literal_bounds(stmt, "unroll")
        case Tasks() | Seq():
            return


def _too_wide(stmt: For, n: int, unit: int, who: Collective) -> Diagnostic:
    text = f"{n} units of {count(unit)} do not fit the enclosing collective of {count(who.size)}"
    fix = f"use at most `threads({who.size // unit})`" if who.size >= unit else "move the loop out of the narrower one"
    return Diagnostic("lang.threads", text, stmt.span, f"needs {count(n * unit)}", help=fix)


def _literal_bounds(stmt: For, kind: str) -> Iterator[Diagnostic]:
    for bound in (stmt.lo, stmt.hi):
        if not isinstance(bound, Int) or bound.value < 0:
            text = f"the bounds of `{kind}` must be literal and not negative"
            yield Diagnostic("lang.literal", text, _span(bound, stmt), help="use a number or a captured Python integer")


def _span(bound: Index, stmt: For) -> Span:
    return bound.span if bound.span.line else stmt.span


def _allocation(stmt: Alloc, place: Place) -> Iterator[Diagnostic]:
    match stmt.memory:
        case Gmem():
            text = "global memory cannot be allocated in a procedure"
            yield Diagnostic("lang.memory", text, stmt.span, help="make it an argument of the procedure")
        case Smem(swizzle, ring, pool, offset):
            if swizzle not in SWIZZLES or ring < 1:
                text = "shared memory has a swizzle of 0, 32, 64 or 128 bytes and a ring of at least 1"
                yield Diagnostic("lang.memory", text, stmt.span)
            if offset and pool is None:
                text = "an offset is one inside a pool"
                yield Diagnostic(
                    "lang.memory", text, stmt.span, help='name the pool, as in `SMEM(pool="a", offset=...)`'
                )
            if place.in_threads:
                text = "shared memory is allocated inside a `threads` loop"
                fix = "allocate it before the loop, with one more dimension indexed by the loop variable"
                yield Diagnostic("lang.memory", text, stmt.span, help=fix)
            yield from _of_cluster(stmt, place)
        case Rmem(threads):
            yield from _registers(stmt, threads, place.who)
            yield from _of_cluster(stmt, place) if threads else ()
        case WgmmaD():
            yield from _fragment(stmt, place, "an accumulator", "N", 8)
        case WgmmaA():
            yield from _fragment(stmt, place, "an A fragment", "K", 16)
            if stmt.dtype not in (Scalar.BF16, Scalar.F16):
                text = f"an A fragment holds bf16 or f16, not {stmt.dtype.value}"
                yield Diagnostic("lang.memory", text, stmt.span)


def of_cluster(block: Launch, who: Collective) -> bool:
    """What `who` allocates has the CTA as its first dimension: it is a whole cluster."""
    return block.clustered and who == whole(block)


def _of_cluster(stmt: Alloc, place: Place) -> Iterator[Diagnostic]:
    n = place.block.cluster
    if of_cluster(place.block, place.who) and stmt.shape[:1] != (n,):
        text = f"a cluster of {n} allocates `{stmt.name}`, so its first dimension is the CTA"
        fix = f"make the first dimension {n} and index it with the CTA"
        yield Diagnostic("lang.memory", text, stmt.span, help=fix)


def _registers(stmt: Alloc, threads: int, who: Collective) -> Iterator[Diagnostic]:
    if not 0 <= threads <= len(stmt.shape):
        text = f"{threads} thread dimensions are asked for, and `{stmt.name}` has {len(stmt.shape)}"
        yield Diagnostic(
            "lang.memory", text, stmt.span, help="`threads` counts the leading dimensions that number the threads"
        )
    elif threads == 0 and who.size != 1:
        text = f"registers private to one thread are allocated in a collective of {count(who.size)}"
        shared = f"{stmt.dtype.value}[{who.size}, ...] @ RMEM(threads=1)"
        fix = f"allocate them inside the `threads` loop, or with thread dimensions, as in `{shared}`"
        yield Diagnostic("lang.memory", text, stmt.span, help=fix)
    elif prod(stmt.shape[:threads]) > who.size:
        text = f"`{stmt.name}` belongs to {count(prod(stmt.shape[:threads]))}, and its collective has {who.size}"
        yield Diagnostic(
            "lang.memory", text, stmt.span, help="the product of the thread dimensions is at most the collective's size"
        )


def _fragment(stmt: Alloc, place: Place, what: str, columns: str, unit: int) -> Iterator[Diagnostic]:
    shape, who = stmt.shape, place.who
    if of_cluster(place.block, who):
        yield from _of_cluster(stmt, place)
        shape, who = shape[1:], Collective(who.first, place.block.threads)
    if len(shape) != 3 or shape[1] != 64 or shape[2] % unit or not unit <= shape[2] <= 256:
        written = ", ".join(str(s) for s in stmt.shape)
        wanted = f"[warpgroups, 64, {columns}]" if shape is stmt.shape else f"[CTAs, warpgroups, 64, {columns}]"
        text = f"{what} has the shape {wanted}, not [{written}]"
        yield Diagnostic(
            "lang.memory",
            text,
            stmt.span,
            help=f"{columns} is a multiple of {unit} up to 256; make the first dimension 1 for one warpgroup",
        )
    elif shape[0] * WARPGROUP > who.size:
        text = f"`{stmt.name}` belongs to {count(shape[0] * WARPGROUP)}, and its collective has {who.size}"
        yield Diagnostic("lang.memory", text, stmt.span, help="the first dimension is the number of warpgroups")
