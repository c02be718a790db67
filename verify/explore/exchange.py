"""What threads tell each other through an object: an mbarrier's phase, a flag."""

from __future__ import annotations

from dataclasses import dataclass, field

from exogpu.verify.explore.knowledge import TEMPORAL, Clock, Knowledge, Mind, join, later


@dataclass(slots=True, eq=False)
class Told:
    """Knowledge for threads of one CTA, for those of all CTAs, and what certainly happened earlier."""

    near: dict[int, Knowledge] = field(default_factory=dict)
    wide: Knowledge | None = None
    temporal: Clock | None = None

    def add(self, cta: int, near: Knowledge | None, wide: Knowledge | None, temporal: Clock) -> None:
        """A thread of a CTA tells this to its own CTA, and that to all."""
        if near is not None:
            self.near[cta] = join(self.near[cta], near) if cta in self.near else near
        if wide is not None:
            self.wide = wide if self.wide is None else join(self.wide, wide)
        self.temporal = temporal if self.temporal is None else later(self.temporal, temporal)

    def include(self, other: Told) -> None:
        """Also what another object told."""
        for cta, knowledge in other.near.items():
            self.near[cta] = join(self.near[cta], knowledge) if cta in self.near else knowledge
        if other.wide is not None:
            self.wide = other.wide if self.wide is None else join(self.wide, other.wide)
        if other.temporal is not None:
            self.temporal = other.temporal if self.temporal is None else later(self.temporal, other.temporal)

    def copy(self) -> Told:
        """The same, unchanged by what is told later."""
        return Told(dict(self.near), self.wide, self.temporal)

    def forget(self) -> None:
        """Nothing is told any more but what has happened."""
        self.near, self.wide = {}, None

    def teach(self, mind: Mind, cta: int, *, wide: bool) -> None:
        """A thread of a CTA acquires, with a scope that is wider than its CTA or not."""
        if cta in self.near:
            mind.learn(self.near[cta])
        if wide and self.wide is not None:
            mind.learn(self.wide)

    def happened(self, mind: Mind) -> None:
        """A thread goes on because of what was told."""
        if self.temporal is not None:
            mind.learn_row(TEMPORAL, self.temporal)
