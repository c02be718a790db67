"""Skeletons of which the proof has no model, each with the reason that is given."""

from exogpu.skeleton import *


@skeleton
def unknown_trips(tiles: size):
    x = smem()
    with role("all", threads=128):
        for t in range(tiles):
            for k in range(unknown("blocks", t, below=8)):
                load(x)


@skeleton
def trips_of_the_thread():
    x = smem()
    with role("all", threads=128):
        for k in range(tid):
            load(x)


@skeleton
def barrier_of_two_loops(n: size, m: size):
    with role("all", threads=128):
        for i in range(n):
            for j in range(m):
                bar_sync(1 + i % 2 + 2 * (j % 2), 128)


@skeleton
def value_in_two_places(n: size):
    x = smem(2)
    with role("all", threads=128):
        last = 0
        for i in range(n):
            load(x[last])
            last = i % 2


@skeleton
def lives_with_phases_from_a_size_on(n: size):
    f = mbarrier()
    with role("all", threads=1):
        init(f, 1)
        if n >= 9:
            arrive(f)
            wait(f, parity=0)
        inval(f)
        init(f, 1)
        if n >= 9:
            arrive(f)
            wait(f, parity=0)
        inval(f)


LIMITS = (
    ("the trip count of a loop is an unknown number", unknown_trips),
    ("the trip count of a loop depends on the thread", trips_of_the_thread),
    ("which barrier is meant depends on more than one thing", barrier_of_two_loops),
    ("how many phases a life of `f` has is not seen at a small size", lives_with_phases_from_a_size_on),
    ("`last` gets a value in more than one place", value_in_two_places),
)
