"""Barrier objects: those in shared memory (PTX ISA, mbarrier), and the named ones of a CTA (PTX ISA, bar)."""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.ir.proc import MAX_COUNT
from exogpu.verify.simulator.clocks import Knowledge
from exogpu.verify.simulator.outcome import Broken, Violation


@dataclass(slots=True, eq=False)
class Mbarrier:
    """One object: the phases that it has completed, arrivals still pending, bytes still expected. `coming` is what the
    arrivals of this phase know, `known` what those of all complete phases did; None if nobody keeps account. `awaited`:
    the last phase that a wait has returned for."""

    name: str
    count: int
    completed: int = 0
    pending: int = 0
    tx: int = 0
    coming: Knowledge | None = None
    known: Knowledge | None = None
    awaited: int = -1

    def __post_init__(self) -> None:
        self.pending = self.count

    def tell(self, knowledge: Knowledge | None) -> None:
        """What an arrival, or bytes, of the current phase know."""
        if knowledge is None:
            return
        if self.coming is None:
            self.coming = knowledge
        else:
            self.coming.join(knowledge)

    def hold(self, turn: int, who: str) -> None:
        """One more arrival is pending in phase `turn`; raises Violation."""
        if turn != self.completed:
            raise Violation(Broken(f"{who} holds phase {turn} of {self.name}, which is at {self.completed}"))
        self.pending += 1

    def arrive(self, turn: int, tx: int, who: str) -> None:
        """An arrival that is meant for the object's phase `turn`, after expecting `tx` bytes; raises Violation."""
        if turn != self.completed:
            raise Violation(Broken(f"{who} arrives on {self.name} for its phase {turn}, which is at {self.completed}"))
        if self.pending == 0:
            raise Violation(Broken(f"{who} arrives on {self.name} once too often in phase {turn}"))
        self.expect(tx)
        self.pending -= 1
        self._settle()

    def complete(self, turn: int, bytes_: int, what: str) -> None:
        """Bytes that are meant for phase `turn` have been written; raises Violation."""
        if turn != self.completed:
            text = f"bytes of {what} for phase {turn} of {self.name} come in its phase {self.completed}"
            raise Violation(Broken(text))
        self.expect(-bytes_)
        self._settle()

    def expect(self, bytes_: int) -> None:
        """Changes the transaction count."""
        self.tx += bytes_
        if abs(self.tx) > MAX_COUNT:
            raise Violation(Broken(f"the transaction count of {self.name} leaves its range"))

    def lets_pass(self, turn: int) -> bool:
        """Whether a wait on the parity of phase `turn` returns."""
        return self.completed & 1 != turn & 1

    def _settle(self) -> None:
        if self.pending == 0 and self.tx == 0:
            self.completed += 1
            self.pending = self.count
            if self.known is None:
                self.known = self.coming
            elif self.coming is not None:
                self.known.join(self.coming)
            self.coming = None


@dataclass(slots=True)
class Named:
    """A named barrier: generations of `count` threads each. `known` is what the threads of each complete one knew."""

    name: str
    count: int
    joined: int = 0
    coming: Knowledge | None = None
    known: list[Knowledge | None] = field(default_factory=list)

    def join(self, generation: int, knowledge: Knowledge | None, who: str) -> None:
        """A thread joins; raises Violation if it means another generation than the one that is forming."""
        if generation != len(self.known):
            text = f"{who} joins generation {generation} of {self.name} while {len(self.known)} is forming"
            raise Violation(Broken(text))
        if self.coming is None:
            self.coming = knowledge
        elif knowledge is not None:
            self.coming.join(knowledge)
        self.joined += 1
        if self.joined == self.count:
            self.known.append(self.coming)
            self.joined, self.coming = 0, None

    def lets_pass(self, generation: int) -> bool:
        """Whether a generation is complete."""
        return generation < len(self.known)
