"""Which ring slot and parity each synchronisation statement uses, and the counters that say so at run time.

The n-th execution of an allocation, arrive or await by a thread uses slot n mod ring (an await: phase n - lag), where
the threads of units that take turns count what any of them executes. If
all executions of a statement happen once per execution of one block, the count is that of the block and is shared
with every other such statement of the block; it advances at the block's end. If a block is executed once, or runs
a multiple of the period of a statement, slots are constants. Otherwise a counter advances after each execution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from exogpu.ir.instr import CopyArrive, Instr
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, Arrive, Await, BarrierRef, For, If, InstrCall, Role, Stmt, Tasks, Threads, Unroll
from exogpu.ir.types import Smem

Key = tuple[str, str, int]
"""What a counter counts: kind and name of a statement, and the slot that it starts at."""

Path = tuple[int, ...]
"""Child numbers from the root; the branches of an If are 0 and 1, other statements have one nested block."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A run-time counter modulo `ring`: a slot that starts at `start` and, if some wait needs them, a phase bit and
    the number of advances, which stays at `limit` once it is reached (0: nothing needs it)."""

    name: str
    ring: int
    start: int
    phased: bool
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """The slot and parity of one statement: those of `counter`, the parity flipped by `flip`; or constants if there
    is no counter. `skip`: the wait is for a phase before the first, or with a counter, for the first `skip` times."""

    counter: Counter | None
    slot: int = 0
    flip: int = 0
    skip: int = 0


@dataclass(frozen=True, slots=True)
class Advance:
    """Advance `counter`: every thread that executes the statement, or `by_first` only the one that performs it (an
    arrive, by the first thread of a team)."""

    counter: Counter
    by_first: bool


@dataclass(frozen=True, slots=True)
class CounterPlan:
    """Uses by statement path, and counters that advance after a statement or at the end of a block."""

    uses: dict[Path, Use] = field(default_factory=dict)
    after: dict[Path, tuple[Advance, ...]] = field(default_factory=dict)
    at_end: dict[Path, tuple[Counter, ...]] = field(default_factory=dict)
    counters: tuple[Counter, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    kind: str
    name: str
    ring: int

    @property
    def label(self) -> str:
        return self.name if self.kind == "alloc" else f"{self.name}_{self.kind}"

    def key(self, start: int) -> Key:
        return self.kind, self.name, start


@dataclass(frozen=True, slots=True)
class _Site:
    """A statement: the innermost block that counts its executions, and the roles and thread loops around it."""

    path: Path
    block: Path
    once: bool
    threads: tuple[object, ...]
    lag: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is: the counting block, whether it runs once in the life of a CTA, roles and thread loops."""

    block: Path
    once: bool
    threads: tuple[object, ...]


def _sites(body: tuple[Stmt, ...], path: Path, place: _Place, persistent: bool) -> Iterator[tuple[Path, Stmt, _Place]]:
    for i, stmt in enumerate(body):
        here = (*path, i)
        yield here, stmt, place
        match stmt:
            case For(lo=lo, hi=hi, mode=Threads(unit), body=inner):
                threads = (*place.threads, (lo, hi, unit))
                yield from _sites(inner, here, replace(place, threads=threads), persistent)
            case For(mode=Unroll(), body=inner):
                yield from _sites(inner, here, place, persistent)
            case For(mode=Tasks(), body=inner) if not persistent:
                yield from _sites(inner, here, replace(place, block=here), persistent)
            case For(body=inner):
                yield from _sites(inner, here, replace(place, block=here, once=False), persistent)
            case Role(name, inner, index=index):
                threads = (*place.threads, name, index is None)
                yield from _sites(inner, here, replace(place, threads=threads), persistent)
            case If(_, then, orelse):
                for branch, inner in enumerate((then, orelse)):
                    inside = (*here, branch)
                    yield from _sites(inner, inside, replace(place, block=inside, once=False), persistent)
            case _:
                pass


def _item(stmt: Stmt, rings: dict[str, int]) -> tuple[_Item, int] | None:
    match stmt:
        case Alloc(name, memory=Smem(ring=ring)):
            return _Item("alloc", name, ring), 0
        case Await(barrier, lag):
            return _Item("await", barrier, rings[barrier]), lag
        case InstrCall(instr=Instr(effect=CopyArrive(name))) if isinstance(ref := stmt.operand(name), BarrierRef):
            return _Item("arrive", ref.name, rings[ref.name]), 0
        case Arrive(barrier):
            return _Item("arrive", barrier, rings[barrier]), 0
        case _:
            return None


def plan_counters(proc: Proc, program: tuple[Stmt, ...]) -> CounterPlan:
    """The plan for one role's program."""
    rings = {b.name: b.ring for b in proc.barriers}
    sites: dict[_Item, list[_Site]] = {}
    copies: dict[str, list[Path]] = {}
    for path, stmt, place in _sites(program, (), _Place((), True, ()), proc.block.persistent):
        found = _item(stmt, rings)
        if found is not None:
            sites.setdefault(found[0], []).append(_Site(path, place.block, place.once, place.threads, found[1]))
        elif isinstance(stmt, InstrCall):
            for _, arg in stmt.operands:
                if isinstance(arg, BarrierRef):
                    copies.setdefault(arg.name, []).append(path)
    builder = _Builder({}, {}, {}, {}, {})
    for item, where in sites.items():
        builder.place(item, where, copies.get(item.name, []) if item.kind == "arrive" else [])
    return builder.plan()


@dataclass(frozen=True, slots=True)
class _Builder:
    uses: dict[Path, Use]
    keys: dict[Path, Key]
    after: dict[Path, list[tuple[Key, bool]]]
    at_end: dict[Path, list[Key]]
    counters: dict[Key, Counter]

    def plan(self) -> CounterPlan:
        """The finished plan: uses refer to the final counters."""
        final = self.counters
        uses = {p: replace(u, counter=final[self.keys[p]]) if p in self.keys else u for p, u in self.uses.items()}
        after = {p: tuple(Advance(final[k], first) for k, first in found) for p, found in self.after.items()}
        at_end = {p: tuple(final[k] for k in keys) for p, keys in self.at_end.items()}
        return CounterPlan(uses, after, at_end, tuple(final.values()))

    def place(self, item: _Item, sites: list[_Site], copies: list[Path]) -> None:
        """Decide how the executions of one allocation, arrive or await are counted."""
        if item.ring == 1 and item.kind != "await":
            self.uses.update(dict.fromkeys([*(s.path for s in sites), *copies], Use(None)))
            return
        block, per_block = sites[0].block, len(sites)
        one_block = all(s.block == block for s in sites)
        same_threads = all(s.threads == sites[0].threads for s in sites)
        inside = all(c[: len(block)] == block for c in copies)
        deep = any(s.lag > item.ring for s in sites)
        if one_block and same_threads and inside:
            period = item.ring * (2 if item.kind == "await" else 1)
            if sites[0].once or (per_block % period == 0 and not deep):
                self._constants(item, sites, copies)
                return
            if per_block == 1 and not deep and all(c < sites[0].path for c in copies):
                self._shared(item, sites[0], copies)
                return
        self._eager(item, sites, copies, same_threads)

    def _constants(self, item: _Item, sites: list[_Site], copies: list[Path]) -> None:
        for n, site in enumerate(sites):
            phase = n - site.lag
            before = sites[0].once and phase < 0
            self.uses[site.path] = Use(None, phase % item.ring, (phase // item.ring) & 1, 1 if before else 0)
        for copy in copies:
            self.uses[copy] = Use(None, sum(s.path < copy for s in sites) % item.ring)

    def _shared(self, item: _Item, site: _Site, copies: list[Path]) -> None:
        start = -site.lag % item.ring
        known = (k for k in self.at_end.get(site.block, []) if _matches(self.counters[k], item.ring, start))
        key = next(known, None)
        if key is None:
            key = item.key(start)
            self.at_end.setdefault(site.block, []).append(key)
            self._add(key, item, item.label)
        if item.kind == "await":
            self.counters[key] = replace(self.counters[key], phased=True)
        self._use(site.path, key, Use(None, flip=(-site.lag // item.ring) & 1))
        for copy in copies:
            self._use(copy, key, Use(None))

    def _eager(self, item: _Item, sites: list[_Site], copies: list[Path], same_threads: bool) -> None:
        lags = [s.lag for s in sites] or [0]
        keys = {start: item.key(start) for start in dict.fromkeys(-lag % item.ring for lag in lags)}
        for start, key in keys.items():
            limit = max(lag - item.ring for lag in lags if -lag % item.ring == start)
            self._add(key, item, item.label if start == 0 else f"{item.label}_{start}", max(0, limit))
        by_first = item.kind == "arrive" and not same_threads
        for site in sites:
            use = Use(None, flip=(-site.lag // item.ring) & 1, skip=max(0, site.lag - item.ring))
            self._use(site.path, keys[-site.lag % item.ring], use)
            self.after[site.path] = [(key, by_first) for key in keys.values()]
        for copy in copies:
            self._use(copy, keys[0], Use(None))

    def _use(self, path: Path, key: Key, use: Use) -> None:
        self.uses[path], self.keys[path] = use, key

    def _add(self, key: Key, item: _Item, name: str, limit: int = 0) -> None:
        """A new counter, called `name` or, if another has that name, the same with underscores."""
        while any(other.name == name for other in self.counters.values()):
            name += "_"
        self.counters[key] = Counter(name, item.ring, key[2], item.kind == "await", limit)


def _matches(counter: Counter, ring: int, start: int) -> bool:
    return counter.ring == ring and counter.start == start
