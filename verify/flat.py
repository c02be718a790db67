"""Two nested loops counted as one: places in them that lie a fixed number of inner iterations apart.

A ring goes round through all iterations of `for tile: for step:`, across the ends of tiles. What happened three slots ago
happened three iterations of the flattened loop ago, however many tiles back that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index
from exogpu.ir.walk import index_names
from exogpu.smt.poly import Poly, lift
from exogpu.verify.index import to_poly
from exogpu.verify.instance import Instance, Model
from exogpu.verify.program import Event, Loop, LoopKind, Program


@dataclass(frozen=True, slots=True)
class Laps:
    """The loop around an event, and the end of a loop in it. `inner`: that loop, if the event is in one; `behind`: the
    event comes after it."""

    outer: Loop
    end: Index
    inner: Loop | None
    behind: bool

    def rest(self, env: Mapping[str, int]) -> int:
        """The place inside one iteration of the outer loop; of an event outside the inner loop, next to it."""
        if self.inner is not None:
            return env[self.inner.var]
        return evaluate(self.end, env) - 1 if self.behind else 0


def laps(program: Program, event: Event) -> Laps | None:
    """The two nested loops that an event belongs to; None if there are not two, or their ends are no sizes."""
    return program.once(laps, event, lambda: _laps(program, event))


def _laps(program: Program, event: Event) -> Laps | None:
    own = _sequential(event)
    if not 1 <= len(own) <= 2:
        return None
    inside = [(e.path[1].position, _sequential(e)[1]) for e in program.events if _is_inside(e, own[0])]
    if not inside:
        return None
    place, last = max(inside, key=lambda found: found[0])
    if not index_names(last.hi) <= set(program.sizes):
        return None
    return Laps(own[0], last.hi, own[1] if len(own) == 2 else None, event.path[1].position > place)


def _sequential(event: Event) -> list[Loop]:
    return [loop for loop in event.loops if loop.kind is LoopKind.SEQ]


def _is_inside(event: Event, outer: Loop) -> bool:
    """In exactly one loop that is directly in the outer one, which is the event's first."""
    loops = [s.loop for s in event.path[:2] if s.loop is not None and s.loop.kind is LoopKind.SEQ]
    return len(loops) == 2 and loops[0].var == outer.var and len(_sequential(event)) == 2


def position(found: Laps, env: Mapping[str, int]) -> int:
    """The place of an execution in the flattened loop."""
    return env[found.outer.var] * evaluate(found.end, env) + found.rest(env)


def shifted(model: Model, found: Laps, anchor: Instance, distance: int) -> tuple[Poly, Poly]:
    """The outer and the inner iteration `distance` after the anchor's, which is at `found`."""
    length = to_poly(model.ctx, found.end, model.sizes)
    rest = lift(0)
    if found.inner is not None:
        rest = anchor[found.inner.var]
    elif found.behind:
        rest = length - 1
    place = anchor[found.outer.var] * length + rest + distance
    outer = model.ctx.quotient(place, length)
    return outer, place - outer * length
