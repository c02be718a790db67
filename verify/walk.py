"""The tasks that a cluster walks over: what their coordinates have to do with their places in the walk, and which they
are at concrete sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import BoolOp, Cmp, Cond, Int, Var
from exogpu.ir.terms import both
from exogpu.ir.walk import index_names
from exogpu.verify.nest import TooLarge
from exogpu.verify.program import TASK, TASKS, Applied, Buffer, Derived, Event, Program, TaskVar

Env = Mapping[str, int]

LONGEST = 40_000
"""Most tasks of one walk."""


def unknown_coordinates(
    tasks: tuple[TaskVar, ...], events: Iterable[Event], buffers: Iterable[Buffer]
) -> dict[str, Derived]:
    """The coordinates of a task, as unknown numbers of its place in the walk, if it depends on some what is counted
    over all tasks: arrives and awaits, copies, commits and slots."""
    names = {t.name for t in tasks}
    allocations = {b.alloc for b in buffers}
    counted = (e for e in events if e.action or e.completion or e.id in allocations)
    if not any(index_names(g) & names for e in counted for g in e.guards):
        return {}
    return {t.name: Applied(t.name, (Var(TASK),), None, _in_grid(t)) for t in tasks}


def _in_grid(t: TaskVar) -> Cond:
    """The coordinate is in its range at every place of the walk."""
    outside = (Cmp("<", Var(TASK), Int(0)), Cmp(">=", Var(TASK), Var(TASKS)))
    return BoolOp("or", (*outside, both((Cmp("<=", t.lo, Var(t.name)), Cmp("<", Var(t.name), t.hi)))))


def coordinates(program: Program) -> dict[str, Applied]:
    """The coordinates of a task that are unknown numbers of its place in the walk."""
    found = ((t.name, program.derived.get(t.name)) for t in program.tasks)
    return {name: meaning for name, meaning in found if isinstance(meaning, Applied)}


def decided(program: Program, sizes: Env, known: Mapping[int, Env]) -> dict[int, Env]:
    """The known tasks by their places, and those that unknown numbers among the sizes say: tasks of the grid, each in
    one place."""
    out, meanings = dict(known), coordinates(program)
    used = {_point(program, task) for task in known.values()}
    for place in range(min(sizes[TASKS], LONGEST)) if meanings else ():
        names = {name: meaning.at((place,)) for name, meaning in meanings.items()}
        if place in out or not all(n in sizes for n in names.values()):
            continue
        task = {name: sizes[n] for name, n in names.items()}
        inside = all(evaluate(t.lo, sizes) <= task[t.name] < evaluate(t.hi, sizes) for t in program.tasks)
        if inside and _point(program, task) not in used:
            used.add(_point(program, task))
            out[place] = task
    return out


def all_tasks(program: Program, sizes: Env, known: Mapping[int, Env]) -> dict[int, Env]:
    """Every task of the walk: those that are decided, and in the other places tasks of the grid not used yet."""
    if sizes[TASKS] > LONGEST:
        raise TooLarge(f"more than {LONGEST} tasks")
    out = decided(program, sizes, known)
    used = {_point(program, task) for task in out.values()}
    grid = _points([range(evaluate(t.lo, sizes), evaluate(t.hi, sizes)) for t in program.tasks])
    free = (point for point in grid if point not in used)
    for place in range(sizes[TASKS]):
        if place not in out:
            point = next(free, None)
            if point is None:
                raise TooLarge("the CTA walks more tasks than the grid has")
            out[place] = {t.name: v for t, v in zip(program.tasks, point, strict=True)}
    return out


def named(program: Program, tasks: Mapping[int, Env]) -> dict[str, int]:
    """Coordinates that are unknown numbers, under the names that these have among sizes."""
    meanings = coordinates(program)
    return {meaning.at((place,)): task[name] for place, task in tasks.items() for name, meaning in meanings.items()}


def is_named(program: Program, name: str) -> bool:
    """One of these names."""
    return any(name.startswith(f"{meaning.name}(") for meaning in coordinates(program).values())


def _point(program: Program, task: Env) -> tuple[int, ...]:
    return tuple(task[t.name] for t in program.tasks)


def _points(ranges: Sequence[range]) -> Iterator[tuple[int, ...]]:
    """The points of a cuboid, one at a time: it may be huge."""
    if not ranges:
        yield ()
    for first in ranges[0] if ranges else ():
        for rest in _points(ranges[1:]):
            yield (first, *rest)
