"""The way in: which executions are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.explore.choices import LANES, Choice, Numbers, choices
from exogpu.verify.explore.explain import Execution, fault
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.hints import Hint
from exogpu.verify.explore.machine import Machine, Met
from exogpu.verify.explore.outcome import Clean, Excessive, Fault, Observation, TooLarge
from exogpu.verify.explore.program import Program, program_of
from exogpu.verify.explore.schedule import Schedule, run

FORGIVING = frozenset(("L1", "L4", "L6", "L13"))
"""Axioms for an execution that is only observed."""
CROSS_CHECK = 3
"""The effort from which other schedules are tried even where one execution leaves nothing open."""
WORK = 8_000
"""Events that are executed for one choice before the search ends, for every unit of effort."""
MOST_FOUND = 6
"""Executions that run into something before the search ends, for every unit of effort."""
MOST_FACTS = 12
"""Unknown numbers that are shown."""


def explore(
    skeleton: Skeleton, sizes: Mapping[str, int], axioms: frozenset[str], *, effort: int = 1
) -> Fault | Clean | TooLarge:
    """Executes the skeleton at these sizes under many schedules, more with more `effort`."""
    exhaustive = True
    try:
        for choice in choices(skeleton, sizes, effort):
            found = _Search(choice, axioms, effort).result()
            if isinstance(found, Fault):
                return found
            exhaustive = exhaustive and choice.complete and found.exhaustive
    except Excessive as reason:
        return TooLarge(str(reason))
    return Clean(exhaustive)


@dataclass(slots=True, eq=False)
class _Search:
    choice: Choice
    axioms: frozenset[str]
    effort: int
    found: list[Execution] = field(default_factory=list)
    bends: dict[tuple[object, ...], Hint] = field(default_factory=dict)
    undecided: bool = False
    steps: int = 0

    def result(self) -> Fault | Clean:
        """Tries schedules: two that go far in opposite directions, more only if they leave something open."""
        orders = self._orders()
        self._try(Schedule(orders[0]))
        self._try(Schedule(orders[1], "early"))
        if self._settled() and self.effort < CROSS_CHECK:
            return Clean(True)
        for schedule in self._others(orders):
            self._try(schedule)
            hard = sum(not x.finding.mild for x in self.found)
            if self.steps > WORK * self.effort or hard > MOST_FOUND * self.effort:
                break
        return self._fault() if self.found else Clean(self._settled())

    def _others(self, orders: list[tuple[int, ...]]) -> Iterator[Schedule]:
        """Schedules that change the orders that could be otherwise, also those met on the way; then any."""
        yield from self._bent(orders[0])
        for order in orders[1:]:
            yield Schedule(order)
            yield Schedule(order, "early")
        yield from self._bent(orders[1])
        for seed in range(4 * self.effort):
            yield Schedule(orders[seed % len(orders)], seed=seed)
        yield from self._bent(orders[2])

    def _bent(self, order: tuple[int, ...]) -> Iterator[Schedule]:
        tried: set[tuple[object, ...]] = set()
        while new := [place for place in self.bends if place not in tried]:
            tried.add(new[0])
            yield Schedule(order, bend=self.bends[new[0]])

    def _settled(self) -> bool:
        return not self.found and not self.bends and not self.undecided

    def _fault(self) -> Fault:
        self.found.sort(key=lambda x: _rank(x.finding))
        best = fault(self.found)
        rules = {x.finding.rule for x in self.found} | set(best.other)
        facts = (*best.facts, *((key, str(value)) for key, value in self.choice.numbers[:MOST_FACTS]))
        return replace(best, other=tuple(sorted(rules - {best.rule})), facts=facts)

    def _try(self, schedule: Schedule) -> None:
        m = Machine(self.choice.program, self.axioms)
        finding = run(m, schedule)
        if finding is not None:
            self.found.append(Execution(schedule, m, finding, len(m.log)))
        self.found += [Execution(schedule, m, mild, end) for mild, end in m.mild]
        self.bends.update({k: v for k, v in m.hints.found.items() if k not in self.bends})
        self.undecided |= m.hints.undecided
        self.steps += sum(m.pc)

    def _orders(self) -> list[tuple[int, ...]]:
        """Orders of preference: of roles in both directions, of warps and lanes in both directions."""
        strands = self.choice.program.strands
        keys = (
            lambda s: (s.role.first, s.warp, -s.lanes[0], s.cta),
            lambda s: (-s.role.first, s.warp, s.lanes[0], s.cta),
            lambda s: (s.role.first, -s.warp, s.lanes[0], -s.cta),
            lambda s: (-s.role.first, -s.warp, -s.lanes[0], -s.cta),
        )
        return [tuple(s.number for s in sorted(strands, key=key)) for key in keys]


def _rank(finding: Finding) -> int:
    """What goes wrong in the midst of an execution tells most, then what is left at its end."""
    return 2 if finding.mild else int(finding.rule in ("race.async_inflight", "seq.mismatch", "mbar.tx_bytes"))


def observe(skeleton: Skeleton, sizes: Mapping[str, int], *, seed: int) -> list[Observation]:
    """Operations on barriers with their phases, in one execution with numbers and a schedule drawn by `seed`, each
    thread's in its order; empty if the execution goes wrong. Raises Excessive if it is too large."""
    program = program_of(skeleton, sizes, Numbers((), Random(seed)).choose, LANES[0])
    m = Machine(program, FORGIVING)
    order = tuple(range(len(program.strands)))
    if run(m, Schedule(order, seed=seed)) is not None:
        return []
    return [o for met in m.observed for o in _observations(program, met)]


def _observations(program: Program, met: Met) -> Iterator[Observation]:
    s = program.strands[met.strand]
    first = s.cta * program.skeleton.threads + s.role.first
    cta, barrier, cell = met.key
    for tid in s.lanes if met.lane is None else (s.lanes[met.lane],):
        yield Observation(s.events[met.event].path, first + tid, barrier, cta, cell, met.phase, met.life)
