"""Who contributes to the phases of a barrier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exogpu.verify.phases import Channel, channels
from exogpu.verify.program import Event, Program
from exogpu.verify.skeleton.unsupported import SharedInPart


@dataclass(frozen=True, slots=True)
class Flow:
    """Statements by which each of the `channels` contributes `rate` executions to every phase of a barrier: arrivals if
    `arrivals` (that many by each execution), else bytes alone."""

    channels: frozenset[Channel]
    statements: tuple[Event, ...]
    rate: int
    arrivals: int

    @property
    def thread(self) -> int:
        """One of its threads: all count alike."""
        return min(thread for thread, _ in self.channels)

    @property
    def ctas(self) -> frozenset[int]:
        """The CTAs whose barriers it signals."""
        return frozenset(cta for _, cta in self.channels)


def parties(program: Program, statements: Sequence[Event]) -> list[tuple[frozenset[Channel], tuple[Event, ...]]]:
    """Channels that exactly the same of the statements use, with those statements."""
    groups: dict[tuple[int, ...], set[Channel]] = {}
    used = {e.id: channels(program, e) for e in statements}
    for channel in sorted(frozenset[Channel]().union(*used.values())):
        groups.setdefault(tuple(e.id for e in statements if channel in used[e.id]), set()).add(channel)
    for ids, through in groups.items():
        if any(not used[i] <= through for i in ids):
            at = program.events[ids[0]]
            raise SharedInPart(f"{at.label} and others on the barrier share only some of their threads", at.span)
    return [(frozenset(t), tuple(program.events[i] for i in ids)) for ids, t in groups.items()]
