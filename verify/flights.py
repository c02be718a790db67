"""Asynchronous operations between issue and completion, as the machine keeps them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from exogpu.ir.instr import Group
from exogpu.verify.concrete import Unrolling
from exogpu.verify.program import ArriveAction, Exec, InGroup, TxOn


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """An operation that a thread has issued; `members` are the threads whose commit groups it belongs to."""

    index: int
    thread: int
    members: tuple[int, ...] = ()


class Flights:
    """The operations in flight of a run by `threads`, in the order of their issue; `groups` has those of each thread's
    commit groups with the number of their group, which grows in that order."""

    def __init__(self, unrolling: Unrolling, threads: Collection[int]) -> None:
        self.unrolling = unrolling
        self.threads = threads
        self.open: dict[Flight, None] = {}
        self.groups: dict[tuple[int, Group], dict[Flight, int]] = {}

    def issue(self, index: int, thread: int) -> None:
        """The thread issues an occurrence."""
        item = self.unrolling.items[index]
        match item.event.completion:
            case InGroup(group) if not isinstance(item.event.action, ArriveAction):
                whole = item.event.exec is Exec.WARPS
                members = tuple(t for t in item.threads if t in self.threads) if whole else (thread,)
                flight = Flight(index, thread, members)
                for t in members:
                    self.groups.setdefault((t, group), {})[flight] = self.unrolling.number(index, t)
            case _:
                flight = Flight(index, thread)
        self.open[flight] = None

    def land(self, flight: Flight) -> list[tuple[int, Group]]:
        """The operation is done; whose waits for which groups that may end."""
        del self.open[flight]
        match self.unrolling.items[flight.index].event.completion:
            case InGroup(group):
                for t in flight.members:
                    del self.groups[t, group][flight]
                return [(t, group) for t in flight.members]
            case _:
                return []

    def pend(self, thread: int, group: Group, below: int) -> bool:
        """Some group of the thread with a number less than `below` is not done."""
        oldest = next(iter(self.groups.get((thread, group), {}).values()), None)
        return oldest is not None and oldest < below

    def oldest(self, wanted: Callable[[Flight], bool]) -> Flight | None:
        """The first wanted operation that may complete."""
        return next((f for f in self.open if wanted(f) and not self._behind_copies(f)), None)

    def _behind_copies(self, flight: Flight) -> bool:
        """An arrive or a hold behind copies waits for those that its thread has issued before."""
        event = self.unrolling.items[flight.index].event
        holds = isinstance(event.completion, TxOn) and event.completion.holds
        if not holds and not isinstance(event.action, ArriveAction):
            return False
        first = next(iter(self.groups.get((flight.thread, Group.COPY), ())), None)
        return first is not None and first.index < flight.index
