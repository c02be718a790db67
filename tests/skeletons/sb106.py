"""CTAs add to a tile of global memory in turns, and the turn is passed on without a fence of device scope.

Source: NVIDIA/Fuser pull request 2391.
"""

from exogpu.skeleton import *

CLASS = "gmem-pub"

# The CTAs of one cluster stand for those of a grid: they share nothing but global memory.


@skeleton
def buggy():
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1, relaxed=True)


@skeleton
def fixed():
    """Every thread fences its part, and the signal is a release."""
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        fence("gpu")
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1)


@skeleton
def fixed_release():
    """The release covers all that its thread has heard of through the barrier."""
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1)


@skeleton
def fixed_one_fence():
    """A fence after the barrier by the thread that signals does the same."""
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        cta_sync()
        if tid == 0:
            fence("gpu")
            signal(turn, rank + 1, relaxed=True)


@skeleton
def fixed_relaxed():
    """As published: every thread fences before the barrier, and the store itself is an ordinary one (axiom L14)."""
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        fence("gpu")
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1, relaxed=True)


@skeleton
def buggy_some_fence():
    """One of the roles that meet at the barrier does not fence."""
    cluster(2)
    turn = flags()
    d = gmem(64)
    with role("half", threads=32):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        fence("gpu")
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1, relaxed=True)
    with role("other_half", threads=32):
        spin(turn, rank)
        load(d[32 + tid])
        store(d[32 + tid])
        cta_sync()


@skeleton
def buggy_narrow_fence():
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        cta_sync()
        if tid == 0:
            fence("cta")
            signal(turn, rank + 1, relaxed=True)


@skeleton
def buggy_narrow_signal():
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1, scope="cta")


@skeleton
def buggy_relaxed_spin():
    """The other side: the spin acquires nothing."""
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank, relaxed=True)
        load(d[tid])
        store(d[tid])
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1)


@skeleton
def buggy_no_barrier():
    """The turn is passed on before the other threads have added."""
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        spin(turn, rank)
        load(d[tid])
        store(d[tid])
        if tid == 0:
            signal(turn, rank + 1)


@skeleton
def fixed_one_spinner():
    """One thread waits for the turn, the others for that thread."""
    cluster(3)
    turn = flags()
    d = gmem(64)
    with role("all", threads=64):
        if tid == 0:
            spin(turn, rank)
        cta_sync()
        load(d[tid])
        store(d[tid])
        cta_sync()
        if tid == 0:
            signal(turn, rank + 1)


@skeleton
def fixed_tiles(n: size):
    """Tile after tile; the order of the CTAs is the same in each."""
    cluster(2)
    turn = flags()
    d = gmem(n, 64)
    with role("all", threads=64):
        for t in range(n):
            spin(turn, 2 * t + rank)
            load(d[t, tid])
            store(d[t, tid])
            cta_sync()
            if tid == 0:
                signal(turn, 2 * t + rank + 1)


@skeleton
def fixed_atomics():
    """Atomic additions need no turn; who reads the sum waits for all of them."""
    cluster(2)
    added = flags()
    d = gmem(64)
    with role("all", threads=64):
        update(d[tid])
        cta_sync()
        if tid == 0:
            signal_add(added, 1)
        if rank == 0:
            spin(added, 2)
            load(d[tid])


EXPECT = {
    "buggy": "race.raw",
    "fixed": "proved",
    "fixed_release": "proved",
    "fixed_one_fence": "proved",
    "fixed_relaxed": "proved",
    "buggy_some_fence": "race.raw",
    "buggy_narrow_fence": "race.raw",
    "buggy_narrow_signal": "race.raw",
    "buggy_relaxed_spin": "race.raw",
    "buggy_no_barrier": "race.raw",
    "fixed_one_spinner": "proved",
    "fixed_tiles": "proved",
    "fixed_atomics": "proved",
}
