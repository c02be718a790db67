"""Registers that warpgroups give back and others get (setmaxnreg)."""

from __future__ import annotations

from tests.skeleton_oracle.lines import Line
from tests.skeleton_oracle.teams import WARPGROUP, Build, Team

LESS = (24, 40, 56, 96)
EIGHT = 8
"""Registers are counted by eights."""
MOST = 240
FILE = 65536
"""Registers of a CTA."""


def registers(b: Build) -> None:
    """Some roles give registers back and others get them: nobody waits for one that is to get some before it has given
    back its own."""
    able = [t for t in b.teams if t.threads % WARPGROUP == 0]
    if len(able) < 2:
        return
    b.kinds.add("pool")
    groups = sum(-(-t.threads // WARPGROUP) for t in b.teams)
    launched = min(b.pick((128, 152, 168)), FILE // (groups * WARPGROUP) // EIGHT * EIGHT)
    giving = b.random.sample(able, b.pick(range(1, len(able))))
    getting = [t for t in able if t not in giving]
    given = {t.name: b.pick([n for n in LESS if n < launched]) for t in giving}
    free = sum((launched - given[t.name]) * t.threads for t in giving)
    share = free // sum(t.threads for t in getting) // EIGHT * EIGHT
    late = b.chance(0.35)  # nobody needs to hear anything from who has got some
    for team in giving:
        at = len(team.body) if late and b.chance(0.5) else _start(team)
        team.body.insert(at, Line(f"maxnreg_dec({given[team.name]})"))
    for team in getting:
        more = min(MOST, launched + (share if b.chance(0.6) else b.pick(range(0, share + 1, EIGHT))))
        at = len(team.body) if late else b.random.randrange(_start(team), len(team.body) + 1)
        team.body.insert(at, Line(f"maxnreg_inc({more})"))
    b.objects.insert(0, f"launch(registers={launched})")


def _start(team: Team) -> int:
    """Behind the initialisation, if all meet there."""
    meeting = ("cta_sync()", "cluster_sync()", "cluster_wait()")
    first = next((n for n, line in enumerate(team.body) if line.text in meeting), -1)
    return first + 1 if first <= 2 else 0
