"""Elections by hardware, where a proof for the first lane once stood for all, each beside a twin that differs in one
place."""

from exogpu.skeleton import *


def read_by_first(meet):
    """The first lane of a role reads what the first lane of another has stored. Only who is elected publishes, unless
    all have met; then each lane may read what the same one has stored."""

    @skeleton
    def kernel():
        f = mbarrier(count=1)
        x = smem(32)
        with role("a", warps=1):
            store(x[tid])
            if meet:
                warp_sync()
            with elect(any=True):
                arrive(f)
        with role("b", warps=1):
            if meet:
                wait(f, parity=0)
                load(x[tid])
            else:
                with elect():
                    wait(f, parity=0)
                    load(x[tid])

    return kernel


def read_alone(meet):
    """The reader is one thread; so `tid` means the first cell to it."""

    @skeleton
    def kernel():
        f = mbarrier(count=1)
        x = smem(32)
        with role("a", warps=1):
            store(x[tid])
            if meet:
                warp_sync()
            with elect(any=True):
                arrive(f)
        with role("b", threads=1):
            wait(f, parity=0)
            if meet:
                load(x)
            else:
                load(x[tid])

    return kernel


def neighbours(width):
    """Windows of neighbours have a cell in common, also those of the last lane of a warp and of the first of the next,
    or none."""

    @skeleton
    def kernel():
        f = mbarrier(count=1)
        x = smem(66)
        with role("a", warps=2):
            if warp == 1:
                load(x[tid : tid + width])
                with elect(any=True):
                    arrive(f)
            else:
                wait(f, parity=0)
                update(x[tid : tid + width])

    return kernel


def clamped(low):
    """All lanes of a warp name the cell of the other's first lane, or nobody names another's."""

    @skeleton
    def kernel():
        f = mbarrier(count=1)
        x = smem(64)
        with role("a", warps=2):
            if warp == 1:
                load(x[max(tid, low) - low])
                with elect(any=True):
                    arrive(f)
            else:
                wait(f, parity=0)
                update(x[max(tid, low) - low])

    return kernel


def over(anyone):
    """The first lane stores in the memory of an mbarrier that whoever is elected has ended."""

    @skeleton
    def kernel():
        x = smem(32)
        b = mbarrier(at=x[0])
        with role("a", warps=1):
            with elect(any=anyone):
                init(b, 1)
                arrive(b)
                wait(b, parity=0)
                inval(b)
            store(x[tid])

    return kernel


def checked_in_parts(lanes):
    """A check is for every lane that may be elected, also where each warp of a role is taken by itself."""

    @skeleton
    def kernel():
        f = flags()
        with role("w", threads=1):
            signal(f, 1)
            signal(f, 2)
        with role("a", warps=2):
            spin(f, tid // 32 + 1)
            with elect(any=True):
                check(tid % 32 < lanes)

    return kernel


def ends(early):
    """The elected lane ends: in `b` one may go on that has ended in `a`, and read what it has not published."""

    @skeleton
    def kernel():
        f = mbarrier(count=32 - early)
        other = mbarrier(count=2)
        x = smem(32)
        with role("a", warps=1):
            store(x[tid])
            with elect(any=True):
                if early > 0:
                    exit()
                arrive(other)
            arrive(f)
        with role("b", warps=1):
            with elect(any=True):
                if early > 0:
                    exit()
                arrive(other)
            wait(f, parity=0)
            load(x[tid])

    return kernel


def ahead(same):
    """The chosen lane of the first warp arrives alone, too, at the mbarrier at which all do, which puts it a phase
    ahead, or at another one. The lane of its number in the second warp may be one that is not chosen."""

    @skeleton
    def kernel():
        b = mbarrier(count=32)
        c = mbarrier(count=1)
        d = mbarrier(count=1)
        x = smem(32)
        with role("a", warps=2):
            if tid // 32 == 0:
                with elect(any=True):
                    if same:
                        arrive(b)
                        wait(b, parity=0)
                    else:
                        arrive(d)
                        wait(d, parity=0)
                store(x[tid % 32])
                arrive(b)
                with elect(any=True):
                    arrive(c)
            else:
                wait(b, parity=0)
                with elect(any=True):
                    wait(c, parity=0)
                store(x[tid % 32])

    return kernel


def in_turn(meets):
    """The CTAs write global memory lane by lane, one after the other; those elected wait and signal for their lanes."""

    @skeleton
    def kernel():
        cluster(2)
        f = flags()
        y = gmem(32)
        with role("a", warps=1):
            with elect(any=True):
                spin(f, rank)
            warp_sync()
            store(y[tid])
            if meets:
                warp_sync()
            with elect(any=True):
                signal(f, rank + 1)

    return kernel


def slot_by_counter(free):
    """Each lane's cell is stored by whoever is elected, in a slot that a counter names, or by the lane that is known to
    be the first. The last trips of the consumer do not let its lanes meet."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        x = smem(2, 32)
        with role("p", warps=1):
            s = 0
            for i in range(n):
                with elect(any=free):
                    wait(empty[s], parity=i // 2 + 1)
                    store(x[s, tid])
                    arrive(full[s])
                s = (s + 1) % 2
        with role("c", warps=1):
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                load(x[i % 2, tid])
                if i < 1:
                    warp_sync()
                with elect(any=free):
                    arrive(empty[i % 2])

    return kernel


TWINS = [
    ("race.waw", ahead(True), ahead(False)),
    ("race.waw | mbar.lane_release", in_turn(False), in_turn(True)),
    ("mbar.lane_release", ends(1), ends(0)),
    ("seq.mismatch", checked_in_parts(1), checked_in_parts(32)),
    ("mbar.lane_release", read_by_first(False), read_by_first(True)),
    ("mbar.lane_release", read_alone(False), read_alone(True)),
    ("mbar.lane_release", neighbours(2), neighbours(1)),
    ("mbar.lane_release", clamped(32), clamped(0)),
    ("mbar.alias", over(True), over(False)),
    ("mbar.lane_release", slot_by_counter(True), slot_by_counter(False)),
]
