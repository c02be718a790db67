"""The events of a class of threads, in program order, with their operands as numbers.

A class consists of threads of one role in one CTA whose control flow and synchronising operands are the same; only
their footprints may differ. Classes are found by trial: a walk that meets a difference says how to divide its threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Cond, Index
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.operations import Exit, Operation
from exogpu.ir.skeleton.tree import RANK, TID, Body, Elect, For, If, Let, Skeleton, Step, Stmt, Unknown
from exogpu.ir.stmt import Point
from exogpu.ir.walk import index_names
from exogpu.verify.explore.events import Event, Path, Trace
from exogpu.verify.explore.outcome import Excessive
from exogpu.verify.explore.resolve import resolve
from exogpu.verify.explore.storage import OutOfBounds, Storage

Value = TypeVar("Value")

MOST_EVENTS = 20_000
MOST_ITERATIONS = 200_000
"""In one thread."""


class Split(Exception):
    """The threads of a class differ; carries how to divide them."""

    def __init__(self, parts: list[tuple[int, ...]]) -> None:
        super().__init__()
        self.parts = parts


class Environment(dict[str, int]):
    """Values of sizes, loop variables, counters, `tid` and `rank`. A variable that stands for an unknown number is
    looked up by its arguments."""

    def __init__(self, values: Mapping[str, int], unknowns: Mapping[str, Unknown], choose: Callable[[str, int], int]):
        super().__init__(values)
        self.unknowns = unknowns
        self.choose = choose

    def __missing__(self, name: str) -> int:
        unknown = self.unknowns[name]
        return self.choose(unknown.at(tuple(evaluate(a, self) for a in unknown.args)), unknown.below)


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What all walks of an execution share. `choose` gives unknown numbers; `elect(any)` takes the lanes `elected`, one
    after the other for the warps of the cluster."""

    skeleton: Skeleton
    storage: Storage
    sizes: Mapping[str, int]
    choose: Callable[[str, int], int]
    elected: tuple[int, ...]
    differing: dict[int, bool] = field(default_factory=dict)

    def differs(self, e: Index | Cond) -> bool:
        """The value may depend on the thread."""
        known = self.differing.get(id(e))
        if known is None:
            known = self.differing[id(e)] = any(self._varies(v) for v in index_names(e))
        return known

    def _varies(self, name: str) -> bool:
        unknown = dict(self.skeleton.unknowns).get(name)
        return name == TID or (
            unknown is not None and any(self._varies(v) for a in unknown.args for v in index_names(a))
        )


def traces(setting: Setting, number: int, cta: int) -> Iterator[Trace]:
    """The classes of the threads of the skeleton's body `number` in a CTA."""
    body = setting.skeleton.bodies[number]
    pending = [tuple(range(body.role.threads))]
    while pending:
        lanes = pending.pop()
        try:
            yield Walk(setting, body, number, cta, lanes).trace()
        except Split as split:
            pending += split.parts


@dataclass(slots=True, eq=False)
class Walk:
    """One walk through a body by a class of threads."""

    setting: Setting
    body: Body
    number: int
    cta: int
    lanes: tuple[int, ...]
    env: Environment = field(init=False)
    events: list[Event] = field(default_factory=list)
    iteration: tuple[tuple[str, int], ...] = ()
    iterations: int = 0

    def __post_init__(self) -> None:
        values = {**self.setting.sizes, RANK: self.cta, TID: self.lanes[0]}
        self.env = Environment(values, dict(self.setting.skeleton.unknowns), self.setting.choose)

    def trace(self) -> Trace:
        """Raises Split if the threads differ, Excessive if there are too many events."""
        ends = self._block(self.body.stmts, (self.number,))
        return Trace(self.lanes, tuple(self.events), ends)

    # -- values ------------------------------------------------------------------------------------------------------

    def _each(self, value: Callable[[Mapping[str, int]], Value]) -> tuple[Value, ...]:
        """A value in every thread of the class."""
        found = []
        for tid in self.lanes:
            self.env[TID] = tid
            found.append(value(self.env))
        self.env[TID] = self.lanes[0]
        return tuple(found)

    def index(self, e: Index) -> int:
        """The value of an expression in all threads; raises Split if there are several."""
        if not self.setting.differs(e):
            return evaluate(e, self.env)
        return self._one(self._each(lambda env: evaluate(e, env)))

    def truth(self, c: Cond) -> bool:
        """The same for a condition."""
        if not self.setting.differs(c):
            return holds(c, self.env)
        return bool(self._one(self._each(lambda env: int(holds(c, env)))))

    def same_cells(self, ref: Ref) -> int | OutOfBounds:
        """The cells that a reference names in all threads; raises Split if they differ."""
        found = self.cells(ref)
        masks = tuple(-1 if isinstance(c, OutOfBounds) else c for c in found)
        if len(masks) > 1:
            self._one(masks)
        return found[0]

    def _one(self, values: tuple[int, ...]) -> int:
        if len(set(values)) > 1:
            parts: dict[int, list[int]] = {}
            for tid, value in zip(self.lanes, values, strict=True):
                parts.setdefault(value, []).append(tid)
            raise Split([tuple(p) for p in parts.values()])
        return values[0]

    def cta_of(self, ref: Ref) -> int:
        """The CTA whose object is meant."""
        return self.cta if ref.cta is None else self.index(ref.cta)

    def cells(self, ref: Ref) -> tuple[int | OutOfBounds, ...]:
        """The cells of the object that a reference names, once if no thread differs."""
        storage = self.setting.storage
        if not any(self.setting.differs(d.index if isinstance(d, Point) else d.lo) for d in ref.dims):
            return (storage.cells(ref, self.env),)
        return self._each(lambda env: storage.cells(ref, env))

    # -- statements --------------------------------------------------------------------------------------------------

    def _block(self, stmts: tuple[Stmt, ...], path: Path) -> bool:
        """Executes statements; true if the threads have exited."""
        return any(self._statement(stmt, (*path, n)) for n, stmt in enumerate(stmts))

    def _statement(self, stmt: Stmt, path: Path) -> bool:
        match stmt:
            case Let(name, value):
                self.env[name] = self.index(value)
            case Step(name, by, modulus):
                self.env[name] += by
                if modulus is not None:
                    self.env[name] %= modulus
            case For():
                return self._loop(stmt, path)
            case If(test, then, orelse):
                arm = 0 if self.truth(test) else 1
                return self._block(orelse if arm else then, (*path, arm))
            case Elect(body, any=free):
                unit = self.body.role.unit
                if 1 < unit <= WARP:  # elect.sync; larger units compare thread numbers
                    self.events.append(Event(stmt, path, self.iteration))
                if self._one(tuple(int(tid % unit == self._elected(tid - tid % unit, free)) for tid in self.lanes)):
                    return self._block(body, (*path, 0))
            case Exit():
                self._emit(stmt, path)
                return True
            case _:
                self._emit(stmt, path)
        return False

    def _elected(self, first: int, free: bool) -> int:
        """The lane that is elected in the unit whose first thread this is."""
        lanes, warp = self.setting.elected, (self.body.role.first + first) // WARP + self.cta
        return min(lanes[warp % len(lanes)], self.body.role.unit - 1) if free else 0

    def _loop(self, loop: For, path: Path) -> bool:
        outside = self.iteration
        for value in range(self.index(loop.lo), self.index(loop.hi)):
            self.iterations += 1
            if self.iterations > MOST_ITERATIONS:
                raise Excessive(f"a thread makes more than {MOST_ITERATIONS} trips")
            self.env[loop.var] = value
            self.iteration = (*outside, (loop.written or loop.var, value))
            if self._block(loop.body, (*path, 0)):
                return True
        self.iteration = outside
        return False

    def _emit(self, op: Operation, path: Path) -> None:
        if len(self.events) >= MOST_EVENTS:
            raise Excessive(f"a thread has more than {MOST_EVENTS} events")
        self.events.append(resolve(self, op, path))
