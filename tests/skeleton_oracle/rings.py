"""Rings: slots that one role fills and others empty, with a pair of mbarriers each."""

from __future__ import annotations

from dataclasses import dataclass

from tests.skeleton_oracle.lines import Block, Line, lines
from tests.skeleton_oracle.teams import BYTES, WARPGROUP, Build, Team
from tests.skeleton_oracle.trips import Round, Trips, trips


@dataclass(frozen=True, slots=True)
class Side:
    """What a role does in a round, and how many arrivals on its barrier that makes."""

    arrivals: int
    body: Block


@dataclass(frozen=True, slots=True)
class Ring:
    """Its slots, and the names of what it is made of."""

    trips: Trips
    full: str
    empty: str
    tile: str
    kind: str

    @property
    def asynchronous(self) -> bool:
        """Bulk copies fill it."""
        return self.kind.startswith("tma")


def ring(b: Build, producer: Team, consumers: list[Team]) -> None:
    """Adds a ring to the roles."""
    depth = b.pick((1, 2, 2, 2, 3))
    tensor = any(c.threads == WARPGROUP and b.chance(0.5) for c in consumers)
    kinds = ["tma", "tma", "tma", "tma_two", "tma_expect", "tma_first"]
    if producer.threads > 1 or not tensor:
        kinds += ["store", "store", "copy", "copy_wait", "copy_hold"]
    kind = b.pick(kinds)
    cells = 2 if kind == "tma_two" else producer.threads
    whole = kind.startswith("tma") and kind != "tma_two"
    full, empty, tile = (b.name(p) for p in ("full", "empty", "tile"))
    made = Ring(trips(b, depth), full, empty, tile, kind)
    shape = f"{depth}" if whole else f"{depth}, {cells}"
    start = len(b.objects)
    accumulators = b.declare("acc", "registers()") if tensor else ""
    filled = _filled(b, made, producer, tensor)
    emptied = [_emptied(b, made, c, accumulators if c.threads == WARPGROUP else "") for c in consumers]
    b.objects[start:start] = [
        f"{made.full} = mbarrier({depth}, count={filled})",
        f"{made.empty} = mbarrier({depth}, count={sum(emptied)})",
        f"{made.tile} = smem({shape})",
    ]


# -- filling -----------------------------------------------------------------------------------------------------------


def _filled(b: Build, ring: Ring, team: Team, tensor: bool) -> int:
    """Adds the producer's loop; arrivals of a phase."""
    arrivals = 0

    def body(r: Round) -> Block:
        nonlocal arrivals
        side = _fill(b, ring, team, r, tensor)
        arrivals = side.arrivals
        return side.body

    if ring.trips.straight and b.chance(0.15):
        loop = ring.trips.split(b, body)
    else:
        loop = ring.trips.loop(b, body, plain=ring.asynchronous and team.threads > 1 and b.chance(0.9))
    if ring.asynchronous:
        loop = team.one(*loop)
    team.body += loop
    return arrivals


def _fill(b: Build, ring: Ring, team: Team, r: Round, tensor: bool) -> Side:
    wait = f"wait({ring.empty}[{r.slot}], parity={r.turn} + 1)"
    full, tile = f"{ring.full}[{r.slot}]", f"{ring.tile}[{r.slot}"
    bulk = f"tma_load({tile}], {full}, bytes={BYTES})"
    mine = f"{tile}, tid]"
    match ring.kind:
        case "tma":
            return Side(1, lines(wait, f"arrive({full}, tx={BYTES})", bulk))
        case "tma_two":
            halves = [f"tma_load({tile}, {h}], {full}, bytes={BYTES // 2})" for h in range(2)]
            return Side(1, lines(wait, f"arrive({full}, tx={BYTES})", *halves))
        case "tma_expect":
            return Side(1, lines(wait, f"expect({full}, {BYTES})", bulk, f"arrive({full})"))
        case "tma_first":
            return Side(1, lines(wait, bulk, f"arrive({full}, tx={BYTES})"))
        case "copy":
            return Side(team.threads, lines(wait, f"cp_async({mine})", f"cp_arrive({full}, noinc=True)"))
        case "copy_hold":
            return Side(
                team.threads, lines(wait, f"cp_async({mine})", f"cp_arrive({full}, noinc=False)", f"arrive({full})")
            )
        case "copy_wait":
            filling = lines(wait, f"cp_async({mine})", "cp_commit()", "cp_wait(0)")
        case _:
            filling = lines(wait, f"store({mine})")
    fence = lines("proxy_fence()") if tensor else ()
    arrivals, release = _release(b, team, (Line(f"arrive({full})"),))
    return Side(arrivals, (*filling, *fence, *release))


# -- emptying ----------------------------------------------------------------------------------------------------------


def _emptied(b: Build, ring: Ring, team: Team, acc: str) -> int:
    """Adds a consumer's loop; arrivals that it makes for a phase."""
    arrivals = 0
    late = bool(acc) and ring.trips.depth > 1 and b.chance(0.4) and ring.trips.guard is None
    last = b.pick((True, False))

    def body(r: Round) -> Block:
        nonlocal arrivals
        if late and r.earlier is not None:
            arrivals, made = _late(ring, team, r, acc)
            return made
        arrivals, made = _empty(b, ring, team, r, acc)
        return made

    team.body += ring.trips.loop(b, body)
    if acc:
        team.body += lines("wgmma_wait(0)", *([f"load({acc})"] if last else []))
    return arrivals


def _empty(b: Build, ring: Ring, team: Team, r: Round, acc: str) -> tuple[int, Block]:
    wait = f"wait({ring.full}[{r.slot}], parity={r.turn})"
    tile = f"{ring.tile}[{r.slot}]"
    if acc:
        fence = lines("proxy_fence()") if ring.kind in ("copy", "copy_hold") else ()
        use = (*fence, *lines("wgmma_fence()", f"wgmma({acc}, {tile})", "wgmma_commit()", "wgmma_wait(0)"))
    else:
        use = lines(f"load({tile})", *(["proxy_fence()"] if ring.asynchronous else []))
    arrivals, release = _release(b, team, (Line(f"arrive({ring.empty}[{r.slot}])"),), collected=bool(acc))
    return arrivals, (Line(wait), *use, *release)


def _late(ring: Ring, team: Team, r: Round, acc: str) -> tuple[int, Block]:
    """One wgmma stays in flight: the slot before is released."""
    fence = ["proxy_fence()"] if ring.kind in ("copy", "copy_hold") else []
    use = ["wgmma_fence()", f"wgmma({acc}, {ring.tile}[{r.slot}])", "wgmma_commit()", "wgmma_wait(1)"]
    wait = f"wait({ring.full}[{r.slot}], parity={r.turn})"
    release = Line(f"if {r.earlier}:", lines(f"arrive({ring.empty}[{r.before}])"))
    return team.threads, (*lines(wait, *fence, *use), release)


def _release(b: Build, team: Team, arrive: Block, *, collected: bool = False) -> tuple[int, Block]:
    """An arrival by every thread, by one of each unit or by one, when all are there."""
    if team.threads == 1 or b.chance(0.4):
        return team.threads, arrive
    if team.warps and (collected or b.chance(0.7)):
        meet = () if collected and b.chance(0.5) else lines("warp_sync()")
        return team.units, (*meet, Line("with elect():", arrive))
    if not team.whole_warps:
        return team.threads, arrive
    number = b.barrier_id()
    return 1, (*lines(f"bar_sync({number}, {team.threads})"), *team.one(*arrive))
