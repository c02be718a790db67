"""Which threads execute a statement of a role, as loops over threads around one event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from exogpu.ir.collective import WARP, plus
from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Index, Int, Var
from exogpu.ir.skeleton.operations import Scope
from exogpu.ir.skeleton.tree import RANK, TID, RoleDecl
from exogpu.ir.walk import index_names
from exogpu.verify.instance import LANE
from exogpu.verify.program import Loop, LoopKind, Step


@dataclass(slots=True)
class Numbers:
    """Preorder numbers inside one loop body."""

    next: int = 0

    def take(self) -> int:
        """The next number."""
        self.next += 1
        return self.next - 1


@dataclass(frozen=True, slots=True)
class Fenced:
    """A memory fence right before a statement, by all of its threads or by those for which a condition holds; with an
    `axiom`, right before a barrier that they have passed since."""

    scope: Scope
    where: Cond | None = None
    axiom: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk is: enclosing steps, guards, the threads `who` of the role, and what names stand for. `explicit`:
    some guard tests the thread together with something else, so threads are told apart one by one. `divided`: they are
    a part of the role. `given` says in which block each name got its meaning; `fenced`: what the threads have just
    executed; `eligible`: the threads of which the hardware has elected one."""

    path: tuple[Step, ...]
    guards: tuple[Cond, ...]
    numbers: Numbers
    role: RoleDecl
    who: tuple[int, ...]
    names: Mapping[str, Index] = field(default_factory=dict)
    explicit: bool = False
    divided: bool = False
    block: int = 0
    given: Mapping[str, int] = field(default_factory=dict)
    fenced: Fenced | None = None
    eligible: tuple[int, ...] = ()

    def enter(self, loop: Loop) -> Place:
        """Inside a loop."""
        step = Step(self.numbers.take(), loop, len(self.guards))
        return replace(self, path=(*self.path, step), numbers=Numbers(), fenced=None)

    def naming(self, name: str, meaning: Index) -> Place:
        """With a name that stands for an expression."""
        return replace(self, names={**self.names, name: meaning}, given={**self.given, name: self.block})


@dataclass(frozen=True, slots=True)
class Executors:
    """`size` threads from `first` in each iteration of `loops`; `tid` is their number in the role (of a collective, the
    first one's), `rank` their CTA; of unknown numbers that depend on the CTA, `unknowns` are those of this one."""

    loops: tuple[Loop, ...]
    first: Index
    size: int
    tid: Index
    rank: Index
    guards: tuple[Cond, ...] = ()
    unknowns: Mapping[str, Index] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, Index]:
        """What the names of the executing thread stand for."""
        return {**self.unknowns, TID: self.tid, RANK: self.rank}


def executors(place: Place, threads: int, cluster: int, unit: int = 1) -> Executors | None:
    """The threads of a place, in collectives of `unit`; None if they do not form such collectives. `threads` are
    those of a CTA."""
    role = place.role
    loops, rank, ranks = _ctas(role, threads, cluster)
    base = plus(Bin("*", Int(threads), rank), Int(role.first)) if cluster > 1 else Int(role.first)
    if place.explicit:
        if unit != 1:
            return None
        loop = Loop(TID, Int(0), Int(role.threads), LoopKind.THREADS, 1, base)
        inside = () if place.who == tuple(range(role.threads)) else (_one_of(Var(TID), place.who),)
        return Executors((*loops, loop), plus(base, Var(TID)), 1, Var(TID), rank, (*ranks, *inside))
    runs = _runs(place.who, unit, role.threads)
    if runs is None:
        return None if unit != 1 else executors(replace(place, explicit=True), threads, cluster)
    start, step, count, length = runs
    first, tid = plus(base, Int(start)), Int(start)
    at: Index = tid
    if count > 1:
        var = f"{role.name}.{unit}"  # a counter of the role has a name of its own behind the dot
        loops = (*loops, Loop(var, Int(0), Int(count), LoopKind.THREADS, step, first))
        first, at = plus(first, Bin("*", Int(step), Var(var))), plus(tid, Bin("*", Int(step), Var(var)))
    each = length > 1 and unit == 1
    return Executors(loops, first, length, plus(at, Var(LANE)) if each else at, rank, ranks)


def by_value(e: Index, place: Place) -> Iterator[Place]:
    """A place as one for each group of its threads that an expression over thread and CTA does not tell apart."""
    if TID not in index_names(e) or not index_names(e) <= {TID, RANK}:
        yield place
        return
    groups: dict[tuple[int, ...], list[int]] = {}
    for t in place.who:
        groups.setdefault(tuple(evaluate(e, {TID: t, RANK: cta}) for cta in place.role.ctas), []).append(t)
    yield from (replace(place, who=tuple(who)) for who in groups.values())


def by_warps(place: Place) -> bool:
    """Consecutive threads of the place are whole warps, or lanes of one."""
    runs = _consecutive(place.who)
    return all(r[0] % WARP + len(r) <= WARP or r[0] % WARP == len(r) % WARP == 0 for r in runs)


def _ctas(role: RoleDecl, threads: int, cluster: int) -> tuple[tuple[Loop, ...], Index, tuple[Cond, ...]]:
    """The loop over the CTAs of a role, its variable, and the condition on it if they are not consecutive."""
    if cluster == 1 or len(role.ctas) == 1:
        return (), Int(role.ctas[0]), ()
    low, high = min(role.ctas), max(role.ctas) + 1
    loop = Loop(RANK, Int(low), Int(high), LoopKind.THREADS, threads, Int(0))
    gaps = () if len(role.ctas) == high - low else (_one_of(Var(RANK), role.ctas),)
    return (loop,), Var(RANK), gaps


def _one_of(value: Index, numbers: Sequence[int]) -> Cond:
    """The value is one of the numbers, which are given in order."""
    parts: list[Cond] = []
    for run in _consecutive(numbers):
        inside = (Cmp(">=", value, Int(run[0])), Cmp("<=", value, Int(run[-1])))
        parts.append(Cmp("==", value, Int(run[0])) if len(run) == 1 else BoolOp("and", inside))
    return parts[0] if len(parts) == 1 else BoolOp("or", tuple(parts))


def _consecutive(numbers: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return runs


def _runs(who: Sequence[int], unit: int, everybody: int) -> tuple[int, int, int, int] | None:
    """(start, step, count, length) of equally long runs at equal distances; whole collectives of `unit`, of which the
    last may be cut by the end of the role."""
    runs = _consecutive(who)
    if unit > 1:
        runs = [run[i : i + unit] for run in runs for i in range(0, len(run), unit)]
        if any(run[0] % unit or (len(run) < unit and run[-1] != everybody - 1) for run in runs):
            return None
    lengths = {len(run) for run in runs}
    steps = {b[0] - a[0] for a, b in pairwise(runs)}
    if len(lengths) != 1 or len(steps) > 1:
        return None
    return runs[0][0], steps.pop() if steps else lengths.copy().pop(), len(runs), lengths.pop()
