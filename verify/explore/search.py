"""The way in: which executions are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.explore.explain import fault
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.hints import Hint
from exogpu.verify.explore.machine import Machine
from exogpu.verify.explore.outcome import Clean, Excessive, Fault, Observation, TooLarge
from exogpu.verify.explore.program import Program, program_of
from exogpu.verify.explore.schedule import Schedule, run


@dataclass(slots=True, eq=False)
class Unknowns:
    """Unknown numbers as they are met: those given, else drawn."""

    given: Mapping[str, int]
    random: Random | None = None
    met: dict[str, tuple[int, int]] = field(default_factory=dict)

    def choose(self, key: str, below: int) -> int:
        """The number for a name with its arguments."""
        if key not in self.met:
            value = self.given.get(key, 0)
            if self.random is not None:
                value = self.random.randrange(below)
            self.met[key] = (value, below)
        return self.met[key][0]


def explore(
    skeleton: Skeleton, sizes: Mapping[str, int], axioms: frozenset[str], *, effort: int = 1
) -> Fault | Clean | TooLarge:
    """Executes the skeleton at these sizes under many schedules, more with more `effort`."""
    exhaustive = True
    try:
        for program, complete in _programs(skeleton, sizes, effort):
            found = _Search(program, axioms, effort).result()
            if isinstance(found, Fault):
                return found
            exhaustive = exhaustive and complete and found.exhaustive
    except Excessive as reason:
        return TooLarge(str(reason))
    return Clean(exhaustive)


def _programs(skeleton: Skeleton, sizes: Mapping[str, int], effort: int) -> Iterator[tuple[Program, bool]]:
    unknowns = Unknowns({})
    yield program_of(skeleton, sizes, unknowns.choose, 0), not unknowns.met


@dataclass(slots=True, eq=False)
class _Search:
    program: Program
    axioms: frozenset[str]
    effort: int
    found: list[tuple[Schedule, Machine, Finding, int]] = field(default_factory=list)
    bends: dict[tuple[object, ...], Hint] = field(default_factory=dict)
    undecided: bool = False

    def result(self) -> Fault | Clean:
        """Tries schedules."""
        tried: set[tuple[object, ...]] = set()
        for schedule in self._plain():
            self._try(schedule)
        order = self._orders()[0]
        for _ in range(3):
            for place, hint in list(self.bends.items()):
                if place not in tried:
                    tried.add(place)
                    self._try(Schedule(order, bend=hint))
        for seed in range(4 * self.effort):
            self._try(Schedule(order, seed=seed))
        if not self.found:
            return Clean(not self.bends and not self.undecided)
        schedule, m, finding, end = min(self.found, key=lambda f: f[2].mild)
        best = fault(self.program, self.axioms, schedule, m, finding, end)
        rules = {f.rule for _, _, f, _ in self.found} | set(best.other)
        return _with_others(best, rules - {best.rule})

    def _try(self, schedule: Schedule) -> None:
        m = Machine(self.program, self.axioms)
        finding = run(m, schedule)
        if finding is not None:
            self.found.append((schedule, m, finding, len(m.log)))
        self.found += [(schedule, m, mild, end) for mild, end in m.mild]
        self.bends.update({k: v for k, v in m.hints.found.items() if k not in self.bends})
        self.undecided |= m.hints.undecided

    def _orders(self) -> list[tuple[int, ...]]:
        """Orders of preference: of roles in both directions, of warps and lanes in both directions."""
        strands = self.program.strands
        keys = (
            lambda s: (s.role.first, s.warp, -s.lanes[0], s.cta),
            lambda s: (-s.role.first, s.warp, s.lanes[0], s.cta),
            lambda s: (s.role.first, -s.warp, s.lanes[0], -s.cta),
            lambda s: (-s.role.first, -s.warp, -s.lanes[0], -s.cta),
        )
        return [tuple(s.number for s in sorted(strands, key=key)) for key in keys]

    def _plain(self) -> Iterator[Schedule]:
        for order in self._orders():
            yield Schedule(order)
            yield Schedule(order, "early")


def _with_others(f: Fault, rules: set[str]) -> Fault:
    return Fault(
        f.rule, f.message, f.span, f.label, f.labels, f.help, f.sizes, f.facts, f.steps, tuple(sorted(rules))
    )  # fmt: skip


def observe(skeleton: Skeleton, sizes: Mapping[str, int], *, seed: int) -> list[Observation]:
    """Operations on mbarriers with their phases, in one execution; empty if it goes wrong."""
    return []
