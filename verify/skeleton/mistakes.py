"""Where chosen ranks are wrong at certain sizes: seen from what is executed there, which is quicker than the solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from exogpu.ir.collective import WARPGROUP
from exogpu.verify.concrete import Env, Occurrence, Part, Unrolling
from exogpu.verify.nest import TooLarge
from exogpu.verify.program import Program
from exogpu.verify.skeleton.ranking import Ranking, Why

Meant = tuple[int, int]
"""A CTA and a phase of its barrier."""
Ends = tuple[Occurrence, Occurrence]
"""What has the least rank, and what has the greatest."""


def executed(program: Program, sizes: Env) -> Iterator[Unrolling]:
    """What is executed at some sizes, if that is not too much."""
    with suppress(TooLarge):
        yield Unrolling(program, sizes, {}, Part(frozenset(), frozenset(range(program.cluster))))


def mistakes(ranking: Ranking, unrolling: Unrolling) -> Iterator[tuple[Occurrence, Occurrence]]:
    """Signals with waits that they complete, of which the ranks do not grow: of every phase the worst."""
    pairs = [(p.earlier.id, p.later.id) for p in ranking.ordered if p.why is Why.COMPLETES]
    found = _by_phase(ranking, unrolling, {e for pair in pairs for e in pair})
    for earlier, later in pairs:
        signals, waits = found.get(earlier, {}), found.get(later, {})
        for meant in sorted(signals.keys() & waits.keys()):
            signal, wait = signals[meant][1], waits[meant][0]
            if not ranking.grows(signal, wait):
                yield signal, wait


def _by_phase(ranking: Ranking, unrolling: Unrolling, events: set[int]) -> Mapping[int, Mapping[Meant, Ends]]:
    out: dict[int, dict[Meant, Ends]] = {}
    for n, item in enumerate(unrolling.items):
        if item.event.id not in events:
            continue
        ends = out.setdefault(item.event.id, {})
        for thread in _places(item):
            meant = unrolling.barrier_cta(n), unrolling.number(n, thread)
            if meant[1] >= 0:
                one = replace(item, first=thread, width=1)
                least, greatest = ends.get(meant, (one, one))
                ends[meant] = min(one, least, key=ranking.rank_of), max(one, greatest, key=ranking.rank_of)
    return out


def _places(item: Occurrence) -> Iterator[int]:
    """The first of its threads in each warpgroup."""
    end = item.first + item.width
    yield from (item.first, *range((item.first // WARPGROUP + 1) * WARPGROUP, end, WARPGROUP))
