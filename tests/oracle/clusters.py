"""Kernels for clusters of two CTAs: rows shared by multicast or read from each other's shared memory."""

from __future__ import annotations

from tests.oracle.choices import WARP, Choices
from tests.oracle.fragments import ROW

CTAS = 2


def _each(c: Choices) -> tuple[str, str]:
    """A loop over the CTAs, and its variable."""
    cta = c.text.name("c")
    return f"for {cta} in threads({CTAS}, unit=cta):", cta


def _lanes(c: Choices) -> tuple[str, str]:
    lane = c.text.name("l")
    return f"for {lane} in threads({WARP}):", lane


def multicast_ring(c: Choices) -> str:
    """Each CTA loads a row into all of them, and maybe one of its own; consumers release the slot everywhere."""
    depth, own = c.pick((2, 1, 3)), c.chance(0.3)
    full = c.text.barrier("full", depth, 1)
    empty = c.text.barrier("empty", depth, CTAS)
    y = c.text.tensor("Y", f"T, {CTAS}, {WARP}")
    head, k = c.loop(c.trips())
    with c.text.block(head):
        both, mine = c.text.name("s"), c.text.name("o")
        slots = c.pick((1, 2, 3)) if c.chance(0.1) else depth
        c.text.add(f"{both}: f32[{CTAS}, {CTAS}, {WARP}] @ SMEM(ring={slots})")
        c.text.add(*([f"{mine}: f32[{CTAS}, 1, {WARP}] @ SMEM(ring={slots})"] if own else []))
        each, cta = _each(c)
        with c.text.block(each), c.text.block("with role(p):"), c.text.block(f"for {c.text.name('p')} in threads(1):"):
            c.sync(f"Await({empty}, lag={c.pick((1, 2, 3)) if c.chance(0.15) else depth})")
            c.sync("fence_proxy_async_all()")
            x, row = c.source(k)
            part = f"{both}[:, {cta} : {cta} + 1, :]"
            c.text.add(f"tma_load_multicast({part}, {x}[{row} + {cta} : {row} + {cta} + 1, 0:{WARP}], {full})")
            if own:
                x, row = c.source(k)
                c.text.add(f"tma_load({mine}[{cta}, :, :], {x}[{row} : {row} + 1, 0:{WARP}], {full})")
            c.text.add(f"Arrive({full}, tx={ROW * (CTAS + own)})")
        each, cta = _each(c)
        with c.text.block(each), c.text.block("with role(q):"):
            c.sync(f"Await({full})")
            lanes, lane = _lanes(c)
            with c.text.block(lanes):
                for n in range(CTAS):
                    c.text.add(f"{y}[t, {cta}, {lane}] += {both}[{cta}, {n}, {c.place(lane, WARP)}]")
                c.text.add(*([f"{y}[t, {cta}, {lane}] += {mine}[{cta}, 0, {c.place(lane, WARP)}]"] if own else []))
            if c.chance(0.1):
                c.text.add("fence_proxy_async()")
            c.sync("Fence()")
            _release(c, empty)
    c.text.after += _meet(c)
    return "p=warps(1), q=warps(1), persistent=True, cluster=2"


def _release(c: Choices, empty: str) -> None:
    """A consumer warp arrives on the barrier of every CTA."""
    relaxed = ", relaxed=True" if c.chance(0.1) else ""
    if c.chance(0.5):
        c.text.add(f"Arrive({empty}[0:{CTAS}]{relaxed})")
        return
    lane = c.text.name("r")
    with c.text.block(f"for {lane} in threads({CTAS}):"):
        c.text.add(f"Arrive({empty}[{lane}]{relaxed})")


def _meet(c: Choices) -> tuple[str, ...]:
    """The whole cluster meets: in one step, or in two, the first of which seldom publishes nothing."""
    if not c.chance(0.3):
        return ("Fence()",)
    return (f"cluster_arrive{'_relaxed' if c.chance(0.15) else ''}()", "cluster_wait()")


def exchange(c: Choices) -> str:
    """Each CTA fills its part of a buffer and reads the other's."""
    y = c.text.tensor("Y", f"T, {CTAS}, {WARP}")
    head, k = c.loop(c.trips())
    with c.text.block(head):
        s = c.text.name("s")
        ring = c.pick((1, 2))
        c.text.add(f"{s}: f32[{CTAS}, {WARP}] @ SMEM(ring={ring})")
        x, row = c.source(k)
        each, cta = _each(c)
        lanes, lane = _lanes(c)
        with c.text.block(each), c.text.block(lanes):
            c.text.add(f"{s}[{cta}, {lane}] = {x}[{row} + {cta}, {lane}]")
        first, *last = _meet(c)
        c.sync(first)
        if last and c.chance(0.5):
            each, cta = _each(c)
            lanes, lane = _lanes(c)
            own = c.text.tensor("Z", f"T, {CTAS}, {WARP}")
            with c.text.block(each), c.text.block(lanes):
                c.text.add(f"{own}[t, {cta}, {lane}] += {s}[{cta}, {lane}]")
        c.sync(*last)
        each, cta = _each(c)
        lanes, lane = _lanes(c)
        with c.text.block(each), c.text.block(lanes):
            other = c.pick((f"1 - {cta}", cta, "0"))
            c.text.add(f"{y}[t, {cta}, {lane}] += {s}[{other}, {c.place(lane, WARP)}]")
        if ring == 1 or c.chance(0.2):
            c.sync(*_meet(c))
    c.text.after += _meet(c)
    return "32, persistent=True, cluster=2"
