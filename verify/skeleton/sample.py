"""What one thread does at a small size: where phases are read off before anything is shown of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import Index
from exogpu.ir.walk import index_names
from exogpu.verify.concrete import Occurrence, occurrences
from exogpu.verify.derived import concrete
from exogpu.verify.nest import TooLarge
from exogpu.verify.program import TASKS, Applied, Barrier, Event, Program
from exogpu.verify.skeleton.unsupported import NotModelled

MOST_ARGUMENTS = 200_000
"""Most arguments for which an unknown number is given a value."""


def by_thread(
    program: Program, group: Iterable[Event], thread: int, barrier: Barrier, *, mixed: bool = False
) -> list[Occurrence]:
    """What a thread executes of some statements, in its order, at a size of a few rounds; with unknown numbers that are
    `mixed`, or else 1."""
    sizes = trial_sizes(program, barrier, mixed=mixed)
    try:
        found = [o for e in group for o in occurrences(program, e, sizes, {}) if thread in o.threads]
    except TooLarge as error:
        raise NotModelled(f"a few rounds of {barrier.name} are {error}", barrier.span) from None
    return sorted(found, key=lambda o: o.key)


def trial_sizes(program: Program, barrier: Barrier, *, mixed: bool = False) -> Mapping[str, int]:
    """All sizes alike, and every unknown number 1, or 0 for every third argument."""
    value = 2 * barrier.ring + 2
    sizes = dict.fromkeys(program.sizes, value) | {TASKS: 1}
    for meaning in program.derived.values():
        if isinstance(meaning, Applied):
            if (value + 1) ** len(meaning.args) > MOST_ARGUMENTS:
                reason = f"the unknown number {meaning.name} depends on too much for a few rounds of {barrier.name}"
                raise NotModelled(reason, barrier.span)
            for args in product(range(value + 1), repeat=len(meaning.args)):
                zero = mixed and sum(args) % 3 == 1
                sizes[meaning.at(args)] = 0 if zero or meaning.below == 1 else 1
    return sizes


def value(program: Program, e: Index, at: Occurrence) -> int:
    """An expression where an event is executed; derived variables that the event itself does not name, too."""
    missing = index_names(e) & program.derived.keys() - at.env.keys()
    return evaluate(e, {**at.env, **{n: concrete(program, n, at.event, at.env) for n in missing}})
