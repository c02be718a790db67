"""Random skeletons that are right: idioms of kernels, put together."""

from __future__ import annotations

from random import Random

from tests.skeleton_oracle.arrays import shared
from tests.skeleton_oracle.clusters import asynchronous, handover, meetings, multicast
from tests.skeleton_oracle.lines import Block
from tests.skeleton_oracle.rings import ring
from tests.skeleton_oracle.starts import initialise, reuse
from tests.skeleton_oracle.steps import copies, exchange, products, semaphore, stores, tally, turns
from tests.skeleton_oracle.teams import Build

SMALL = (32, 32, 64)


def generate(random: Random) -> Block:
    """A skeleton over the size n."""
    b = Build(random)
    shape = random.random()
    if shape < 0.2:
        _cluster(b)
    elif shape < 0.42:
        _alone(b)
    elif shape < 0.48:
        turns(b, b.team("a", SMALL), b.team("z", SMALL))
    else:
        _roles(b)
    whole = all(t.threads % 32 == 0 for t in b.teams)
    if whole and b.chance(0.2):
        initialise(b)
    if whole and b.chance(0.15):
        reuse(b)
    if b.chance(0.25):
        shared(b)
    return b.block()


def _alone(b: Build) -> None:
    team = b.team("all", (32, 64, 64, 128))
    for _ in range(b.pick((1, 1, 2))):
        b.pick((exchange, stores, stores, copies, products))(b, team)


def _roles(b: Build) -> None:
    producer = b.team("p", (1, 1, 32, 32, 64))
    consumers = [b.team("c", (1, 32, 32, 64, 128, 128)) for _ in range(b.pick((1, 1, 1, 2)))]
    if len(consumers) == 2 and b.chance(0.5):
        ring(b, producer, consumers[:1])
        ring(b, consumers[0], consumers[1:])
    else:
        ring(b, producer, consumers)
    able = [t for t in b.teams if t.whole_warps]
    if able and b.chance(0.2):
        b.pick((exchange, stores))(b, b.pick(able))
    if b.chance(0.15):
        b.pick((semaphore, tally))(b, *b.teams[:2])
    if len(able) >= 2 and b.chance(0.15):
        turns(b, *able[:2])


def _cluster(b: Build) -> None:
    b.cluster = 2
    if b.chance(0.35):
        b.pick((asynchronous, meetings))(b, b.team("all", SMALL))
        return
    sender = b.team("p", (1, 32))
    receiver = b.team("c", (1, 32, 32, 64))
    b.pick((multicast, multicast, handover))(b, sender, receiver)
