"""Executions that go wrong, as refuted obligations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, islice
from math import prod

from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import Policy
from exogpu.verify.explore import Fault, TooLarge, explore, small_sizes
from exogpu.verify.result import Counterexample, Obligation, Sizes, Status

FIRST = 3
"""Sizes at which executions are looked for before a proof."""
MORE = 14
"""And after a proof has failed, with more schedules."""
MOST_SUSPECTED = 6
"""And so many at which attempts to prove something failed."""


def refutation(
    skeleton: Skeleton, policy: Policy, *, thorough: bool, suspected: Iterable[Sizes] = ()
) -> Obligation | None:
    """A fault at one of the smallest sizes or, if it is to be thorough, of those suspected, if one is found."""
    sizes = list(islice(small_sizes(skeleton), MORE if thorough else FIRST))
    others = ({n: v for n, v in s if n in skeleton.sizes} for s in suspected)
    new = {tuple(s.items()): s for s in others if s not in sizes}
    sizes += sorted(new.values(), key=lambda s: (max(s.values(), default=0), *s.values()))
    excessive: list[dict[str, int]] = []
    for tried in islice(sizes, MORE + MOST_SUSPECTED):
        if any(all(n <= tried[name] for name, n in other.items()) for other in excessive):
            continue  # there is more to execute than at sizes at which there was too much
        found = explore(skeleton, tried, policy.in_force, effort=2 if thorough else 1)
        if isinstance(found, Fault):
            return _obligation(found)
        excessive += [tried] if isinstance(found, TooLarge) else []
    return None


def turned(skeleton: Skeleton, policy: Policy, *, lowered: bool) -> Obligation | None:
    """A fault at the smallest sizes at which loops go round all rings more than twice (nested ones together, or one
    size alone), or at which one size is 0, if one is found; `lowered`: with each size as small as the others let it
    be."""
    for tried in _turns(skeleton):
        found = explore(skeleton, tried, policy.in_force)
        if isinstance(found, Fault):
            return _lowered(skeleton, found, policy) if lowered else _obligation(found, minimal=False)
    return None


def _turns(skeleton: Skeleton) -> Iterator[dict[str, int]]:
    """The sizes, each once."""
    names = skeleton.sizes
    rings = [prod(o.shape) for o in skeleton.objects if isinstance(o, Mbarriers)]
    alone = 2 * max(rings, default=0) + 1
    together = next(n for n in count(1) if n ** max(1, len(names)) >= alone)
    least = [dict.fromkeys(names, together), *({**dict.fromkeys(names, 1), name: alone} for name in names)]
    least += [{**dict.fromkeys(names, together), name: 0} for name in names if len(names) > 1]
    told: list[dict[str, int]] = []
    for wanted in least:
        allowed = (
            s for s in small_sizes(skeleton) if all(s[n] == 0 if w == 0 else s[n] >= w for n, w in wanted.items())
        )
        tried = next(allowed, None)
        if tried is not None and tried not in told:
            told.append(tried)
            yield tried


def _lowered(skeleton: Skeleton, fault: Fault, policy: Policy) -> Obligation:
    """A fault of smaller sizes, if there is one: first with one size smaller, then with any."""
    for name in skeleton.sizes:
        now = dict(fault.sizes)
        fault = _least(skeleton, [s for s in _below(skeleton, now) if s == {**now, name: s[name]}], policy) or fault
    smaller = _below(skeleton, dict(fault.sizes))
    if len(smaller) > MORE:
        return _obligation(fault, minimal=False)
    return _obligation(_least(skeleton, smaller, policy) or fault)


def _below(skeleton: Skeleton, sizes: dict[str, int]) -> list[dict[str, int]]:
    return [s for s in small_sizes(skeleton) if s != sizes and all(s[n] <= sizes[n] for n in s)]


def _least(skeleton: Skeleton, sizes: list[dict[str, int]], policy: Policy) -> Fault | None:
    found = (explore(skeleton, s, policy.in_force) for s in sizes)
    return next((f for f in found if isinstance(f, Fault)), None)


def _obligation(fault: Fault, *, minimal: bool = True) -> Obligation:
    return Obligation(
        name="execution",
        rule=fault.rule,
        title=fault.message,
        status=Status.REFUTED,
        span=fault.span,
        message=fault.message,
        label=fault.label,
        labels=fault.labels,
        help=fault.help,
        counterexample=Counterexample(
            fault.sizes,
            (*fault.facts, *_others(fault)),
            fault.steps,
            "executed step by step at these sizes",
            minimal=minimal,
        ),
    )


def _others(fault: Fault) -> Iterator[tuple[str, str]]:
    """Other rules that break on other schedules."""
    if fault.other:
        yield "on other schedules", ", ".join(fault.other)
