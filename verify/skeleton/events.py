"""The events of a skeleton, in the order of its text: what each statement becomes is appended at its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from exogpu.ir.collective import WARP
from exogpu.ir.index import Cond, Index, Int
from exogpu.ir.skeleton.tree import Skeleton, Stmt
from exogpu.ir.walk import substitute_cond, substitute_index
from exogpu.verify.program import Access, Action, Computed, Event, Exec, InGroup, TxOn
from exogpu.verify.program import Step as PathStep
from exogpu.verify.skeleton.barriers import Signals
from exogpu.verify.skeleton.place import Executors, Place, by_warps, executors
from exogpu.verify.skeleton.reading import Checked
from exogpu.verify.skeleton.unsupported import ToldApart
from exogpu.verify.skeleton.windows import Windows


@dataclass
class Events:
    """All events so far, what is checked at them, and what has to hold at the next one for its windows and slots to
    lie inside of what they name."""

    skeleton: Skeleton
    windows: Windows
    signals: Signals
    events: list[Event] = field(default_factory=list)
    checks: list[Checked] = field(default_factory=list)
    inside: list[Cond] = field(default_factory=list)

    def _who_of(self, place: Place, unit: int = 1) -> Executors:
        found = executors(place, self.skeleton.threads, self.skeleton.cluster, unit)
        if found is None:
            raise ToldApart("only some threads of a collective are here", place.role.span)
        return replace(found, unknowns=self.signals.of_cta(place))

    def _who(self, stmt: Stmt, place: Place, unit: int = 1) -> Executors:
        found = executors(place, self.skeleton.threads, self.skeleton.cluster, unit)
        if found is None:
            what = "warp" if unit == WARP else "warpgroup"
            raise ToldApart(f"only some threads of a {what} execute this", stmt.span)
        return replace(found, unknowns=self.signals.of_cta(place))

    def event(
        self,
        stmt: Stmt,
        place: Place,
        label: str,
        mode: Exec,
        accesses: tuple[Access, ...] = (),
        *,
        action: Action | None = None,
        completion: TxOn | InGroup | None = None,
        unit: int = 1,
        aligned: bool = False,
        pipeline: str | None = None,
        slot: Index | None = None,
        computed: tuple[Computed, ...] = (),
    ) -> Event:
        """Appends the event of a statement at its place."""
        who = self._who(stmt, place, unit)
        steps, position = [], place.numbers.take()
        for loop in who.loops:
            steps.append(PathStep(position, loop, len(place.guards)))
            position = 0
        guards = (*(substitute_cond(g, who.names) for g in place.guards), *who.guards)
        if self.inside:
            computed = (*computed, Computed(Int(0), tuple(self.inside)))
        place_of_slot = None if slot is None else substitute_index(slot, who.names)
        event = Event(
            id=len(self.events),
            label=label,
            role=place.role.name,
            span=stmt.span,
            path=(*place.path, *steps, PathStep(position, None, len(guards))),
            guards=guards,
            first=who.first,
            size=who.size,
            exec=mode,
            accesses=accesses,
            action=action,
            completion=completion,
            aligned=(aligned and by_warps(place)) or mode is Exec.WARPS,
            pipeline=pipeline,
            computed=computed if place_of_slot is None else (*computed, Computed(place_of_slot)),
        )
        self.events.append(event)
        self.checks += (Checked(event, cond, None) for cond in self.inside)
        self.inside = []
        if place_of_slot is not None:
            self.signals.slots[event.id] = place_of_slot
        return event
