"""Barriers of threads: named barriers and the CTA's (PTX ISA, bar), and the cluster's (barrier.cluster)."""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.verify.explore.knowledge import TEMPORAL, Clock, Knowledge, covers, join

Warp = tuple[int, int]
"""CTA and number of a warp."""


@dataclass(slots=True, eq=False)
class Named:
    """A CTA's barrier: the generation that forms, of `threads` threads, with the warps that have joined, each with its
    strands and whether they wait."""

    threads: int | None = None
    joined: dict[Warp, tuple[tuple[int, ...], bool]] = field(default_factory=dict)
    knowledge: Knowledge | None = None
    since: Clock | None = None
    generation: int = 0

    def join(self, warp: Warp, strands: tuple[int, ...], waits: bool, knowledge: Knowledge) -> None:
        """A warp joins, and tells this."""
        self.joined[warp] = (strands, waits)
        self.knowledge = knowledge if self.knowledge is None else join(self.knowledge, knowledge)

    def follows(self, temporal: Clock) -> bool:
        """The last generation's completion certainly happened before what knows this."""
        return self.since is None or covers(temporal, self.since)

    def complete(self) -> tuple[list[int], Knowledge]:
        """The generation ends: the strands that wait for it, and what they learn."""
        assert self.knowledge is not None
        waiting = [s for strands, waits in self.joined.values() if waits for s in strands]
        knowledge = self.knowledge
        self.since = knowledge[TEMPORAL]
        self.generation += 1
        self.joined, self.knowledge, self.threads = {}, None, None
        return waiting, knowledge


@dataclass(slots=True, eq=False)
class Cluster:
    """The cluster's barrier: the generation that forms, with the strands that have arrived; `told` by those before."""

    generation: int = 0
    arrived: set[int] = field(default_factory=set)
    knowledge: Knowledge | None = None
    told: list[Knowledge] = field(default_factory=list)

    def arrive(self, strand: int, knowledge: Knowledge) -> None:
        """A strand arrives, and tells this."""
        self.arrived.add(strand)
        self.knowledge = knowledge if self.knowledge is None else join(self.knowledge, knowledge)

    def complete(self) -> None:
        """The generation ends."""
        assert self.knowledge is not None
        self.told.append(self.knowledge)
        self.generation += 1
        self.arrived, self.knowledge = set(), None
