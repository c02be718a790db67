"""The threads that execute a statement, as C++ expressions, and the barriers among them."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.codegen.cuda.tree import Binary, Expr, IntLit, Name
from exogpu.ir.collective import WARP

CTA_RANK = Name("cta_rank")
"""The CTA's number in its cluster."""


@dataclass(frozen=True, slots=True)
class Team:
    """`size` consecutive threads. `thread` is the executing thread's index among them; `warp` that of its warp,
    uniform over the warp, for teams of whole warps. Side by side run the teams that start at the CTA threads
    `firsts`; `member` is the executing one's position in that list."""

    size: int
    thread: Expr
    warp: Expr
    lane: Expr
    firsts: tuple[int, ...]
    member: Expr


def cta(threads: int) -> Team:
    """All threads of the CTA."""
    return Team(threads, Name("thread"), Name("warp"), Name("lane"), (0,), IntLit(0))


def cluster(threads: int, ctas: int) -> Team:
    """All threads of the cluster."""
    if ctas == 1:
        return cta(threads)
    thread, warp = (add(times(CTA_RANK, n), Name(word)) for n, word in ((threads, "thread"), (threads // WARP, "warp")))
    return Team(threads * ctas, thread, warp, Name("lane"), (0,), IntLit(0))


def plus(a: Expr, b: int) -> Expr:
    """`a + b`, folded."""
    match a:
        case IntLit(value):
            return IntLit(value + b)
        case _ if b == 0:
            return a
        case _:
            return Binary("+" if b > 0 else "-", a, IntLit(abs(b)))


def times(a: Expr, b: int) -> Expr:
    """`a * b`, folded."""
    match a:
        case IntLit(value):
            return IntLit(value * b)
        case _:
            return a if b == 1 else Binary("*", a, IntLit(b))


def add(a: Expr, b: Expr) -> Expr:
    """`a + b`, folded."""
    match a, b:
        case _, IntLit(value):
            return plus(a, value)
        case IntLit(value), _:
            return plus(b, value)
        case _, Binary("+", left, right):
            return add(add(a, left), right)
        case _:
            return Binary("+", a, b)


def quotient(a: Expr, b: int) -> Expr:
    """`a / b` of a non-negative number."""
    if b == 1:
        return a
    return Binary(">>", a, IntLit(b.bit_length() - 1)) if b & (b - 1) == 0 else Binary("/", a, IntLit(b))


def remainder(a: Expr, b: int) -> Expr:
    """`a % b` of a non-negative number."""
    if b == 1:
        return IntLit(0)
    return Binary("&", a, IntLit(b - 1)) if b & (b - 1) == 0 else Binary("%", a, IntLit(b))


@dataclass(frozen=True, slots=True)
class Split:
    """A `threads` loop over a team: which threads take part (None: all), the value of its variable (None: the
    constant `lo`), and the team of one iteration."""

    takes_part: Expr | None
    value: Expr | None
    team: Team


def starts_warps(team: Team) -> bool:
    """Whether thread 0 of the team is the first of its warp, so that `lane` is the index in 32 threads of the team."""
    return all(first % WARP == 0 for first in team.firsts)


def split(outer: Team, lo: int, hi: int, unit: int) -> Split:
    """Iterations lo..hi-1, each on `unit` threads of `outer`."""
    by_warp = unit % WARP == 0 and outer.size % WARP == 0 and starts_warps(outer)
    index, size = (outer.warp, unit // WARP) if by_warp else (outer.thread, unit)
    tests: list[Expr] = []
    if lo > 0:
        tests.append(Binary(">=", index, IntLit(lo * size)))
    if hi * unit < outer.size:
        tests.append(Binary("==", index, IntLit(0)) if hi * size == 1 else Binary("<", index, IntLit(hi * size)))
    takes_part = tests[0] if len(tests) == 1 else Binary("&&", *tests) if tests else None
    value = None if hi - lo == 1 else quotient(index, size)
    firsts = tuple(first + v * unit for first in outer.firsts for v in range(lo, hi))
    position = IntLit(0) if value is None else plus(quotient(index, size), -lo)
    member = add(times(outer.member, hi - lo), position)
    if unit == WARP and starts_warps(outer) and unit != outer.size and hi > 1:
        thread = outer.lane
    else:
        thread = _within(outer.thread, outer.size, lo, hi, unit)
    if unit <= WARP or unit % WARP:
        warp: Expr = IntLit(0)
    elif by_warp:
        warp = _within(outer.warp, outer.size // WARP, lo, hi, size)
    else:
        warp = quotient(thread, WARP)
    return Split(takes_part, value, Team(unit, thread, warp, outer.lane, firsts, member))


def _within(index: Expr, total: int, lo: int, hi: int, size: int) -> Expr:
    """Of `index` among `total`, in one of the iterations lo..hi-1 of `size` each: the index inside the iteration."""
    if size == 1:
        return IntLit(0)
    if size == total or hi == 1:
        return index
    return plus(index, -lo * size) if hi - lo == 1 else remainder(index, size)
