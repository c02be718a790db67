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


LIMITS = (
    ("the trip count of a loop is an unknown number", unknown_trips),
    ("the trip count of a loop depends on the thread", trips_of_the_thread),
)
