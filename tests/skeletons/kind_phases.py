"""Parities, counts and bytes of mbarriers."""

from exogpu.skeleton import *

CLASS = "kind: phases"


def pipeline_state(first_parity):
    """Slot and parity as counters, the way pipeline objects keep them; the producer's first parity is right as 1."""

    @skeleton
    def ring(n: size):
        full = mbarrier(3, count=1)
        empty = mbarrier(3, count=4)
        x = smem(3)
        with role("load", threads=1):
            slot = 0
            phase = first_parity
            for i in range(n):
                wait(empty[slot], parity=phase)
                arrive(full[slot], tx=512)
                tma_load(x[slot], full[slot], bytes=512)
                slot += 1
                if slot == 3:
                    slot = 0
                    phase ^= 1
        with role("math", warps=4):
            slot = 0
            phase = 0
            for i in range(n):
                wait(full[slot], parity=phase)
                load(x[slot])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[slot])
                slot += 1
                if slot == 3:
                    slot = 0
                    phase ^= 1

    return ring


ok_state = pipeline_state(1)
bad_state = pipeline_state(0)


@skeleton
def bad_consumer_parity(n: size):
    """The consumer's first wait is for the phase before the first."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            tma_load(x[i % 2], full[i % 2], bytes=512)
    with role("math", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2 + 1)
            load(x[i % 2])
            proxy_fence()
            arrive(empty[i % 2])


@skeleton
def bad_no_wait(n: size):
    """The producer does not wait for slots."""
    full = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for i in range(n):
            arrive(full[i % 2], tx=512)
            tma_load(x[i % 2], full[i % 2], bytes=512)
    with role("math", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()


@skeleton
def bad_late_expect():
    """The arrival completes the phase before the bytes are expected."""
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        arrive(full)
        expect(full, 512)
        tma_load(x, full, bytes=512)
    with role("math", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def ok_early_expect():
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        expect(full, 512)
        tma_load(x, full, bytes=512)
        arrive(full)
    with role("math", threads=1):
        wait(full, parity=0)
        load(x)


@skeleton
def ok_mbarrier_for_all(n: size):
    """An mbarrier as a barrier of all threads: nobody gets a phase ahead."""
    met = mbarrier(count=128)
    x = smem(2, 128)
    with role("all", threads=128):
        for i in range(n):
            store(x[i % 2, tid])
            arrive(met)
            wait(met, parity=i)
            load(x[i % 2])


@skeleton
def bad_mbarrier_for_all(n: size):
    """One copy of what is exchanged is not enough."""
    met = mbarrier(count=128)
    x = smem(128)
    with role("all", threads=128):
        for i in range(n):
            store(x[tid])
            arrive(met)
            wait(met, parity=i)
            load(x)


@skeleton
def ok_two_releasers(n: size):
    """The first thread of each of two warpgroups releases for its warpgroup."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=2)
    x = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            tma_load(x[i % 2], full[i % 2], bytes=512)
    with role("math", threads=256):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            bar_sync(1 + tid // 128, 128)
            if tid % 128 == 0:
                arrive(empty[i % 2])


@skeleton
def bad_two_releasers(n: size):
    """One arrival is expected."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            tma_load(x[i % 2], full[i % 2], bytes=512)
    with role("math", threads=256):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            bar_sync(1 + tid // 128, 128)
            if tid % 128 == 0:
                arrive(empty[i % 2])


EXPECT = {
    "ok_state": "proved",
    "bad_state": "deadlock.cycle | mbar.parity_alias",
    "bad_consumer_parity": "race.raw | mbar.parity_alias | deadlock.cycle",
    "bad_no_wait": "race.war | race.waw | mbar.unobserved_phase | mbar.parity_alias",
    "bad_late_expect": "race.raw | mbar.tx_bytes | race.async_inflight",
    "ok_early_expect": "proved",
    "ok_mbarrier_for_all": "proved",
    "bad_mbarrier_for_all": "race.war",
    "ok_two_releasers": "proved",
    "bad_two_releasers": "mbar.count | mbar.unobserved_phase | race.war | mbar.parity_alias | deadlock.cycle",
}
