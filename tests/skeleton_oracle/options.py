"""Work that only some runs have: under a condition of which nothing is known but that all roles see the same."""

from __future__ import annotations

from tests.skeleton_oracle.lines import Line, lines
from tests.skeleton_oracle.teams import Build


def optional(b: Build) -> None:
    """All that the roles do is done if the condition holds; what they do else, if anything, needs no other role."""
    b.kinds.add("options")
    name = b.name("on")
    known = f'pred("{name}")'
    held = b.pick((known, known, f'pred("{name}", n)', f'unknown("{name}", below=3) == 1', "n > 1"))
    for team in b.teams:
        team.body[:] = [Line(f"if {held}:", tuple(team.body))]
        if b.chance(0.2) and team.whole_warps:
            x = b.declare("x", f"smem({team.threads})")
            meet = "warp_sync()" if team.threads == 32 else f"bar_sync({b.barrier_id()}, {team.threads})"
            team.body.append(Line("else:", lines(f"store({x}[tid])", meet, f"load({x})")))
