"""How random skeletons count the rounds of a ring: loops, counters, conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.skeleton_oracle.lines import Block, Line, lines
from tests.skeleton_oracle.teams import Build


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a ring as seen by a role: index expressions of its slot, its number in the slot (mod 2 is enough),
    and of a condition for there being a round before (None: the index of the round is not known)."""

    slot: str
    turn: str
    earlier: str | None
    before: str


Body = Callable[[Round], Block]


@dataclass(frozen=True, slots=True)
class Trips:
    """Rounds that several roles go through alike; `depth` slots."""

    depth: int
    bounds: tuple[str, ...]
    guard: str | None

    def loop(self, b: Build, body: Body, *, plain: bool = False) -> Block:
        """The loop in one role; `plain`: rather without counters."""
        s = self.depth
        straight = len(self.bounds) == 1 and self.guard is None
        style = b.pick(("index", "index", "index", "count") if straight else ("count",))
        if straight and plain:
            style = "index"
        elif s == 1 or b.chance(0.1):
            style = b.pick((style, "phase"))
        names = [b.name("i") for _ in self.bounds]
        if style == "index":
            inside = body(
                Round(f"{names[0]} % {s}", f"{names[0]} // {s}", f"{names[0]} >= 1", f"({names[0]} - 1) % {s}")
            )
            return self._nest(names, (), inside)
        if style == "count":
            c = b.name("c")
            inside = body(Round(f"{c} % {s}", f"{c} // {s}", f"{c} >= 1", f"({c} - 1) % {s}"))
            return self._nest(names, lines(f"{c} = 0"), (*inside, Line(f"{c} += 1")))
        slot, phase = b.name("s"), b.name("ph")
        inside = body(Round(slot if s > 1 else "0", phase, None, ""))
        if s == 1:
            return self._nest(names, lines(f"{phase} = 0"), (*inside, Line(f"{phase} ^= 1")))
        step = (Line(f"{slot} = ({slot} + 1) % {s}"), Line(f"if {slot} == 0:", lines(f"{phase} ^= 1")))
        return self._nest(names, lines(f"{slot} = 0", f"{phase} = 0"), (*inside, *step))

    def _nest(self, names: list[str], start: Block, inside: Block) -> Block:
        if self.guard is not None:
            arguments = ", ".join(names)
            inside = (Line(f"if {self.guard.format(arguments)}:", inside),)
        for name, bound in reversed([*zip(names, self.bounds, strict=True)]):
            inside = (Line(f"for {name} in range({bound}):", inside),)
        return (*start, *inside)


BOUNDS = ("n", "n", "n", "n", "n + 1", "2 * n", "3", "min(n, 2)", "ceildiv(n, 2)", "2 * n + 1")


def trips(b: Build, depth: int) -> Trips:
    """Random rounds."""
    bounds: tuple[str, ...] = (b.pick(BOUNDS),)
    if b.chance(0.2):
        bounds = (b.pick(("n", "n", "2")), b.pick(("2", "3", "n")))
    return Trips(depth, bounds, 'pred("{}", {{}})'.format(b.name("p")) if b.chance(0.12) else None)
