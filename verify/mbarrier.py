"""The state of hardware barriers in one run, and the logical phases that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from exogpu.verify.concrete import Unrolling
from exogpu.verify.program import ArriveAction, Barrier, TxOn

Phase = tuple[str, int, int]
"""A phase of the barrier of a CTA: name, CTA, number."""


@dataclass(slots=True)
class Mbarrier:
    """A physical barrier object (PTX ISA, mbarrier): completed phases, pending arrivals, transaction count."""

    count: int
    completed: int = 0
    pending: int = 0
    tx: int = 0

    def __post_init__(self) -> None:
        self.pending = self.count

    def settle(self) -> None:
        """Completes the phase if nothing is pending."""
        if self.pending == 0 and self.tx == 0:
            self.completed += 1
            self.pending = self.count


@dataclass(slots=True)
class Mbarriers:
    """All barrier objects of a cluster, and what each logical phase has got and is to get: `arrived` of `units`
    arrivals, `landed` of `bound` bytes. What changes an object says what went wrong, or None."""

    declared: dict[str, Barrier]
    objects: dict[Phase, Mbarrier]
    units: Counter[tuple[str, int]]
    bound: Counter[Phase]
    arrived: Counter[Phase] = field(default_factory=Counter)
    landed: Counter[Phase] = field(default_factory=Counter)

    def at(self, phase: Phase) -> Mbarrier:
        """The object in whose slot a phase is; KeyError for a CTA that does not exist."""
        name, cta, number = phase
        return self.objects[name, cta, number % self.declared[name].ring]

    def incomplete(self, phase: Phase) -> str | None:
        """What a thread that awaits a phase waits for, which it tells by the parity."""
        name, _, number = phase
        ring = self.declared[name].ring
        parity = (number // ring) & 1
        if number < -ring or self.at(phase).completed & 1 != parity:
            return None
        if self.declared[name].named:
            return f"waits for generation {number} of {name}"
        return f"waits for phase {number} of {name} (slot {number % ring}, parity {parity})"

    def arrive(self, phase: Phase, together: int, tx: int) -> str | None:
        """Threads arrive `together` for a phase, and announce bytes."""
        name, cta, number = phase
        if (name, cta, 0) not in self.objects:
            return f"the arrive on {name} goes to CTA {cta}, which does not exist"
        if self.at(phase).pending < together:
            return f"phase {number} of {name} gets more arrivals than its count"
        if not self._open(phase):
            return f"the arrive for phase {number} lands in phase {self._current(phase)}"
        self._change(phase, -together, tx)
        self.arrived[phase] += together
        return None

    def hold(self, phase: Phase, more: int) -> str | None:
        """A held phase has one arrival more pending until the thread's copies have landed."""
        name, _, number = phase
        wrong = None if self._open(phase) else f"phase {number} of {name} is not the one that is held"
        self._change(phase, more, 0)
        return wrong

    def land(self, phase: Phase, size: int) -> str | None:
        """Bytes of a copy land."""
        name, _, number = phase
        wrong = None
        if not self._open(phase):
            wrong = f"the bytes for phase {number} of {name} land in phase {self._current(phase)}"
        self._change(phase, 0, -size)
        self.landed[phase] += size
        return wrong

    def missing(self, phase: Phase) -> str | None:
        """What a logical phase still lacks when an await of it returns."""
        name, cta, number = phase
        arrivals = self.units[name, cta] - self.arrived[phase]
        left = self.bound[phase] - self.landed[phase]
        if number < 0 or not (arrivals or left):
            return None
        what = f"{arrivals} of {self.units[name, cta]} arrivals" if arrivals else f"{left} bytes"
        return f"the await of phase {number} of {name} returns while {what} of it are missing"

    def _change(self, phase: Phase, pending: int, tx: int) -> None:
        found = self.at(phase)
        found.pending += pending
        found.tx += tx
        found.settle()

    def _open(self, phase: Phase) -> bool:
        name, _, number = phase
        return self.at(phase).completed == number // self.declared[name].ring

    def _current(self, phase: Phase) -> int:
        name, _, number = phase
        ring = self.declared[name].ring
        return self.at(phase).completed * ring + number % ring


def fresh(unrolling: Unrolling) -> Mbarriers:
    """The barriers of an unrolled program before its first step."""
    declared = unrolling.program.barriers
    objects = {
        (b.name, cta, slot): Mbarrier(b.count)
        for b in declared.values()
        for cta, slot in product(range(unrolling.program.cluster), range(b.ring))
    }
    arriving = {key for n in range(len(unrolling.items)) for key in _arriving(unrolling, n)}
    bound: Counter[Phase] = Counter()
    for n, item in enumerate(unrolling.items):
        match item.event.completion:
            case TxOn(barrier, size):
                bound[barrier, unrolling.barrier_cta(n), unrolling.number(n, item.first)] += size
            case _:
                pass
    return Mbarriers(declared, objects, Counter((barrier, cta) for barrier, cta, _ in arriving), bound)


def _arriving(unrolling: Unrolling, index: int) -> Iterator[tuple[str, int, int]]:
    """The threads that arrive, with the barrier and its CTA; of units that take turns, those of unit 0."""
    item = unrolling.items[index]
    if isinstance(item.event.action, ArriveAction):
        cta, turns = unrolling.barrier_cta(index), item.event.selection
        for thread in item.threads:
            yield item.event.action.barrier, cta, thread if turns is None else turns.peers(thread)[0]
