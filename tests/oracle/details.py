"""Smaller fragments: parts of a warp that meet on their own, bulk stores in flight, a buffer handed to and fro."""

from __future__ import annotations

from tests.oracle.choices import WARP, Choices, Team
from tests.oracle.fragments import close_sink, open_sink

STORES = 4
"""Rows that one task stores."""


def parts(c: Choices, team: Team) -> None:
    """Groups of threads exchange rows among themselves, each with barriers of its own."""
    unit = c.pick((16, 8, WARP))
    groups = team.threads // unit
    y = c.text.tensor("Y", f"T, {team.threads}")
    head, k = c.loop(c.trips())
    x, row = c.source(k)
    buffer = c.text.name("h")
    with c.text.block(team.head):
        c.text.add(f"{buffer}: f32[{groups}, {unit}] @ SMEM")
        with c.text.block(head):
            g, lane, other = c.text.name("g"), c.text.name("l"), c.text.name("l")
            with c.text.block(f"for {g} in threads({groups}, unit={unit}):"):
                with c.text.block(f"for {lane} in threads({unit}):"):
                    c.text.add(f"{buffer}[{g}, {lane}] = {x}[{row}, ({unit} * {g} + {lane}) % {WARP}]")
                c.sync("Fence()")
                source = f"{groups - 1} - {g}" if c.chance(0.1) else g
                with c.text.block(f"for {other} in threads({unit}):"):
                    c.text.add(f"{y}[t, {unit} * {g} + {other}] += {buffer}[{source}, {unit - 1} - {other}]")
                c.sync("Fence()")
            if c.chance(0.2):
                c.sync("Fence()")
        c.sync("Fence()")


def bulk_stores(c: Choices, team: Team) -> None:
    """A team fills stage after stage while stores of the earlier ones are in flight."""
    depth = c.pick((2, 1, 3))
    z = c.text.tensor("Z", f"{STORES} * T, {WARP}")
    k, stage, lane = c.text.name("k"), c.text.name("g"), c.text.name("l")
    x, row = c.source(k)
    pending = depth - 1 if not c.chance(0.15) else c.pick((0, 1, 2))
    with c.text.block(f"for {k} in seq(0, min(K, {STORES})):"):
        c.text.add(f"{stage}: f32[1, {WARP}] @ SMEM(ring={depth})")
        with c.text.block(team.head):
            with c.text.block(f"for {c.text.name('p')} in threads(1):"):
                c.sync(f"{c.pick(('bulk_wait_read', 'bulk_wait_read', 'bulk_wait'))}({pending})")
            c.sync("Fence()")
            _fill(c, stage, lane, x, row)
            c.sync("fence_proxy_async()")
            c.sync("Fence()")
            with c.text.block(f"for {c.text.name('p')} in threads(1):"):
                at = f"{STORES} * t + {k}"
                c.text.add(f"tma_store({z}[{at} : {at} + 1, 0:{WARP}], {stage}[:, :])")
                c.sync("bulk_commit()")
    c.text.finish(team.head, f"for {c.text.name('p')} in threads(1):", c.pick(("bulk_wait_read(0)", "bulk_wait(0)")))


def _fill(c: Choices, buffer: str, lane: str, x: str, row: str) -> None:
    """A row by single elements or by vectors."""
    if c.chance(0.3):
        with c.text.block(f"for {lane} in threads({WARP // 4}):"):
            part = f"4 * {lane} : 4 * {lane} + 4"
            c.text.add(f"vec_copy({buffer}[0, {part}], {x}[{row}, {part}])")
        return
    with c.text.block(f"for {lane} in threads({WARP}):"):
        c.text.add(f"{buffer}[0, {lane}] = {x}[{row}, {lane}]")


def relay(c: Choices, first: Team, second: Team) -> None:
    """One team writes, the other reads and writes the same buffer, the first reads: two barriers, back and forth."""
    there, back = c.text.barrier("there", 1, 1), c.text.barrier("back", 1, 1)
    sink = open_sink(c, first)
    head, k = c.loop(c.trips())
    buffer, x, row = c.text.name("b"), *c.source(k)
    one, two, three = c.text.name("l"), c.text.name("l"), c.text.name("l")
    with c.text.block(head):
        c.text.add(f"{buffer}: f32[2, {WARP}] @ SMEM")
        with c.text.block(first.head):
            with c.text.block(f"for {one} in threads({WARP}):"):
                c.text.add(f"{buffer}[0, {one}] = {x}[{row}, {one}]")
            c.sync("Fence()")
            c.text.add(f"Arrive({there})")
        with c.text.block(second.head):
            c.sync(f"Await({there})")
            with c.text.block(f"for {two} in threads({WARP}):"):
                c.text.add(f"{buffer}[1, {two}] = {buffer}[0, {c.place(two, WARP)}]")
            c.sync("Fence()")
            c.text.add(f"Arrive({back})")
        with c.text.block(first.head):
            c.sync(f"Await({back})")
            with c.text.block(f"for {three} in threads({WARP}):"):
                c.text.add(sink.add(three, f"{buffer}[{c.pick(('1', '0'))}, {c.place(three, WARP)}]"))
            c.sync("Fence()")
    close_sink(c, sink)
