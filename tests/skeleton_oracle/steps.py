"""Fragments of one role, or of two that take turns: barriers of threads, bulk stores, groups of copies."""

from __future__ import annotations

from tests.skeleton_oracle.lines import Block, Line, lines
from tests.skeleton_oracle.teams import WARPGROUP, Build, Team


def meet(b: Build, team: Team) -> str:
    """A barrier of all threads of a role."""
    if team.threads == 32 and b.chance(0.5):
        return "warp_sync()"
    if len(b.teams) == 1 and b.cluster == 1 and b.chance(0.5):
        return "cta_sync()"
    return f"bar_sync({b.barrier_id()}, {team.threads})"


def exchange(b: Build, team: Team) -> None:
    """Every thread writes its cell, then all read all."""
    depth = b.pick((1, 2, 3))
    x = b.declare("x", f"smem({depth}, {team.threads})")
    sync = meet(b, team)
    slot = f"{{i}} % {depth}" if depth > 1 else "0"
    body = [f"store({x}[{slot}, tid])", sync, f"load({x}[{slot}])"]
    if depth == 1:
        body.append(sync)
    team.body += _looped(b, *body)


def stores(b: Build, team: Team) -> None:
    """A tile is written by all and sent away by one."""
    depth = b.pick((1, 1, 2, 3))
    x = b.declare("out", f"smem({depth}, {team.threads})")
    slot = f"{{i}} % {depth}" if depth > 1 else "0"
    first, second = meet(b, team), meet(b, team)
    one = "with elect():" if team.units == 1 else "if tid == 0:"
    send = lines(f"tma_store({x}[{slot}])", "bulk_commit()")
    fences = [["proxy_fence()"], []] if b.chance(0.7) else [[], ["proxy_fence()"]]
    free = lines(f"bulk_wait_read({depth - 1})")
    body = (
        Line(one, free),
        *lines(second, f"store({x}[{slot}, tid])", *fences[0], first),
        Line(one, (*lines(*fences[1]), *send)),
    )
    team.body += _around(b, body)
    team.body.append(Line(one, lines(b.pick(("bulk_wait(0)", "bulk_wait_read(0)")))))


def copies(b: Build, team: Team) -> None:
    """Groups of cp.async run ahead of what all read."""
    depth = b.pick((2, 3, 4))
    x = b.declare("in", f"smem({depth}, {team.threads})")
    sync = meet(b, team)
    ahead = depth - 1
    i = b.name("i")
    start = [s for k in range(ahead) for s in (f"cp_async({x}[{k}, tid])", "cp_commit()")]
    body = [f"cp_wait({ahead - 1})", sync, f"load({x}[{i} % {depth}])"]
    body += [f"cp_async({x}[({i} + {ahead}) % {depth}, tid])", "cp_commit()"]
    team.body += (*lines(*start), Line(f"for {i} in range(n):", lines(*body)), Line("cp_wait_all()"))


def products(b: Build, team: Team) -> None:
    """Operands that all threads write, for wgmma."""
    if team.threads != WARPGROUP:
        exchange(b, team)
        return
    x = b.declare("a", f"smem({team.threads})")
    acc = b.declare("acc", "registers()")
    first, second = meet(b, team), meet(b, team)
    body = [f"store({x}[tid])", "proxy_fence()", first, "wgmma_fence()", f"wgmma({acc}, {x})", "wgmma_commit()"]
    team.body += _looped(b, *body, "wgmma_wait(0)", second)
    team.body += lines(f"load({acc})")


def turns(b: Build, one: Team, other: Team) -> None:
    """Two roles take turns at a piece of memory."""
    a, z = b.barrier_id(), b.barrier_id()
    count = one.threads + other.threads
    x = b.declare("x", f"smem({min(one.threads, other.threads)})")
    bound = b.pick(("n", "n", "n + 1", "3"))
    i, j = b.name("i"), b.name("j")
    uses = b.pick(((f"store({x}[tid])", f"load({x})"), (f"load({x})", f"store({x}[tid])")))
    if one.threads > other.threads or other.threads > one.threads:
        uses = (f"update({x}[0])", f"load({x})")
    go = [f"bar_sync({a}, {count})", uses[0], f"bar_arrive({z}, {count})"]
    come = [f"bar_sync({z}, {count})", uses[1], f"bar_arrive({a}, {count})"]
    one.body.append(Line(f"for {i} in range({bound}):", lines(*go)))
    other.body += (*lines(f"bar_arrive({a}, {count})"), Line(f"for {j} in range({bound}):", lines(*come)))


def semaphore(b: Build, one: Team, other: Team) -> None:
    """Two roles take turns at global memory, by the values of a flag."""
    f, y = b.declare("flag", "flags()"), b.declare("y", f"gmem({min(one.threads, other.threads)})")
    i, j = b.name("i"), b.name("j")
    bound = b.pick(("n", "n", "n + 1", "3"))
    for team, v, turn, use in ((one, i, f"2 * {i}", "store"), (other, j, f"2 * {j} + 1", "load")):
        first, second = meet(b, team) if team.threads > 1 else "", meet(b, team) if team.threads > 1 else ""
        window = f"{y}[tid]" if use == "store" else y
        access = f"{use}({window})" if one.threads <= other.threads or use == "load" else f"update({y}[0])"
        relaxed = b.chance(0.3)
        wait = [f"spin({f}, {turn}, relaxed=True)", 'fence("gpu")'] if relaxed else [f"spin({f}, {turn})"]
        tell = ['fence("gpu")', f"signal({f}, {turn} + 1, relaxed=True)"] if relaxed else [f"signal({f}, {turn} + 1)"]
        body = (
            *team.one(*lines(*wait)),
            *lines(*([first] if first else []), access, *([second] if second else [])),
            *team.one(*lines(*tell)),
        )
        team.body.append(Line(f"for {v} in range({bound}):", body))


def tally(b: Build, writers: Team, reader: Team) -> None:
    """What all threads have written is read when their additions make up the number."""
    f, y = b.declare("flag", "flags()"), b.declare("y", f"gmem({writers.threads})")
    writers.body += lines(f"store({y}[tid])")
    if writers.whole_warps and b.chance(0.4):
        writers.body += (Line(meet(b, writers)), *writers.one(Line(f"signal_add({f}, 1)")))
        count = writers.units if writers.units == 1 else 1
    else:
        writers.body += lines(f"signal_add({f}, 1)")
        count = writers.threads
    wait = lines(f"spin({f}, {count})")
    if reader.whole_warps and b.chance(0.5):
        reader.body += (*reader.one(*wait), Line(meet(b, reader)))
    else:
        reader.body += wait
    reader.body += lines(f"load({y})")


def _looped(b: Build, *texts: str) -> Block:
    return _around(b, lines(*texts))


def _around(b: Build, body: Block) -> Block:
    """In a loop, or once."""
    i = b.name("i")
    bound = b.pick(("n", "n", "n", "n + 1", "3", "2 * n", ""))
    if not bound:
        return _at(body, "0")
    return (Line(f"for {i} in range({bound}):", _at(body, i)),)


def _at(body: Block, i: str) -> Block:
    return tuple(Line(line.text.replace("{i}", i), _at(line.body, i)) for line in body)
