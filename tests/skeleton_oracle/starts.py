"""Beginnings and ends: initialisation by statements, memory that is used again."""

from __future__ import annotations

import re

from tests.skeleton_oracle.lines import Line, lines
from tests.skeleton_oracle.teams import Build

BARRIER = re.compile(r"(\w+) = mbarrier\((?:(\d+), )?count=(\d+)\)")


def undeclared(b: Build) -> tuple[list[str], list[str]]:
    """The mbarriers so far are declared without their counts: statements that initialise and invalidate them."""
    inits: list[str] = []
    invals: list[str] = []
    for n, text in enumerate(b.objects):
        found = BARRIER.fullmatch(text)
        if found is None:
            continue
        name, depth, count = found.groups()
        b.objects[n] = f"{name} = mbarrier({depth or ''})"
        each = [f"{name}[{k}]" for k in range(int(depth))] if depth else [name]
        inits += (f"init({one}, {count})" for one in each)
        invals += (f"inval({one})" for one in each)
    return inits, invals


def initialise(b: Build) -> None:
    """The mbarriers so far are initialised by statements of the first role, before all meet."""
    first = b.teams[0]
    statements, _ = undeclared(b)
    if not statements:
        return
    relaxed = b.cluster > 1 and b.chance(0.5)
    statements += ["init_fence()"] if relaxed or b.chance(0.3) else []
    one = lines(*statements)
    start = one if first.threads == 1 else (Line("if tid == 0:", one),)
    if b.cluster == 1:
        meet = lines("cta_sync()")
    else:
        meet = lines("cluster_arrive(relaxed=True)", "cluster_wait()") if relaxed else lines("cluster_sync()")
    for team in b.teams:
        team.body[:0] = (*(start if team is first else ()), *meet)


def reuse(b: Build) -> None:
    """When all are done, memory of one object is used as another's."""
    shapes = [re.fullmatch(r"(tile|x|in|out)(\d+) = smem\(([\d, ]+)\)", text) for text in b.objects]
    found = [m for m in shapes if m is not None]
    if not found or b.cluster > 1:
        return
    m = b.pick(found)
    name = m.group(1) + m.group(2)
    zeros = ", ".join("0" for _ in m.group(3).split(","))
    extra = b.declare("again", f"smem(1, at={name}[{zeros}])")
    last = b.teams[-1]
    for team in b.teams:
        team.body.append(Line("cta_sync()"))
    last.body += last.one(Line(f"store({extra})"))
