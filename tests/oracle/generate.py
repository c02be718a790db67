"""Random kernels: fragments of protocols put together, mostly right, some with synchronisation left out or edited."""

from __future__ import annotations

from random import Random

from tests.oracle.choices import WARP, Choices, Team
from tests.oracle.clusters import exchange, multicast_ring
from tests.oracle.details import bulk_stores, parts, relay
from tests.oracle.fragments import double_buffer, ring, staged_store, steps
from tests.oracle.matrix import multiply
from tests.oracle.text import Text

LAYOUTS = (
    (("p", 1), ("c", 1)),
    (("p", 1), ("c", 1)),
    (("c", 1), ("p", 1)),
    (),
    (),
    (),
    (("p", 1), ("c", 2)),
    (("p", 1), ("c", 1), ("d", 1)),
)
"""Roles with their warps; none: a block of one or two warps."""


def generate(random: Random) -> str:
    """The text of one kernel, named `kernel`, over the sizes T (tasks, at least 1) and K."""
    c = Choices(random, Text(), 0.0)
    c.noise = c.pick((0.0, 0.0, 0.0, 0.15))
    if c.chance(0.2):
        return c.text.kernel(c.pick((multicast_ring, exchange))(c))
    if c.chance(0.03):
        return c.text.kernel(multiply(c))
    layout = c.pick(LAYOUTS)
    if not layout:
        warps = c.pick((1, 2))
        whole = Team(None, 0, WARP * warps, WARP * warps)
        for _ in range(2 if c.chance(0.1) else 1):
            c.pick((steps, steps, steps, double_buffer, staged_store, parts, bulk_stores))(c, whole)
        return c.text.kernel(str(whole.threads) + (", persistent=True" if c.chance(0.4) else ""))
    block = WARP * sum(warps for _, warps in layout)
    teams: dict[str, Team] = {}
    for name, warps in layout:
        teams[name] = Team(name, sum(t.threads for t in teams.values()), WARP * warps, block)
    _roles(c, teams)
    roles = ", ".join(f"{name}=warps({warps})" for name, warps in layout)
    return c.text.kernel(roles + (", persistent=True" if c.chance(0.7) else ""))


def _roles(c: Choices, teams: dict[str, Team]) -> None:
    producer, *consumers = (teams[n] for n in ("p", "c", "d") if n in teams)
    if consumers[0].threads == WARP and c.chance(0.1):
        relay(c, producer, consumers[0])
        return
    if len(consumers) == 2 and c.chance(0.4):
        ring(c, producer, consumers[:1])
        ring(c, consumers[0], consumers[1:])
    else:
        ring(c, producer, consumers)
    if c.chance(0.1):
        c.pick((steps, double_buffer, staged_store, parts, bulk_stores))(c, c.pick([producer, *consumers]))
    elif c.chance(0.05):
        ring(c, consumers[0], [producer])
