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
    """Rounds that several roles go through alike; `depth` slots, of which the first is number `first`."""

    depth: int
    bounds: tuple[str, ...]
    guard: str | None
    first: int

    @property
    def straight(self) -> bool:
        """One loop, and no condition."""
        return len(self.bounds) == 1 and self.guard is None

    def round(self, v: str) -> Round:
        """The round of this index."""
        ahead = f"({v} + {self.first})" if self.first else v
        before = self.first - 1 if self.first else self.depth - 1
        return Round(f"{ahead} % {self.depth}", f"{v} // {self.depth}", f"{v} >= 1", f"({v} + {before}) % {self.depth}")

    def split(self, b: Build, body: Body) -> Block:
        """The first round of every slot, without what the body begins with, then all others."""
        i = b.name("i")
        rest = body(self.round(i))
        first = Line(f"for {i} in range(min({self.bounds[0]}, {self.depth})):", rest[1:])
        return (first, Line(f"for {i} in range({self.depth}, {self.bounds[0]}):", rest))

    def loop(self, b: Build, body: Body, *, plain: bool = False) -> Block:
        """The loop in one role; `plain`: rather without counters."""
        s = self.depth
        style = b.pick(("index", "index", "index", "count") if self.straight else ("count",))
        if self.straight and plain:
            style = "index"
        elif not self.first and (s == 1 or b.chance(0.1)):
            style = b.pick((style, "phase"))
        names = [b.name("i") for _ in self.bounds]
        if style == "index":
            return self._nest(names, (), body(self.round(names[0])))
        if style == "count":
            c = b.name("c")
            return self._nest(names, lines(f"{c} = 0"), (*body(self.round(c)), Line(f"{c} += 1")))
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
    if b.even:
        return Trips(depth, (b.pick((f"{depth}", f"{2 * depth}", f"{depth} * n", f"{depth} * n")),), None, 0)
    bounds: tuple[str, ...] = (b.pick(BOUNDS),)
    if b.chance(0.2):
        bounds = (b.pick(("n", "n", "2")), b.pick(("2", "3", "n")))
    guard = 'pred("{}", {{}})'.format(b.name("p")) if "lives" not in b.kinds and b.chance(0.12) else None
    return Trips(depth, bounds, guard, b.random.randrange(depth) if b.chance(0.2) else 0)
