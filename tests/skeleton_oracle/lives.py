"""mbarriers that end and begin again: what all roles do becomes a life, one of several."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.skeleton_oracle.lines import Block, Line, lines, mapped
from tests.skeleton_oracle.starts import undeclared
from tests.skeleton_oracle.teams import BYTES, Build, Team
from tests.skeleton_oracle.trips import Round, trips

ARRAY = re.compile(r"(\w+) = mbarrier\((\d*)\)")


@dataclass(frozen=True, slots=True)
class Life:
    """What begins it, what each role does in it, what ends it."""

    begin: list[str]
    bodies: Sequence[Block]
    end: list[str]


def fetches(b: Build, team: Team) -> None:
    """One thread loads what all threads of its role wait for and read; they meet before the next load."""
    depth = b.pick((1, 1, 2, 3))
    full, x = b.declare("full", f"mbarrier({depth}, count=1)"), b.declare("x", f"smem({depth})")
    meet = "warp_sync()" if team.threads == 32 else f"bar_sync({b.barrier_id()}, {team.threads})"

    def body(r: Round) -> Block:
        slot = f"{full}[{r.slot}]"
        load = lines(f"arrive({slot}, tx={BYTES})", f"tma_load({x}[{r.slot}], {slot}, bytes={BYTES})")
        use = lines(f"wait({slot}, parity={r.turn})", f"load({x}[{r.slot}])", "proxy_fence()", meet)
        return (*team.one(*load), *use)

    team.body += trips(b, depth).loop(b, body)


def tiles(b: Build) -> None:
    """What the roles do so far is done for each tile, with mbarriers that live so long."""
    begin, end = undeclared(b)
    t, bound = b.name("t"), b.pick(("n", "n", "n", "n + 1", "2", "3"))
    life = Life(begin, [tuple(team.body) for team in b.teams], end)
    for team, body in zip(b.teams, _lived(b, life), strict=True):
        team.body[:] = [Line(f"for {t} in range({bound}):", body)]


def kept(b: Build) -> None:
    """Likewise, but the mbarriers live from the start, and begin anew at the end of each tile."""
    objects = list(b.objects)
    begin, end = undeclared(b)
    b.objects[:] = objects
    owner, first, second = b.pick(b.teams), _meeting(b), _meeting(b)
    t, bound = b.name("t"), b.pick(("n", "n", "n + 1", "3"))
    anew = lines(*(s for pair in zip(end, begin, strict=True) for s in pair)) if b.chance(0.5) else lines(*end, *begin)
    for team in b.teams:
        mine = team.one(*anew) if team is owner else ()
        team.body[:] = [Line(f"for {t} in range({bound}):", (*team.body, *first, *mine, *second))]


def again(b: Build, more: Callable[[Build], None]) -> None:
    """What the roles do so far, and what they do of `more` in a second life: of the same mbarriers, if there are as
    many in an array."""
    begin, end = undeclared(b)
    life = Life(begin, [tuple(team.body) for team in b.teams], end)
    for team in b.teams:
        team.body.clear()
    known = list(b.objects)
    more(b)
    begin, end = undeclared(b)
    new = {found[1]: found[2] for o in b.objects if o not in known and (found := ARRAY.fullmatch(o))}
    free = [(found[1], found[2]) for o in known if (found := ARRAY.fullmatch(o))]
    names: dict[str, str] = {}
    for name, depth in new.items():
        old = next((n for n, d in free if d == depth), None)
        if old is not None:
            free.remove((old, depth))
            names[name] = old
            b.objects.remove(f"{name} = mbarrier({depth})")
    edit = _substituted(names)
    next_life = Life([edit(s) for s in begin], [mapped(tuple(t.body), edit) for t in b.teams], [edit(s) for s in end])
    owners = (b.pick(b.teams), b.pick(b.teams))
    both = zip(_lived(b, life, owners), _lived(b, next_life, owners), strict=True)
    for team, (one, two) in zip(b.teams, both, strict=True):
        team.body[:] = [*one, *two]


def _substituted(names: dict[str, str]) -> Callable[[str], str]:
    def edit(text: str) -> str:
        return re.sub(r"\b[a-z]+\d+\b", lambda m: names.get(m.group(), m.group()), text)

    return edit


def _lived(b: Build, life: Life, owners: tuple[Team, Team] | None = None) -> list[Block]:
    """What every role does in a life that thread 0 of some role begins and one ends; they meet where that matters."""
    first, last = owners or (b.pick(b.teams), b.pick(b.teams))
    before = _meeting(b) if first is not last or b.chance(0.1) else ()
    begun, over = _meeting(b), _meeting(b)
    if b.cluster == 1 and len(b.teams) > 1 and b.chance(0.4):
        over = lines(f"bar_sync({b.barrier_id()}, {sum(t.threads for t in b.teams)})")
        gone = lines(over[0].text.replace("sync", "arrive"))
    else:
        gone = over
    out: list[Block] = []
    for team, body in zip(b.teams, life.bodies, strict=True):
        begin = team.one(*lines(*life.begin)) if team is first else ()
        end = team.one(*lines(*life.end)) if team is last else ()
        out.append((*before, *begin, *begun, *body, *(over if team is last else gone), *end))
    return out


def _meeting(b: Build) -> Block:
    """All threads that share the mbarriers meet."""
    if b.cluster > 1:
        return lines("cluster_sync()")
    if b.chance(0.5):
        return lines("cta_sync()")
    return lines(f"bar_sync({b.common_id()}, {sum(t.threads for t in b.teams)})")
