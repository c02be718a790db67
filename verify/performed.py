"""When an event is over, for what counts signals: an arrive on another CTA's barrier ends later than it is issued, and
one that waits for copies when these have landed."""

from __future__ import annotations

from exogpu.verify.needs import Needs
from exogpu.verify.phases import barrier_cta
from exogpu.verify.program import ArriveAction, Event, ExpectAction

AWAITED = Needs(temporal=True, woken=True)
"""An await that the arrive helps to complete has returned."""


def performed(event: Event) -> tuple[Needs, Needs | None]:
    """What says that an event has been performed, and what says so as well. Of a remote arrive its thread's program
    order does not, until something publishes it; of one that waits for copies only an await does."""
    if isinstance(event.action, ArriveAction) and event.action.after_copies:
        return AWAITED, None
    if isinstance(event.action, ArriveAction | ExpectAction) and barrier_cta(event) is not None:
        return Needs(), AWAITED
    return Needs(temporal=True), None
