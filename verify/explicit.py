"""The explicit oracle: one concrete problem size, checked by enumeration instead of by proof.

Independent of the solver, the chains and the closed forms: every instance of every conflicting pair is enumerated,
ordering is a search of the happens-before graph, barriers are run on the machine. It shares with the prover the
lowering, the list of conflicting statements, and the graph and machine that also replay counterexamples, so a fault
in those is not seen here. Its cost grows with the sizes; it exists to keep the prover honest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter

from exogpu.ir.evaluate import evaluate
from exogpu.verify.concrete import Env, Occurrence, Unrolling, occurrences
from exogpu.verify.endings import Early, Stuck
from exogpu.verify.graph import Search
from exogpu.verify.instance import LANE
from exogpu.verify.machine import Machine
from exogpu.verify.program import Event, Exec, Program
from exogpu.verify.races import Conflict, Use, concrete_box, conflicts
from exogpu.verify.reuse import reuse_conflicts


@dataclass(frozen=True, slots=True)
class Fault:
    """A violation at the given sizes: a rule, and where."""

    rule: str
    where: str


def faults(program: Program, sizes: Env, coordinates: tuple[Env, ...] = ()) -> Iterator[Fault]:
    """Every unordered conflicting pair, and what the machine runs into; `coordinates` of the CTA's tasks in order."""
    unrolling = Unrolling(program, sizes, dict(enumerate(coordinates)))
    ending = Machine(unrolling, limit=None).run()
    if isinstance(ending, Stuck | Early):
        yield Fault("barrier", str(ending))
        return
    tasks = unrolling.tasks
    for pair in (*conflicts(program), *reuse_conflicts(program)):
        conflict = pair.divided if pair.divided is not None and "F5" in program.axioms else pair
        found = next(_unordered(unrolling, conflict, sizes, tasks), None)
        if found is not None:
            yield Fault(conflict.rule, f"{conflict.goal.name}: {dict(found[0].env)} and {dict(found[1].env)}")


def _unordered(
    u: Unrolling, conflict: Conflict, sizes: Env, tasks: Mapping[int, Env]
) -> Iterator[tuple[Occurrence, Occurrence]]:
    # many instances touch the same indices: whether two boxes meet is asked once for all of them
    later: dict[Corner | None, list[tuple[int, Occurrence]]] = {}
    for n, y in enumerate(_instances(u.program, conflict.second.event, sizes, tasks, lanes=True)):
        later.setdefault(_corner(conflict, conflict.second, y), []).append((n, y))
    for x in _instances(u.program, conflict.first.event, sizes, tasks, lanes=False):
        search = Search(u, x, conflict.goal.needs, everybody=True)
        corner = _corner(conflict, conflict.first, x)
        for _, y in sorted((p for other, ys in later.items() if _meet(corner, other) for p in ys), key=itemgetter(0)):
            if conflict.goal.check(u, x, y) and search.path_to(y) is None:
                yield x, y


Corner = tuple[tuple[int, int], ...]


def _corner(conflict: Conflict, use: Use, item: Occurrence) -> Corner | None:
    """The indices that an access touches, from and to in each dimension; None if the conflict is about more than one
    buffer or the end of the kernel. The pairs are too many to find these for each of them."""
    first, second = conflict.first, conflict.second
    if first.access.buffer != second.access.buffer or second.access not in second.event.accesses:
        return None
    return tuple((r.start, r.stop) for r in concrete_box(item, use.access))


def _meet(one: Corner | None, other: Corner | None) -> bool:
    """Indices in common, as far as they are known."""
    if one is None or other is None:
        return True
    return all(p < s and r < q for (p, q), (r, s) in zip(one, other, strict=True))


def _instances(
    program: Program, event: Event, sizes: Env, tasks: Mapping[int, Env], *, lanes: bool
) -> Iterator[Occurrence]:
    """Instances of single threads, warps (as single lanes, with `lanes`) or barriers."""
    for o in occurrences(program, event, sizes, tasks):
        single = event.exec is Exec.EACH and event.size > 1
        if single or (lanes and event.exec is Exec.WARPS):
            skipped = o.first - evaluate(event.first, o.env) if single else 0
            for lane in range(o.width):
                yield replace(o, env={**o.env, LANE: skipped + lane}, first=o.first + lane, width=1)
        else:
            yield o
