"""The accesses so far, and which of them nothing orders before the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from exogpu.ir.instr import Mode
from exogpu.verify.explore.events import Event
from exogpu.verify.explore.knowledge import PLAIN, TEMPORAL, Mind
from exogpu.verify.explore.program import Footprint
from exogpu.verify.explore.storage import Space

NO_FLIGHT = -1
"""The flight of an ordinary access."""

UNKNOWN, OWN_LANE, KNOWN = range(3)
"""How far an access is known to come first: not at all, to the lane that made it, to every lane."""


class Record(NamedTuple):
    """An access. `strand`: whose lanes made it, -1 for a whole warp together; `actor`: the strand that executed the
    event; `pos`: how many events it had executed then, this one included; `flight`: the asynchronous operation;
    `source`: it is over once that has read."""

    cells: int
    lanes: tuple[int, ...] | None
    weight: int
    mode: Mode
    generic: bool
    strand: int
    actor: int
    pos: int
    flight: int
    source: bool
    footprint: Footprint
    event: Event


class Unordered(NamedTuple):
    """Two accesses of a space that meet in `cells`. `missing`: nothing but a proxy fence ("proxy"), or one for this
    state space ("space"), or the order itself (""); then `either`: they can come the other way round, too."""

    first: Record
    second: Record
    cells: int
    missing: str
    either: bool = False


class Fences(NamedTuple):
    """Rows of proxy fences of which one must cover an ordinary access before an asynchronous one; and rows that would
    for another state space. `ended`: for asynchronous operations to overwrite what others have used it is enough that
    these have certainly ended (axiom L4); `counts`: the access is a use of an mbarrier, for which the same holds (axiom
    L11)."""

    rows: tuple[int, ...]
    narrow: tuple[int, ...]
    ended: bool = False
    counts: bool = False


@dataclass(slots=True, eq=False)
class Memory:
    """Accesses of each space that a later one could meet."""

    records: dict[Space, list[Record]] = field(default_factory=dict)

    def touch(self, space: Space, new: Record, mind: Mind, fences: Fences) -> Unordered | None:
        """Adds an access by a mind; an earlier one that is not ordered before it, if there is one."""
        if not new.cells:
            return None
        if new.mode is Mode.WRITE and (meeting := _meeting(new.lanes, new.lanes, new.cells, new.weight)):
            return Unordered(new, new, meeting, "")
        earlier = self.records.setdefault(space, [])
        for r in earlier:
            shared = r.cells & new.cells
            if shared and _conflict(r, new):
                missing = _missing(r, new, shared, mind, fences)
                if missing is not None:
                    return Unordered(r, new, shared, missing, not missing and not _begun(mind, r))
        self._add(space, earlier, new)
        return None

    def _add(self, space: Space, earlier: list[Record], new: Record) -> None:
        if new.mode is Mode.WRITE:  # what it overwrites is ordered before it, and so before all that comes after it
            kept = [r if not r.cells & new.cells else r._replace(cells=r.cells & ~new.cells) for r in earlier]
            self.records[space] = [*(r for r in kept if r.cells), new]
            return
        if new.flight == NO_FLIGHT:
            for n, r in enumerate(earlier):
                if r.strand == new.strand and r.flight == NO_FLIGHT and r.mode is new.mode and _same_cells(r, new):
                    earlier[n] = new
                    return
        earlier.append(new)


def _same_cells(a: Record, b: Record) -> bool:
    return a.cells == b.cells and a.lanes == b.lanes


def _conflict(a: Record, b: Record) -> bool:
    if a.mode is Mode.READ and b.mode is Mode.READ:
        return False
    return not (a.mode is Mode.REDUCE and b.mode is Mode.REDUCE and a.generic == b.generic)


def _missing(first: Record, second: Record, shared: int, mind: Mind, fences: Fences) -> str | None:
    """What an earlier access lacks to be ordered before a later one; None if nothing."""
    same = first.strand == second.strand >= 0
    apart = same and not _meeting(first.lanes, second.lanes, shared, second.weight)
    needed = OWN_LANE if apart else KNOWN
    if known(mind, PLAIN, first) < needed:
        uses = fences.counts and first.footprint.window.ref.name == second.footprint.window.ref.name
        overwrites = second.mode is not Mode.READ and not (first.generic or second.generic)
        ended = uses or (fences.ended and overwrites)
        return None if ended and known(mind, TEMPORAL, first) >= needed else ""
    if not first.generic or second.generic:
        return None
    if any(known(mind, row, first) >= needed for row in fences.rows):
        return None
    return "space" if any(known(mind, row, first) >= needed for row in fences.narrow) else "proxy"


def known(mind: Mind, row: int, r: Record) -> int:
    """How far a mind knows, in a row, that an access came first."""
    clock = mind.shared[row]
    same = r.strand == mind.strand >= 0
    if r.flight == NO_FLIGHT:
        if r.pos <= clock.seen[r.strand]:
            return KNOWN
        return OWN_LANE if same and r.pos <= mind.own[row].pos else UNKNOWN
    bit = 1 << r.flight
    if bit & (clock.over | clock.read if r.source else clock.over):
        return KNOWN
    own = mind.own[row] if same else None
    done = own is not None and bit & (own.over | own.read if r.source else own.over)
    return OWN_LANE if done else UNKNOWN


def _begun(mind: Mind, r: Record) -> bool:
    """It is certain that the access, or the operation that makes it, had been started."""
    return r.pos <= mind.shared[TEMPORAL].seen[r.actor] or r.actor == mind.strand


def _meeting(a: Sequence[int] | None, b: Sequence[int] | None, shared: int, weight: int) -> int:
    """The cells that two different lanes touch, one of them as `a` says, the other as `b` does."""
    if weight == 1:
        return 0
    if a is None or b is None:
        return shared
    found = 0
    for others, mine in zip(_others(a), b, strict=True):
        found |= others & mine & shared
    return found


def _others(lanes: Sequence[int]) -> Iterable[int]:
    """For each lane, what the other lanes touch."""
    after = [0] * (len(lanes) + 1)
    for n in reversed(range(len(lanes))):
        after[n] = after[n + 1] | lanes[n]
    before = 0
    for n, cells in enumerate(lanes):
        yield before | after[n + 1]
        before |= cells
