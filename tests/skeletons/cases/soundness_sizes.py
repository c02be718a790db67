"""Faults that only some sizes or some iterations show, and some more that a proof once overlooked, each beside a twin
that differs in one place."""

from exogpu.skeleton import *


def starts(else_too):
    """A barrier is initialised for some sizes, and used for all."""

    @skeleton
    def kernel(n: size):
        b = mbarrier()
        with role("p", threads=1):
            if n < 2:
                init(b, 1)
                arrive(b)
            else:
                if else_too:
                    init(b, 1)
                arrive(b)
            wait(b, parity=0)

    return kernel


def bytes_by_size(other):
    """Another statement announces bytes for some sizes, and not as many."""

    @skeleton
    def kernel(n: size):
        x = smem()
        b = mbarrier(count=2)
        with role("p", threads=1):
            if n < 2:
                arrive(b, tx=48 - other)
            for j in range(1 + min(n // 2, 1)):
                arrive(b, tx=other)
            tma_load(x, b, bytes=48)
        with role("c", threads=1):
            wait(b, parity=0)

    return kernel


def a_phase_early(ready):
    """For some sizes the bytes of the next phase come while it is not yet announced."""

    @skeleton
    def kernel(n: size):
        x = smem(4)
        b = mbarrier(count=1)
        with role("p", threads=1):
            arrive(b, tx=16)
            if n < 2:
                tma_load(x[0], b, bytes=16)
                wait(b, parity=0)
            else:
                tma_load(x[1], b, bytes=16)
                wait(b, parity=0)
                if ready:
                    arrive(b, tx=16)
                tma_load(x[2], b, bytes=16)
                if ready:
                    wait(b, parity=1)

    return kernel


def ends_in_a_loop(inside):
    """A thread that ends in the first iteration does not execute the second."""

    @skeleton
    def kernel(n: size):
        b = mbarrier(2, 1, count=1)
        with role("p", threads=1):
            for k in range(2):
                arrive(b[k, 0])
                if inside:
                    if n >= 2:
                        exit()
            exit()
        with role("c", threads=1):
            wait(b[1, 0], 0)

    return kernel


def meets_by_size(times):
    """Which barrier is meant depends on a size, and is another one for the other role."""

    @skeleton
    def kernel(n: size):
        with role("p", threads=32):
            bar_sync(1 + n % 4 // 2, 64)
        with role("c", threads=32):
            bar_sync(1 + times * (n % 4 // 2), 64)

    return kernel


def meets_in_turn(times):
    """Likewise in a loop, so that the first iterations name the same one."""

    @skeleton
    def kernel(n: size):
        with role("p", threads=32):
            for i in range(n):
                bar_sync(1 + i % 4 // 2, 64)
        with role("c", threads=32):
            for i in range(n):
                bar_sync(1 + times * (i % 4 // 2), 64)

    return kernel


def elects_any(who):
    """What the elected lane does meets what a lane of its own did, unless that is the elected one for sure."""

    @skeleton
    def kernel(n: size):
        x = smem()
        with role("p", threads=32):
            me = tid
            if me == 0:
                store(x)
            with elect(any=who):
                proxy_fence()
                tma_store(x)

    return kernel


def checks_any(who):
    @skeleton
    def kernel(n: size):
        with role("p", threads=32), elect(any=who):
            if n >= 2:
                check(tid == 0, "the first lane")

    return kernel


def announced_afar(far):
    """The peer's phase waits for bytes that are moved elsewhere."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        x = smem()
        b = mbarrier(count=1)
        with role("p", threads=1, ctas=0):
            if n >= 2:
                expect(peer(b, far), 16)
                tma_load(x, b, bytes=16)
                arrive(b)
                wait(b, parity=0)

    return kernel


def registers_read(first):
    """A register that a thread reads after the wgmma_fence is not the wgmma's again without another."""

    @skeleton
    def kernel(n: size):
        x = smem()
        acc = registers()
        a = registers()
        with role("p", warps=4):
            store(a)
            if first:
                load(a)
                wgmma_fence()
            else:
                wgmma_fence()
                load(a)
            wgmma(acc, a, x)
            wgmma_commit()
            wgmma_wait(0)

    return kernel


def registers_again(fences):
    """Nor is an accumulator that has been read since its wgmma."""

    @skeleton
    def kernel(n: size):
        x = smem()
        acc = registers()
        with role("p", warps=4):
            wgmma_fence()
            for i in range(n):
                wgmma(acc, x)
                wgmma_commit()
                wgmma_wait(0)
                load(acc)
                if fences:
                    wgmma_fence()

    return kernel


def registers_in_flight(early):
    """An accumulator is read when its wgmma is over."""

    @skeleton
    def kernel(n: size):
        x = smem()
        acc = registers()
        with role("p", warps=4):
            wgmma_fence()
            wgmma(acc, x)
            wgmma_commit()
            if early:
                load(acc)
            wgmma_wait(0)
            load(acc)

    return kernel


def stores_afar(peers):
    """The cell that an asynchronous store fills is the peer's, not the thread's own."""

    @skeleton
    def kernel(n: size):
        cluster(2)
        x = smem()
        b = mbarrier(count=1)
        with role("p", threads=1, ctas=0):
            st_async(peer(x, 1), peer(b, 1), bytes=16)
        with role("c", threads=1, ctas=1):
            arrive(b, tx=16)
            wait(b, parity=0)
            load(x)
        with role("d", threads=1, ctas=1 - peers):
            load(x)

    return kernel


def counts_trips(from_zero):
    """A loop without trips steps no counter."""

    @skeleton
    def kernel(n: size):
        with role("p", threads=1):
            c = 0
            for i in range(n - 3):
                c += 1
            if from_zero:
                check(c == max(n - 3, 0), "as many as trips")
            else:
                check(c == n - 3, "as many as trips")

    return kernel


def signals_nothing(value):
    """Who waits for a flag to be at least 0 waits for nobody."""

    @skeleton
    def kernel(n: size):
        x = gmem(1)
        f = flags()
        with role("p", threads=1):
            store(x)
            signal(f, 1)
        with role("c", threads=1):
            spin(f, value)
            load(x)

    return kernel


def none_at_all(most):
    """Preconditions that no size satisfies, or one does."""

    @skeleton
    def kernel(n: size):
        require(n >= 5)
        require(n < most)
        b = mbarrier(count=1)
        with role("p", threads=1):
            wait(b, parity=0)

    return kernel


def none_for_parity(more):
    @skeleton
    def kernel(n: size, m: size):
        require(2 * n == 2 * m + more)
        b = mbarrier(count=1)
        with role("p", threads=1):
            wait(b, parity=0)

    return kernel


IMPOSSIBLE = [(none_at_all(5), none_at_all(6)), (none_for_parity(1), none_for_parity(2))]


def extents(required):
    """Global memory of fewer cells than none at small sizes, which is no precondition."""

    @skeleton
    def kernel(n: size):
        if required:
            require(n >= 4)
        y = gmem(n - 4)
        x = smem()
        with role("a", threads=2):
            if n < 4:
                store(x)

    return kernel


def result_of_one_cell(always):
    @skeleton
    def kernel(n: size):
        y = gmem(result=True)
        with role("p", threads=1):
            if n > 0:
                store(y)
            else:
                if always:
                    store(y)

    return kernel


TWINS = [
    ("seq.mismatch", result_of_one_cell(False), result_of_one_cell(True)),
    ("mbar.uninit", starts(False), starts(True)),
    ("mbar.tx_bytes", bytes_by_size(32), bytes_by_size(24)),
    ("mbar.tx_bytes", a_phase_early(False), a_phase_early(True)),
    ("deadlock.cycle", ends_in_a_loop(True), ends_in_a_loop(False)),
    ("deadlock.cycle", meets_by_size(2), meets_by_size(1)),
    ("deadlock.cycle", meets_in_turn(2), meets_in_turn(1)),
    ("race.raw", elects_any(True), elects_any(False)),
    ("seq.mismatch", checks_any(True), checks_any(False)),
    ("mbar.tx_bytes", announced_afar(1), announced_afar(0)),
    ("wgmma.reg_fence", registers_read(False), registers_read(True)),
    ("wgmma.reg_fence", registers_again(False), registers_again(True)),
    ("wgmma.reg_inflight", registers_in_flight(True), registers_in_flight(False)),
    ("race.raw", stores_afar(0), stores_afar(1)),
    ("seq.mismatch", counts_trips(False), counts_trips(True)),
    ("race.raw", signals_nothing(0), signals_nothing(1)),
    ("race.waw", extents(False), extents(True)),
]
