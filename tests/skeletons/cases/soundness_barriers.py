"""Faults at barriers that a proof once overlooked, each beside a twin that differs in one place."""

from exogpu.skeleton import *


def elects(T):
    """A warp's lanes meet in an election; the threads of a larger unit compare their numbers."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=1)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                arrive(full)
        with role("c", threads=T):
            for i in range(n):
                if tid < 32:
                    wait(full, parity=i)
                    with elect():
                        arrive(empty)

    return kernel


def meets_first(below):
    """Lanes that wait for what comes after their meeting with the lane that brings it about."""

    @skeleton
    def kernel():
        a = mbarrier(count=1)
        b = mbarrier(count=1)
        with role("p", threads=32):
            if tid < below:
                wait(a, parity=0)
            with elect():
                arrive(b)
            if tid >= below:
                wait(a, parity=0)
        with role("c", threads=1):
            wait(b, parity=0)
            arrive(a)

    return kernel


def meets_in_part(lanes):
    """Only the first `lanes` lanes meet those that wait."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        done = mbarrier(count=24)
        with role("p", threads=1):
            for i in range(n):
                wait(done, parity=i + 1)
                arrive(full)
        with role("c", threads=32):
            for i in range(n):
                if tid < lanes:
                    if tid < 8:
                        wait(full, parity=i)
                    with elect():
                        check(i >= 0)
                if tid >= 8:
                    arrive(done)

    return kernel


def by_sizes(wanted):
    """How many threads arrive depends on a size."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=32)
        with role("p", threads=32):
            if tid < n:
                arrive(full)
        with role("c", threads=1):
            if n >= wanted:
                wait(full, parity=0)

    return kernel


def twice_initialised(again):
    @skeleton
    def kernel():
        full = mbarrier(2, count=1)
        other = mbarrier()
        with role("p", threads=1):
            if again:
                init(full[0], 1)
            else:
                init(other, 1)
            arrive(full[0])
            wait(full[0], parity=0)

    return kernel


def initialised_in_range(first):
    @skeleton
    def kernel():
        full = mbarrier(2)
        with role("p", threads=1):
            for i in range(2):
                init(full[i + first], 1)
            arrive(full[first])
            wait(full[first], parity=0)

    return kernel


def one_of_each_warp(W):
    @skeleton
    def kernel():
        full = mbarrier(2, count=32)
        with role("p", warps=W):
            arrive(full[warp])
            wait(full[warp], parity=0)

    return kernel


def one_slot(step):
    @skeleton
    def kernel(n: size):
        full = mbarrier(1, count=1)
        with role("p", threads=1):
            for i in range(n):
                arrive(full[step * i])
                wait(full[0], parity=i)

    return kernel


def held_slot(ahead):
    """cp.async keep a phase open in the slot that their thread arrives at, or in another."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=1)
        x = smem(2)
        with role("p", threads=1):
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1)
                cp_async(x[i % 2])
                cp_arrive(full[(i + ahead) % 2], noinc=False)
                arrive(full[i % 2])
        with role("c", threads=1):
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                load(x[i % 2])
                arrive(empty[i % 2])

    return kernel


def bytes_at_once(most):
    """A phase has at most 2^20 - 1 bytes."""

    @skeleton
    def kernel():
        full = mbarrier(count=1)
        x = smem(2)
        with role("p", threads=1):
            expect(full, 16)
            arrive(full, tx=most)
            tma_load(x[0], full, bytes=most)
            tma_load(x[1], full, bytes=16)
            wait(full, parity=0)

    return kernel


def unobserved(waits):
    """A phase completes before a wait has seen the one before."""

    @skeleton
    def kernel(n: size):
        b = mbarrier(count=1)
        with role("a", threads=1):
            for i in range(n):
                arrive(b)
                if waits:
                    wait(b, parity=i)

    return kernel


def told(relaxes):
    """A fence for initialisations does not make up for a wait that acquires nothing."""

    @skeleton
    def kernel():
        other = mbarrier(count=1)
        b = mbarrier()
        with role("p", threads=1):
            init(b, 1)
            init_fence()
            arrive(other)
        with role("q", threads=1):
            wait(other, parity=0, relaxed=relaxes)
            arrive(b)

    return kernel


def everybody(more):
    """All threads of a CTA are not equally many in all CTAs."""

    @skeleton
    def kernel():
        cluster(2)
        x = smem()
        with role("a", threads=64):
            cta_sync()
        if more:
            with role("b", threads=64, ctas=1):
                load(x)

    return kernel


def first_lane(lowest):
    """The elected lane is the first of its unit, which need not come."""

    @skeleton
    def kernel():
        full = mbarrier(count=1)
        with role("a", threads=32):
            if tid >= lowest:
                with elect():
                    arrive(full)
        with role("c", threads=1):
            wait(full, parity=0)

    return kernel


def landed(awaits):
    """An arrival that waits for copies is performed later than it is issued."""

    @skeleton
    def kernel():
        full = mbarrier(count=3)
        go = mbarrier(count=1)
        ack = mbarrier(count=1)
        x = smem(2)
        with role("a", threads=1):
            cp_async(x[0])
            cp_arrive(full, noinc=True)
            arrive(go)
            wait(full, parity=0)
            cp_async(x[1])
            cp_arrive(full, noinc=True)
        with role("b", threads=1):
            arrive(full)
            wait(ack, parity=0)
            arrive(full)
        with role("d", threads=1):
            arrive(full)
            wait(go, parity=0)
            if awaits:
                wait(full, parity=0)
            arrive(ack)
            wait(full, parity=0)
            load(x[0])
            arrive(full)
            wait(full, parity=1)
            load(x[1])

    return kernel


def placed(cell, counted):
    """Two mbarriers in one place."""

    @skeleton
    def kernel():
        x = smem(4)
        if counted:
            full = mbarrier(count=1, at=x[0])
            empty = mbarrier(count=1, at=x[cell])
        else:
            full = mbarrier(at=x[0])
            empty = mbarrier(at=x[cell])
        with role("p", threads=1):
            if not counted:
                init(full, 1)
                init(empty, 1)
            arrive(full)
            wait(full, parity=0)
            arrive(empty)
            wait(empty, parity=0)

    return kernel


def ends(rounds):
    """Threads that end in the first round of a loop do nothing behind it."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        with role("p", threads=1):
            if rounds:
                for i in range(n):
                    exit()
            else:
                if n > 0:
                    exit()
            arrive(full)
        with role("c", threads=1):
            if rounds:
                wait(full, parity=0)
            else:
                if n == 0:
                    wait(full, parity=0)

    return kernel


def one_after_the_other(most):
    """A thread arrives on one mbarrier after the other, perhaps on more than there are."""

    @skeleton
    def kernel(n: size):
        require(n <= most)
        full = mbarrier(3, count=1)
        with role("a", threads=1):
            for i in range(n):
                arrive(full[i])

    return kernel


def goes_on(meets):
    """The first lane of a warp gives a slot back and goes round, or only when the others have left their wait, too."""

    @skeleton
    def kernel(n: size):
        full = mbarrier(count=1)
        empty = mbarrier(count=1)
        with role("p", threads=1):
            for i in range(n):
                wait(empty, parity=i + 1)
                arrive(full)
        with role("c", warps=1):
            for i in range(n):
                wait(full, parity=i)
                if meets:
                    with elect():
                        arrive(empty)
                else:
                    if lane == 0:
                        arrive(empty)

    return kernel


TWINS = [
    ("deadlock.cycle", goes_on(False), goes_on(True)),
    ("bounds", one_after_the_other(5), one_after_the_other(3)),
    ("mbar.parity_alias | deadlock.cycle", elects(64), elects(32)),
    ("deadlock.cycle", meets_first(31), meets_first(0)),
    ("deadlock.cycle", meets_in_part(16), meets_in_part(32)),
    ("deadlock.cycle", by_sizes(1), by_sizes(32)),
    ("mbar.reinit", twice_initialised(True), twice_initialised(False)),
    ("bounds", initialised_in_range(1), initialised_in_range(0)),
    ("bounds", one_of_each_warp(4), one_of_each_warp(2)),
    ("bounds", one_slot(1), one_slot(0)),
    ("race.raw", held_slot(1), held_slot(0)),
    ("mbar.tx_bytes", bytes_at_once(1048560), bytes_at_once(1048544)),
    ("mbar.init_unordered", told(True), told(False)),
    ("bar.divergence", everybody(True), everybody(False)),
    ("deadlock.cycle", first_lane(1), first_lane(0)),
    ("race.raw", landed(False), landed(True)),
    ("mbar.alias", placed(0, True), placed(1, True)),
    ("mbar.alias", placed(0, False), placed(1, False)),
    ("deadlock.cycle", ends(True), ends(False)),
    ("mbar.unobserved_phase", unobserved(False), unobserved(True)),
]
