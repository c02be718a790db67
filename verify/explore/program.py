"""Strands with their events: lanes of one warp whose control flow is the same, which move together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.ir.skeleton.operations import Init, InitFence, Inval, MemoryFence, ProxyFence, Unsupported
from exogpu.ir.skeleton.tree import Elect, RoleDecl, Skeleton
from exogpu.ir.skeleton.walk import every_statement
from exogpu.verify.explore.events import Event, Path, Trace, Window
from exogpu.verify.explore.knowledge import Rows
from exogpu.verify.explore.outcome import Excessive
from exogpu.verify.explore.storage import Space, Storage
from exogpu.verify.explore.trace import Setting, traces

MOST_WORK = 60_000
"""Events of all strands together."""


class Footprint(NamedTuple):
    """What the lanes of a strand touch: `cells` all of them together, `lanes` each one, or None if all the same."""

    window: Window
    cells: int
    lanes: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Strand:
    """`lanes` are threads of the role, all in warp `warp` of CTA `cta`; both are counted from 0 in the CTA."""

    number: int
    role: RoleDecl
    cta: int
    warp: int
    lanes: tuple[int, ...]
    events: tuple[Event, ...]
    footprints: tuple[tuple[Footprint, ...], ...]
    exits: bool

    @property
    def weight(self) -> int:
        """Number of lanes."""
        return len(self.lanes)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Everything about an execution that no schedule changes. `warps`: numbers of strands, by CTA and warp."""

    skeleton: Skeleton
    sizes: Mapping[str, int]
    storage: Storage
    strands: tuple[Strand, ...]
    warps: Mapping[tuple[int, int], tuple[int, ...]]
    rows: Rows
    initialised: frozenset[tuple[int, str, int]]
    """Mbarriers that some event initialises."""
    invalidated: frozenset[tuple[int, str, int]]
    """Mbarriers that some event invalidates."""
    overlaid: Mapping[Space, tuple[tuple[int, tuple[int, str, int]], ...]]
    """Mbarriers that lie in a shared object: the cell and the barrier, by space."""
    elections: Mapping[tuple[int, int, Path, tuple[tuple[str, int], ...]], frozenset[int]]
    """Strands that come to an election, by CTA, warp, path and iteration."""
    met: bool
    """The cluster has met before the roles start."""

    def warpgroup(self, strand: Strand) -> tuple[tuple[int, int], ...]:
        """The four warps of a strand's warpgroup, by CTA and warp."""
        first = strand.warp * WARP // WARPGROUP * 4
        return tuple((strand.cta, w) for w in range(first, first + 4))

    def actor(self, strand: Strand) -> str:
        """A strand in words, with its CTA if there are several."""
        return self.actors([strand])

    def actors(self, strands: Sequence[Strand]) -> str:
        """Strands of one role in words: the role, warps of it, or threads."""
        role = strands[0].role
        lanes = {(s.cta, tid) for s in strands for tid in s.lanes}
        ctas = {s.cta for s in strands}
        warps = {(cta, tid // WARP) for cta, tid in lanes}
        if len(lanes) == role.threads * len(ctas):
            name = role.name
        elif len(lanes) == 1:
            name = f"thread {strands[0].lanes[0]} of {role.name}"
        elif len(warps) == 1:
            some = "" if len(lanes) == WARP else f"{len(lanes)} lanes of "
            name = f"{some}warp {strands[0].lanes[0] // WARP} of {role.name}"
        else:
            whole = len(lanes) == WARP * len(warps)
            name = f"{len(warps)} warps of {role.name}" if whole else f"{len(lanes)} threads of {role.name}"
        return name if self.skeleton.cluster == 1 else f"{name}, CTA {', '.join(map(str, sorted(ctas)))}"


def program_of(
    skeleton: Skeleton, sizes: Mapping[str, int], choose: Callable[[str, int], int], elected: tuple[int, ...]
) -> Program:
    """The program for sizes, unknown numbers and the lanes that `elect(any)` takes, warp by warp; raises Excessive."""
    for stmt in every_statement(skeleton):
        if isinstance(stmt, Unsupported):
            raise Excessive(f"{stmt.feature} has no model here")
    storage = Storage.of(skeleton, sizes)
    setting = Setting(skeleton, storage, sizes, choose, elected)
    found: list[Strand] = []
    for cta in range(skeleton.cluster):
        for number, body in enumerate(skeleton.bodies):
            if cta in body.role.ctas:
                for trace in traces(setting, number, cta):
                    found += _strands(body.role, cta, trace)
                    if sum(len(s.events) for s in found) > MOST_WORK:
                        raise Excessive("there are too many events")
    found.sort(key=lambda s: (s.cta, s.warp, s.lanes))
    strands = tuple(_numbered(s, n) for n, s in enumerate(found))
    warps: dict[tuple[int, int], list[int]] = {}
    for s in strands:
        warps.setdefault((s.cta, s.warp), []).append(s.number)
    inits = {b for s in strands for e in s.events if isinstance(e.op, Init) for b in e.barriers}
    return Program(
        skeleton,
        sizes,
        storage,
        strands,
        {key: tuple(numbers) for key, numbers in warps.items()},
        _rows(skeleton),
        frozenset(inits),
        frozenset(b for s in strands for e in s.events if isinstance(e.op, Inval) for b in e.barriers),
        _overlaid(skeleton, storage),
        _elections(strands),
        any(isinstance(o, Mbarriers) and o.count is not None for o in skeleton.objects),
    )


def _elections(strands: tuple[Strand, ...]) -> dict[tuple[int, int, Path, tuple[tuple[str, int], ...]], frozenset[int]]:
    found: dict[tuple[int, int, Path, tuple[tuple[str, int], ...]], set[int]] = {}
    for s in strands:
        for e in s.events:
            if isinstance(e.op, Elect):
                found.setdefault((s.cta, s.warp, e.path, e.iteration), set()).add(s.number)
    return {key: frozenset(numbers) for key, numbers in found.items()}


def _strands(role: RoleDecl, cta: int, trace: Trace) -> list[Strand]:
    """The strands of a class: its lanes in each warp."""
    warps: dict[int, list[int]] = {}
    for n, tid in enumerate(trace.lanes):
        warps.setdefault((role.first + tid) // WARP, []).append(n)
    return [
        Strand(
            0,
            role,
            cta,
            warp,
            tuple(trace.lanes[n] for n in places),
            trace.events,
            tuple(tuple(_footprint(w, places) for w in e.windows) for e in trace.events),
            trace.exits,
        )
        for warp, places in warps.items()
    ]


def _footprint(window: Window, places: list[int]) -> Footprint:
    if isinstance(window.cells, int):
        return Footprint(window, window.cells, None)
    lanes = tuple(window.cells[n] for n in places)
    union = 0
    for cells in lanes:
        union |= cells
    return Footprint(window, union, None if all(c == union for c in lanes) else lanes)


def _numbered(s: Strand, n: int) -> Strand:
    return Strand(n, s.role, s.cta, s.warp, s.lanes, s.events, s.footprints, s.exits)


def _rows(skeleton: Skeleton) -> Rows:
    ops = list(every_statement(skeleton))
    return Rows.of(
        skeleton.cluster,
        proxies=any(isinstance(s, ProxyFence) for s in ops),
        everywhere=any(isinstance(s, ProxyFence) and s.everywhere for s in ops),
        inits=any(isinstance(s, InitFence) for s in ops),
        memory=any(isinstance(s, MemoryFence) for s in ops),
    )


def _overlaid(skeleton: Skeleton, storage: Storage) -> dict[Space, tuple[tuple[int, tuple[int, str, int]], ...]]:
    found: dict[Space, list[tuple[int, tuple[int, str, int]]]] = {}
    for o in skeleton.objects:
        if isinstance(o, Mbarriers) and o.overlay is not None:
            for cta in range(skeleton.cluster):
                for cell in range(storage.size(o.name)):
                    place = 1 << storage.roots[o.name][1] + cell
                    found.setdefault(storage.space(o.name, cta), []).append((place, (cta, o.name, cell)))
    return {space: tuple(entries) for space, entries in found.items()}
