"""Executions of statements counted by enumeration at concrete sizes, to confirm what closed forms say."""

from __future__ import annotations

from exogpu.verify.concrete import Env, Occurrence, cta_meant, occurrences
from exogpu.verify.ordinal import SIMULTANEOUS
from exogpu.verify.phases import channels
from exogpu.verify.program import Event, Program
from exogpu.verify.walk import all_tasks


class Tally:
    """Executions of statements by one of their threads, counted by enumeration at concrete sizes."""

    def __init__(self, program: Program, sizes: Env) -> None:
        self.program = program
        self.sizes = sizes
        self.tasks = all_tasks(program, sizes, {})

    def before(self, statement: Event, at: Occurrence, by: int | None = None) -> int:
        """Executions of `statement` by a thread, on its lowest channel, before the place of `at`, loops over threads
        and CTAs aside; by the lowest thread if none is given."""
        through = channels(self.program, statement)
        thread, cta = min(c for c in through if by is None or c[0] == by)
        place = _sequential_place(at)
        found = occurrences(self.program, statement, self.sizes, self.tasks)
        peers = {thread} if statement.selection is None else set(statement.selection.peers(thread))
        mine = (o for o in found if not peers.isdisjoint(o.threads) and cta_meant(self.program, o) == cta)
        return sum(1 for o in mine if _sequential_place(o) < place)


def _sequential_place(o: Occurrence) -> tuple[int, ...]:
    """The place of an occurrence with loops over threads and CTAs taken as simultaneous."""
    place: list[int] = []
    for step in o.event.path:
        place.append(step.position)
        if step.loop is not None and step.loop.kind not in SIMULTANEOUS:
            place.append(o.env[step.loop.var])
        elif step.loop is not None:
            place.append(0)
    return tuple(place)
