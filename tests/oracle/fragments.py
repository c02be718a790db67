"""Fragments of protocols.

A ring hands rows from a producer to consumers through a ring of slots. Steps are what one team does to a buffer of its
own, one after the other: fill and read by all its threads, load and store by TMA.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.choices import WARP, Choices, Team

ROW = 4 * WARP
"""Bytes of a row."""


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a team adds up what it reads: its row of a tensor, or registers that are written there at the end."""

    team: Team
    tensor: str
    registers: str | None

    def add(self, lane: str, value: str) -> str:
        """The statement of a thread that adds a value."""
        if self.registers is None:
            return f"{self.tensor}[t, {lane}] += {value}"
        return f"{self.registers}[{self.team.index(lane)}, 0] += {value}"


def open_sink(c: Choices, team: Team) -> Sink:
    """A new sink, at the top of the task."""
    tensor = c.text.tensor("Y", f"T, {team.threads}")
    registers = c.text.name("r") if c.chance(0.25) else None
    if registers is not None:
        lane = c.text.name("l")
        c.text.add(f"{registers}: f32[{team.block}, 1] @ RMEM(threads=1)")
        with c.text.block(team.head), c.text.block(f"for {lane} in threads({team.threads}):"):
            c.text.add(f"{registers}[{team.index(lane)}, 0] = 0.0")
    return Sink(team, tensor, registers)


def close_sink(c: Choices, sink: Sink) -> None:
    """Registers go to the tensor."""
    if sink.registers is not None:
        lane = c.text.name("l")
        with c.text.block(sink.team.head), c.text.block(f"for {lane} in threads({sink.team.threads}):"):
            c.text.add(f"{sink.tensor}[t, {lane}] = {sink.registers}[{sink.team.index(lane)}, 0]")


# -- rings -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ring:
    """The choices of one ring. `each`: every lane of the producer arrives for itself. `release`: a team arrives after a
    barrier, in the iteration itself or in the next; or every thread for itself."""

    depth: int
    slots: int
    lag: int
    tma: bool
    tiles: int
    each: bool
    release: str
    full: str
    empty: str


def ring(c: Choices, producer: Team, consumers: list[Team]) -> None:
    """Rows go from the producer through a ring to every consumer, who adds them up."""
    depth = c.pick((2, 1, 2, 3))
    tma = c.chance(0.6)
    each = not tma and c.chance(0.3)
    release = c.pick(("now", "now", "threads", "late"))
    arrivals = sum(team.threads for team in consumers) if release == "threads" else len(consumers)
    shape = Ring(
        depth=depth,
        slots=c.pick((1, 2, 3)) if c.chance(0.1) else depth,
        lag=c.pick((1, 2, 3)) if c.chance(0.15) else depth,
        tma=tma,
        tiles=2 if c.chance(0.2) else 1,
        each=each,
        release=release,
        full=c.text.barrier("full", depth, producer.threads if each else 1),
        empty=c.text.barrier("empty", depth, arrivals),
    )
    guard = c.guard()
    sinks = [open_sink(c, team) for team in consumers]
    for trips in [c.trips()] if c.chance(0.85) else [c.trips(), c.trips()]:
        with c.text.block(guard):
            _passes(c, shape, producer, sinks, trips)
    for sink in sinks:
        close_sink(c, sink)


def _passes(c: Choices, shape: Ring, producer: Team, sinks: list[Sink], trips: str | None) -> None:
    """A loop over the ring; several loops use the same phases one after the other."""
    outer = f"for {c.text.name('i')} in seq(0, 2):" if c.chance(0.1) else None
    head, k = c.loop(trips)
    with c.text.block(outer):
        with c.text.block(head):
            tiles = [c.text.name("s") for _ in range(shape.tiles)]
            c.text.add(*(f"{tile}: f32[1, {WARP}] @ SMEM(ring={shape.slots})" for tile in tiles))
            with c.text.block(producer.head):
                (_load if shape.tma else _store)(c, shape, producer, tiles, k)
            for sink in sinks:
                with c.text.block(sink.team.head):
                    _consume(c, shape, sink, tiles, k)
        if shape.release == "late" and head is not None:
            with c.text.block(f"if {trips} > 0:"):
                for sink in sinks:
                    with c.text.block(sink.team.head):
                        c.sync("Fence()")
                        c.text.add(f"Arrive({shape.empty})")


def _load(c: Choices, ring: Ring, team: Team, tiles: list[str], k: str) -> None:
    with c.text.block(f"for {c.text.name('p')} in threads(1):"):
        c.sync(f"Await({ring.empty}, lag={ring.lag})")
        for tile in tiles:
            x, row = c.source(k)
            c.text.add(f"tma_load({tile}[:, :], {x}[{row} : {row} + 1, 0:{WARP}], {ring.full})")
        c.text.add(f"Arrive({ring.full}, tx={ROW * len(tiles)})")


def _store(c: Choices, ring: Ring, team: Team, tiles: list[str], k: str) -> None:
    c.sync(f"Await({ring.empty}, lag={ring.lag})")
    for tile in tiles:
        x, row = c.source(k)
        lane = c.text.name("l")
        with c.text.block(f"for {lane} in threads({WARP}):"):
            c.text.add(f"{tile}[0, {lane}] = {x}[{row}, {lane}]")
    if not ring.each:
        c.sync("Fence()")
    with c.text.block(f"for {c.text.name('l')} in threads({team.threads}):" if ring.each else None):
        c.text.add(f"Arrive({ring.full})")


def _consume(c: Choices, ring: Ring, sink: Sink, tiles: list[str], k: str) -> None:
    team = sink.team
    c.sync(f"Await({ring.full})")
    late = ring.release == "late" and k != "0"
    if late:
        with c.text.block(f"if {k} > 0:"):
            c.sync("Fence()")
            c.text.add(f"Arrive({ring.empty})")
    lane = c.text.name("l")
    with c.text.block(f"for {lane} in threads({team.threads}):"):
        for tile in tiles:
            c.text.add(sink.add(lane, f"{tile}[0, {c.place(lane, team.threads)}]"))
    if ring.tma:
        c.sync("fence_proxy_async()")
    if not late and ring.release != "threads":
        c.sync("Fence()")
    if not late:
        each = f"for {c.text.name('l')} in threads({team.threads}):" if ring.release == "threads" else None
        with c.text.block(each):
            c.text.add(f"Arrive({ring.empty})")


# -- steps -------------------------------------------------------------------------------------------------------------


def steps(c: Choices, team: Team) -> None:
    """A team fills, loads, reads and stores a buffer of its own, with barriers between."""
    sink = open_sink(c, team)
    trips = c.trips()
    head, k = c.loop(trips)
    buffer, ready = c.text.name("u"), c.text.name("ready")
    kinds = [c.pick(("fill", "load"))] + [c.pick(("read", "fill", "load", "store")) for _ in range(c.pick((1, 2, 3)))]
    tensor = c.text.tensor("Z", f"T, {WARP}") if "store" in kinds else ""
    if "load" in kinds:
        ready = c.text.barrier("ready", c.pick((1, 1, 2)), 1)
    outside = c.chance(0.5)
    declaration = f"{buffer}: f32[1, {WARP}] @ SMEM"
    with c.text.block(team.head):
        c.text.add(*([declaration] if outside else []))
        with c.text.block(head):
            c.text.add(*([] if outside else [declaration]))
            for kind in kinds:
                _step(c, kind, sink, buffer, ready, tensor, k)
    close_sink(c, sink)


def _step(c: Choices, kind: str, sink: Sink, buffer: str, ready: str, tensor: str, k: str) -> None:
    team = sink.team
    lane, one = c.text.name("l"), f"for {c.text.name('p')} in threads(1):"
    if kind in ("load", "store"):
        c.sync("fence_proxy_async()")
    c.sync("Fence()")
    match kind:
        case "fill":
            x, row = c.source(k)
            with c.text.block(f"for {lane} in threads({WARP}):"):
                c.text.add(f"{buffer}[0, {lane}] = {x}[{row}, {lane}]")
        case "read":
            with c.text.block(f"for {lane} in threads({team.threads}):"):
                c.text.add(sink.add(lane, f"{buffer}[0, {c.place(lane, team.threads)}]"))
        case "load":
            x, row = c.source(k)
            with c.text.block(one):
                c.text.add(f"tma_load({buffer}[:, :], {x}[{row} : {row} + 1, 0:{WARP}], {ready})")
                c.text.add(f"Arrive({ready}, tx={ROW})")
            c.sync(f"Await({ready})")
        case _:
            with c.text.block(one):
                c.text.add(f"tma_store({tensor}[t : t + 1, 0:{WARP}], {buffer}[:, :])", "bulk_commit()")
                c.sync("bulk_wait(0)")


def double_buffer(c: Choices, team: Team) -> None:
    """A team fills one half of a buffer while it reads the other."""
    sink = open_sink(c, team)
    trips = c.pick(("K", "K", "2 * K", "K + 1"))
    head, k = c.loop(trips)
    x, first = c.source("0")
    buffer, lane = c.text.name("d"), c.text.name("l")
    with c.text.block(team.head):
        c.text.add(f"{buffer}: f32[2, {WARP}] @ SMEM")
        with c.text.block(f"for {lane} in threads({WARP}):"):
            c.text.add(f"{buffer}[0, {lane}] = {x}[{first}, {lane}]")
        c.sync("Fence()")
        with c.text.block(head):
            lane = c.text.name("l")
            with c.text.block(f"if {k} + 1 < {trips}:"), c.text.block(f"for {lane} in threads({WARP}):"):
                c.text.add(f"{buffer}[({k} + 1) % 2, {lane}] = {x}[t + {k} + 1, {lane}]")
            lane = c.text.name("l")
            with c.text.block(f"for {lane} in threads({team.threads}):"):
                c.text.add(sink.add(lane, f"{buffer}[{k} % 2, {c.place(lane, team.threads)}]"))
            c.sync("Fence()")
        c.sync("Fence()")
    close_sink(c, sink)


def staged_store(c: Choices, team: Team) -> None:
    """A team writes rows to a ring of stages, which TMA stores while the next one is written."""
    depth = c.pick((2, 1, 3))
    stage, z = c.text.name("g"), c.text.tensor("Z", f"T, {WARP}")
    x, row = c.source("0")
    lane, one = c.text.name("l"), c.text.name("p")
    with c.text.block(team.head):
        c.text.add(f"{stage}: f32[1, {WARP}] @ SMEM(ring={depth})")
        with c.text.block(f"for {one} in threads(1):"):
            c.sync(f"bulk_wait_read({depth - 1})")
        c.sync("Fence()")
        with c.text.block(f"for {lane} in threads({WARP}):"):
            c.text.add(f"{stage}[0, {lane}] = {x}[{row}, {c.place(lane, WARP)}]")
        c.sync("fence_proxy_async()")
        c.sync("Fence()")
        with c.text.block(f"for {c.text.name('p')} in threads(1):"):
            c.text.add(f"tma_store({z}[t : t + 1, 0:{WARP}], {stage}[:, :])")
            c.text.add("bulk_commit()")
    c.text.finish(team.head, f"for {c.text.name('p')} in threads(1):", "bulk_wait_read(0)")
