"""Random skeletons that are right: idioms of kernels, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from tests.skeleton_oracle import lives, orders
from tests.skeleton_oracle.arrays import shared
from tests.skeleton_oracle.clusters import asynchronous, handover, meetings, multicast
from tests.skeleton_oracle.options import optional
from tests.skeleton_oracle.pool import registers
from tests.skeleton_oracle.rings import ring
from tests.skeleton_oracle.starts import initialise, reuse
from tests.skeleton_oracle.steps import copies, exchange, products, semaphore, stores, tally, turns
from tests.skeleton_oracle.teams import WARPGROUP, Build

SMALL = (32, 32, 64)
WHOLE = (32, 32, 64, 128)


def generate(random: Random, kinds: Sequence[str] = ()) -> Build:
    """A skeleton over the size n; with a shape of one of these kinds, if any are given."""
    b = Build(random)
    shapes = [*(kinds or SHAPES)]
    (shape,) = random.choices(shapes, [SHAPES[k][0] for k in shapes])
    b.kinds.add(shape)
    SHAPES[shape][1](b)
    whole = all(t.threads % 32 == 0 for t in b.teams)
    if whole and b.chance(0.2):
        initialise(b)
    if whole and b.chance(0.15):
        reuse(b)
    if b.chance(0.25):
        shared(b)
    if shape != "pool" and b.chance(0.3):
        registers(b)
    if b.chance(0.06):
        optional(b)
    return b


def _alone(b: Build) -> None:
    team = b.team("all", (32, 64, 64, 128))
    for _ in range(b.pick((1, 1, 2))):
        b.pick((exchange, stores, stores, copies, products))(b, team)


def _turns(b: Build) -> None:
    turns(b, b.team("a", SMALL), b.team("z", SMALL))


def _roles(b: Build) -> None:
    _rings(b, (1, 1, 32, 32, 64), (1, 32, 32, 64, 128, 128))
    able = [t for t in b.teams if t.whole_warps]
    if able and b.chance(0.2):
        b.pick((exchange, stores))(b, b.pick(able))
    if b.chance(0.15):
        b.pick((semaphore, tally))(b, *b.teams[:2])
    if len(able) >= 2 and b.chance(0.15):
        turns(b, *able[:2])


def _rings(b: Build, producers: Sequence[int], others: Sequence[int]) -> None:
    producer = b.team("p", producers)
    consumers = [b.team("c", others) for _ in range(b.pick((1, 1, 1, 2)))]
    if len(consumers) == 2 and b.chance(0.5):
        ring(b, producer, consumers[:1])
        ring(b, consumers[0], consumers[1:])
    else:
        ring(b, producer, consumers)


def _cluster(b: Build) -> None:
    b.cluster = 2
    if b.chance(0.35):
        b.pick((asynchronous, meetings))(b, b.team("all", SMALL))
        return
    _pair(b, (1, 32))


def _pair(b: Build, senders: Sequence[int]) -> None:
    """A role of each CTA that feeds one of both."""
    sender = b.team("p", senders)
    receiver = b.team("c", (*senders, 32, 64))
    b.pick((multicast, multicast, handover))(b, sender, receiver)


# -- mbarriers that end ------------------------------------------------------------------------------------------------


def _lives(b: Build) -> None:
    form = b.pick(("tiles", "tiles", "kept", "again", "again"))
    b.even = form != "again" and b.chance(0.9)
    if b.chance(0.15):
        b.cluster = 2
        _pair(b, (32,))
    elif b.chance(0.3):
        lives.fetches(b, b.team("all", WHOLE))
    else:
        ring(b, b.team("p", SMALL), [b.team("c", WHOLE) for _ in range(b.pick((1, 1, 2)))])
    if b.cluster == 1 and b.chance(0.15):
        b.pick((exchange, stores))(b, b.pick(b.teams))
    match form:
        case "tiles":
            lives.tiles(b)
        case "kept":
            lives.kept(b)
        case _:
            lives.again(b, _more)


def _more(b: Build) -> None:
    """What the same roles do in a second life."""
    if b.cluster > 1:
        b.pick((multicast, handover))(b, *b.teams[:2])
    elif len(b.teams) == 1 or b.chance(0.2):
        lives.fetches(b, b.pick(b.teams))
    else:
        producer, *consumers = b.random.sample(b.teams, len(b.teams))
        ring(b, producer, consumers)


# -- named barriers of several -----------------------------------------------------------------------------------------


def _orders(b: Build) -> None:
    form = b.pick(("pingpong", "sequence", "sequence", "ring", "ring", "relay", "mixed"))
    match form:
        case "pingpong":
            orders.pingpong(b)
        case "sequence":
            orders.sequence(b)
        case "relay":
            orders.relay(b)
        case "ring":
            orders.named_ring(b, b.team("p", SMALL), b.team("c", SMALL))
        case _:
            orders.mixed(b, b.team("a", SMALL), b.team("z", SMALL))
    if b.chance(0.15):
        exchange(b, b.pick(b.teams))


# -- registers ---------------------------------------------------------------------------------------------------------


def _pool(b: Build) -> None:
    if b.chance(0.7):
        _rings(b, (WARPGROUP,), (WARPGROUP, WARPGROUP, 2 * WARPGROUP))
    else:
        turns(b, b.team("a", (WARPGROUP,)), b.team("z", (WARPGROUP,)))
    if b.chance(0.3):
        exchange(b, b.team("extra", (32, WARPGROUP)))
    if b.chance(0.4):
        initialise(b)
    registers(b)


def _options(b: Build) -> None:
    b.pick((_roles, _roles, _alone, _turns))(b)
    optional(b)


SHAPES: Mapping[str, tuple[float, Callable[[Build], None]]] = {
    "cluster": (0.16, _cluster),
    "alone": (0.17, _alone),
    "turns": (0.05, _turns),
    "roles": (0.38, _roles),
    "lives": (0.08, _lives),
    "orders": (0.08, _orders),
    "pool": (0.05, _pool),
    "options": (0.03, _options),
}
"""The kinds of skeletons: how often they come, and what makes them."""
