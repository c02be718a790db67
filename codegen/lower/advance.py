"""Run-time counters in the emitted code: declared, advanced, and checked to advance as planned."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence

from exogpu.codegen.counters import Counter, CounterPlan
from exogpu.codegen.cuda.tree import Binary, Branch, Declare, Expr, IntLit, Name, Node, Set, Turn
from exogpu.codegen.cuda.walk import parts
from exogpu.diagnostics import InternalError


def slot_name(counter: Counter) -> Name:
    """The variable with the slot."""
    return Name(f"{counter.name}_slot")


def phase_name(counter: Counter) -> Name:
    """The variable with the phase bit."""
    return Name(f"{counter.name}_phase")


def count_name(counter: Counter) -> Name:
    """The variable with the number of advances, at most the counter's limit."""
    return Name(f"{counter.name}_count")


def advance(counter: Counter) -> list[Node]:
    """Statements that move a counter to its next value."""
    slot, phase, count = slot_name(counter), phase_name(counter), count_name(counter)
    flip: list[Node] = [Set(phase, "^=", IntLit(1))] if counter.phased else []
    nodes: list[Node] = flip
    if counter.ring > 1:
        wrap = (Set(slot, "=", IntLit(0)), *flip)
        nodes = [Set(slot, "+=", IntLit(1)), Branch(Binary("==", slot, IntLit(counter.ring)), wrap)]
    if counter.limit:
        nodes = [*nodes, Branch(Binary("<", count, IntLit(counter.limit)), (Set(count, "+=", IntLit(1)),))]
    return nodes


def declare_counters(counters: Sequence[Counter]) -> list[Node]:
    """The counters at their initial values."""
    nodes: list[Node] = []
    for counter in counters:
        nodes.append(Declare("int", slot_name(counter), IntLit(counter.start)))
        nodes += [Declare("int", phase_name(counter), IntLit(0))] if counter.phased else []
        nodes += [Declare("int", count_name(counter), IntLit(0))] if counter.limit else []
    return nodes


def check_advances(plan: CounterPlan, nodes: tuple[Node, ...]) -> None:
    """InternalError unless each counter advances at as many places of the code as the plan has: one that stands still
    makes two waits watch the same phase."""
    planned = Tally(step.counter for steps in plan.after.values() for step in steps)
    planned += Tally(counter for counters in plan.at_end.values() for counter in counters)
    moved = _advanced(nodes)
    for counter in plan.counters:
        name = slot_name(counter) if counter.ring > 1 else phase_name(counter)
        if moved[name] != planned[counter]:
            message = f"counter `{counter.name}` advances at {moved[name]} places, planned were {planned[counter]}"
            raise InternalError(message)


def _advanced(nodes: tuple[Node, ...]) -> Tally[Expr]:
    """How often each counter's variables move; variables of the user's are no counters."""
    moves = (node.target for node in _sets(nodes) if node.op in ("+=", "^="))
    return Tally(target for target in moves if isinstance(target, Name) and not target.user)


def _sets(node: object) -> Iterator[Set]:
    """Assignments; those of a turn once, since the units that wait repeat them."""
    if isinstance(node, Turn):
        if _advanced(node.body) != _advanced(node.idle):
            raise InternalError("a unit that waits for its turn does not count like the one that executes")
        yield from _sets(node.body)
    elif isinstance(node, Set):
        yield node
    else:
        for part in parts(node):
            yield from _sets(part)
