"""Named barriers that several use in turn: order barriers, rings of them, one id for several pairs of roles."""

from __future__ import annotations

from tests.skeleton_oracle.lines import Block, Line, lines
from tests.skeleton_oracle.teams import Build, Team
from tests.skeleton_oracle.trips import Round, trips


def pingpong(b: Build) -> None:
    """Roles of one size take turns, two or three; what each does alone may be by one id."""
    unit, many = b.pick((32, 64, 128)), b.pick((2, 2, 2, 3))
    teams = [Team(b.name("r"), unit) for _ in range(many)]
    b.teams += teams
    order = [b.barrier_id() for _ in teams]
    work = _alone(b, unit, "tid")
    bound = b.pick(("n", "n", "n + 1", "2 * n", "3"))
    for n, team in enumerate(teams):
        i = b.name("i")
        turn = (*lines(f"bar_sync({order[n]}, {2 * unit})"), *work)
        leave = lines(f"bar_arrive({order[(n + 1) % many]}, {2 * unit})")
        start = lines(f"bar_arrive({order[0]}, {2 * unit})") if n == many - 1 else ()
        team.body += (*start, Line(f"for {i} in range({bound}):", (*turn, *leave)))


def sequence(b: Build) -> None:
    """The same with one role, whose parts find their barriers by an expression."""
    unit, many = b.pick((32, 64, 128)), b.pick((2, 2, 3))
    team = Team(b.name("math"), unit * many, b.chance(0.5))
    b.teams.append(team)
    first = b.barrier_id()
    b.ids += many - 1
    part = "warp" if unit == 32 and b.chance(0.5) else f"tid // {unit}"
    after = f"{first + 1} - {part}" if many == 2 else f"{first} + ({part} + 1) % {many}"
    i, bound = b.name("i"), b.pick(("n", "n", "n + 1", "2 * n", "3"))
    turn = (
        *lines(f"bar_sync({first} + {part}, {2 * unit})"),
        *_alone(b, unit, f"tid % {unit}"),
        *lines(f"bar_arrive({after}, {2 * unit})"),
    )
    start = Line(f"if tid >= {unit * (many - 1)}:", lines(f"bar_arrive({first}, {2 * unit})"))
    team.body += (start, Line(f"for {i} in range({bound}):", turn))


def _alone(b: Build, unit: int, mine: str) -> Block:
    """What some threads do while no others do it; with a barrier of their own or, at one warp, without."""
    x = b.declare("x", f"smem({unit})")
    meet = "warp_sync()" if unit == 32 and b.chance(0.3) else f"bar_sync({b.barrier_id()}, {unit})"
    match b.pick(("exchange", "exchange", "cells", "twice")):
        case "exchange":
            return lines(f"store({x}[{mine}])", meet, f"load({x})")
        case "twice":
            return lines(f"store({x}[{mine}])", meet, f"load({x})", meet, f"store({x}[{mine}])")
        case _:
            return lines(f"store({x}[{mine}])")


def named_ring(b: Build, producer: Team, consumer: Team) -> None:
    """A ring whose slots have a pair of named barriers each; the consumer frees them at first."""
    depth, count = b.pick((1, 2, 2, 3)), producer.threads + consumer.threads
    rounds = trips(b, depth)
    full = b.barrier_id()
    empty = full + depth
    b.ids += 2 * depth - 1
    x = b.declare("x", f"smem({depth}, {producer.threads})")

    def fill(r: Round) -> Block:
        free = f"bar_sync({empty} + {r.slot}, {count})"
        return lines(free, f"store({x}[{r.slot}, tid])", f"bar_arrive({full} + {r.slot}, {count})")

    def use(r: Round) -> Block:
        ready = f"bar_sync({full} + {r.slot}, {count})"
        return lines(ready, f"load({x}[{r.slot}])", f"bar_arrive({empty} + {r.slot}, {count})")

    s = b.name("s")
    if b.chance(0.5):
        start = lines(*(f"bar_arrive({empty + k}, {count})" for k in range(depth)))
    else:
        start = (Line(f"for {s} in range({depth}):", lines(f"bar_arrive({empty} + {s}, {count})")),)
    producer.body += rounds.loop(b, fill)
    consumer.body += (*start, *rounds.loop(b, use))


def relay(b: Build) -> None:
    """One id for two pairs of roles: the first hands on to the second, which hands on to the third, and so on."""
    unit = b.pick((32, 64))
    teams = [Team(b.name("r"), unit) for _ in range(3)]
    b.teams += teams
    pair, go, back = b.barrier_id(), b.barrier_id(), b.barrier_id()
    x, y = b.declare("x", f"smem({unit})"), b.declare("y", f"smem({unit})")
    looped, bound = b.chance(0.6), b.pick(("n", "n", "n + 1", "3"))
    meet, ready, again = (f"bar_sync({k}, {2 * unit})" for k in (pair, go, back))
    tell, free = (f"bar_arrive({k}, {2 * unit})" for k in (go, back))
    first = lines(*([again] if looped else []), f"store({x}[tid])", meet)
    second = lines(meet, f"load({x})", f"store({y}[tid])", tell, meet)
    third = lines(ready, meet, f"load({y})", *([free] if looped else []))
    for team, body in zip(teams, (first, second, third), strict=True):
        i = b.name("i")
        team.body += (Line(f"for {i} in range({bound}):", body),) if looped else body
    if looped:
        teams[-1].body[:0] = lines(free)


def mixed(b: Build, one: Team, other: Team) -> None:
    """One id at which two roles meet, or of which one waits and one arrives; another id tells who may go on."""
    meet, back = b.barrier_id(), b.barrier_id()
    count = one.threads + other.threads
    x, y = b.declare("x", f"smem({one.threads})"), b.declare("y", f"smem({other.threads})")
    i, j = b.name("i"), b.name("j")
    bound = b.pick(("n", "n", "n + 1", "3"))
    sync, arrive = f"bar_sync({meet}, {count})", f"bar_arrive({meet}, {count})"
    leave, enter = f"bar_arrive({back}, {count})", f"bar_sync({back}, {count})"
    here, there = f"store({x}[tid])", f"store({y}[tid])"
    if b.chance(0.5):  # all meet, then one arrives only
        ours = [here, sync, f"load({y})", arrive, enter]
        theirs = [there, sync, f"load({x})", sync, leave]
    else:
        ours = [here, arrive, enter, f"load({y})", sync]
        theirs = [sync, f"load({x})", there, leave, sync]
    one.body.append(Line(f"for {i} in range({bound}):", lines(*ours)))
    other.body.append(Line(f"for {j} in range({bound}):", lines(*theirs)))
