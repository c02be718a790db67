"""Loops over tiles around a ring: what runs on, what starts again, first and last trips, consumers in turns."""

from exogpu.skeleton import *

CLASS = "kind: tiles"


@skeleton
def ok_tiles(tiles: size, n: size):
    """A persistent kernel: the pipeline runs on from tile to tile."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    x = smem(2)
    with role("load", threads=1):
        c = 0
        for t in range(tiles):
            for k in range(n):
                wait(empty[c % 2], parity=c // 2 + 1)
                arrive(full[c % 2], tx=512)
                tma_load(x[c % 2], full[c % 2], bytes=512)
                c += 1
    with role("math", warps=4):
        c = 0
        for t in range(tiles):
            for k in range(n):
                wait(full[c % 2], parity=c // 2)
                load(x[c % 2])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[c % 2])
                c += 1


@skeleton
def bad_tiles(tiles: size, n: size):
    """Slot and parity start again with every tile, the barriers do not."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    x = smem(2)
    with role("load", threads=1):
        for t in range(tiles):
            for k in range(n):
                wait(empty[k % 2], parity=k // 2 + 1)
                arrive(full[k % 2], tx=512)
                tma_load(x[k % 2], full[k % 2], bytes=512)
    with role("math", warps=4):
        for t in range(tiles):
            for k in range(n):
                wait(full[k % 2], parity=k // 2)
                load(x[k % 2])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[k % 2])


@skeleton
def ok_tiles_of_four(tiles: size):
    """Starting again is right if a tile has as many trips as two rounds of the ring."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=4)
    x = smem(2)
    with role("load", threads=1):
        for t in range(tiles):
            for k in range(4):
                wait(empty[k % 2], parity=k // 2 + 1)
                arrive(full[k % 2], tx=512)
                tma_load(x[k % 2], full[k % 2], bytes=512)
    with role("math", warps=4):
        for t in range(tiles):
            for k in range(4):
                wait(full[k % 2], parity=k // 2)
                load(x[k % 2])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[k % 2])


@skeleton
def ok_no_trip(n: size):
    """The epilogue waits only if something was loaded."""
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        if n >= 1:
            arrive(full, tx=512)
            tma_load(x, full, bytes=512)
    with role("math", warps=4):
        if n >= 1:
            wait(full, parity=0)
            load(x)


@skeleton
def bad_no_trip(n: size):
    """Without a trip nothing is loaded."""
    full = mbarrier(count=1)
    x = smem()
    with role("load", threads=1):
        if n >= 1:
            arrive(full, tx=512)
            tma_load(x, full, bytes=512)
    with role("math", warps=4):
        wait(full, parity=0)
        load(x)


@skeleton
def bad_last_tile(n: size):
    """The last tile is smaller than what is expected."""
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            arrive(full[i % 2], tx=512)
            if i + 1 < n:
                tma_load(x[i % 2], full[i % 2], bytes=512)
            else:
                tma_load(x[i % 2], full[i % 2], bytes=256)
    with role("math", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            arrive(empty[i % 2])


@skeleton
def ok_last_tile(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=1)
    x = smem(2)
    with role("load", threads=1):
        for i in range(n):
            wait(empty[i % 2], parity=i // 2 + 1)
            if i + 1 < n:
                arrive(full[i % 2], tx=512)
                tma_load(x[i % 2], full[i % 2], bytes=512)
            else:
                arrive(full[i % 2], tx=256)
                tma_load(x[i % 2], full[i % 2], bytes=256)
    with role("math", threads=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            arrive(empty[i % 2])


@skeleton
def bad_turns(tiles: size, n: size):
    """Two consumers take tiles in turns. Each counts the other's slots, but need not wait for them: it can be ahead."""
    full = mbarrier(3, count=1)
    empty = mbarrier(3, count=1)
    x = smem(3)
    with role("load", threads=1):
        c = 0
        for t in range(tiles):
            for k in range(n):
                wait(empty[c % 3], parity=c // 3 + 1)
                arrive(full[c % 3], tx=512)
                tma_load(x[c % 3], full[c % 3], bytes=512)
                c += 1
    with role("even", warps=1):
        c = 0
        for t in range(tiles):
            for k in range(n):
                if t % 2 == 0:
                    wait(full[c % 3], parity=c // 3)
                    load(x[c % 3])
                    proxy_fence()
                    warp_sync()
                    with elect():
                        arrive(empty[c % 3])
                c += 1
    with role("odd", warps=1):
        c = 0
        for t in range(tiles):
            for k in range(n):
                if t % 2 == 1:
                    wait(full[c % 3], parity=c // 3)
                    load(x[c % 3])
                    proxy_fence()
                    warp_sync()
                    with elect():
                        arrive(empty[c % 3])
                c += 1


@skeleton
def ok_turns(tiles: size, n: size):
    """A barrier passes the turn on: a consumer starts a tile when the other one has got through the tile before."""
    full = mbarrier(3, count=1)
    empty = mbarrier(3, count=1)
    x = smem(3)
    with role("load", threads=1):
        c = 0
        for t in range(tiles):
            for k in range(n):
                wait(empty[c % 3], parity=c // 3 + 1)
                arrive(full[c % 3], tx=512)
                tma_load(x[c % 3], full[c % 3], bytes=512)
                c += 1
    with role("even", warps=1):
        c = 0
        for t in range(tiles):
            if t % 2 == 0:
                if t >= 1:
                    bar_sync(1, 64)
            for k in range(n):
                if t % 2 == 0:
                    wait(full[c % 3], parity=c // 3)
                    load(x[c % 3])
                    proxy_fence()
                    warp_sync()
                    with elect():
                        arrive(empty[c % 3])
                c += 1
            if t % 2 == 0:
                if t + 1 < tiles:
                    bar_arrive(2, 64)
    with role("odd", warps=1):
        c = 0
        for t in range(tiles):
            if t % 2 == 1:
                bar_sync(2, 64)
            for k in range(n):
                if t % 2 == 1:
                    wait(full[c % 3], parity=c // 3)
                    load(x[c % 3])
                    proxy_fence()
                    warp_sync()
                    with elect():
                        arrive(empty[c % 3])
                c += 1
            if t % 2 == 1:
                if t + 1 < tiles:
                    bar_arrive(1, 64)


EXPECT = {
    "ok_tiles": "proved",
    "bad_tiles": "mbar.parity_alias | mbar.count | mbar.unobserved_phase | deadlock.cycle | race.raw | race.war",
    "ok_tiles_of_four": "proved",
    "ok_no_trip": "proved",
    "bad_no_trip": "deadlock.cycle | mbar.count",
    "bad_last_tile": "mbar.tx_bytes | deadlock.cycle",
    "ok_last_tile": "proved",
    "bad_turns": "race.raw | race.war | mbar.parity_alias | deadlock.cycle",
    "ok_turns": "proved",
}
