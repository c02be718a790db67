"""Threads of a run that move together, since they have one and the same trace."""

from __future__ import annotations

from collections import Counter

from exogpu.ir.collective import WARP
from exogpu.verify.concrete import Unrolling
from exogpu.verify.program import ArriveAction

_Key = tuple[int, int, tuple[int, ...]]


class Bundles:
    """The threads of a run, except that those `apart` are bundles of their own. Each bundle goes by its first thread;
    `sizes` says how many threads it has.

    On a thread barrier a warp arrives as one, when all its threads have come (PTX ISA, bar). So where there are such
    barriers, a bundle has threads of several warps only if it has all of theirs.
    """

    def __init__(self, unrolling: Unrolling, apart: frozenset[int]) -> None:
        self.unrolling = unrolling
        self.sizes: dict[int, int] = {}
        self._mates: dict[int, frozenset[int]] = {}
        self._joined: dict[int, set[int]] = {}
        self._met: set[tuple[int, int]] = set()
        program, first, sizes = unrolling.program, dict[_Key, int](), Counter[int]()
        joining = any(b.named for b in program.barriers.values())
        for start in program.everybody[::WARP]:
            keys = {
                t: (t if t in apart else -1, tuple(unrolling.trace(t))) for t in program.everybody[start : start + WARP]
            }
            alone = start if joining and len(set(keys.values())) > 1 else -1
            found = {t: first.setdefault((own, alone, trace), t) for t, (own, trace) in keys.items()}
            sizes.update(found.values())
            self._mates |= dict.fromkeys(found.values(), frozenset(found.values()))
        self.sizes = dict(sizes)

    def joins(self, index: int, thread: int) -> bool:
        """A bundle comes to an arrive: whether it can go on, since nobody of its warp is missing."""
        if not self._as_warp(index):
            return True
        self._joined.setdefault(index, set()).add(thread)
        return self._mates[thread] <= self._joined[index]

    def arrivals(self, index: int, thread: int) -> int:
        """How many threads arrive when a bundle goes on: all of its warp at once, and none of them later."""
        if not self._as_warp(index):
            return self.sizes[thread]
        mates = self._mates[thread]
        if (index, min(mates)) in self._met:
            return 0
        self._met.add((index, min(mates)))
        return sum(self.sizes[t] for t in mates)

    def _as_warp(self, index: int) -> bool:
        event = self.unrolling.items[index].event
        match event.action:
            case ArriveAction(barrier):
                return event.aligned and self.unrolling.program.barriers[barrier].named
            case _:
                return False
