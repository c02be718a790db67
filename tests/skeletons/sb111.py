"""Warpgroups ask for more registers than the CTA has, and wait for them for ever.

Source: pytorch/helion pull request 3620; tile-ai/tilelang pull request 2559, issue 359; mlc-ai/TIRx-kernels 151.
"""

from exogpu.skeleton import *

CLASS = "maxnreg"


@skeleton
def buggy():
    """512 registers for each lane of four warpgroups; two want more, none gives any back."""
    launch(registers=128)
    done = mbarrier(count=2)
    with role("math_0", threads=128):
        maxnreg_inc(168)
        with elect():
            arrive(done)
    with role("math_1", threads=128):
        maxnreg_inc(168)
        with elect():
            arrive(done)
    with role("load", threads=128):
        wait(done, parity=0)
    with role("mma", threads=128):
        wait(done, parity=0)


def four_warpgroups(load_registers, mma_registers, math_registers):
    @skeleton
    def kernel():
        launch(registers=128)
        done = mbarrier(count=2)
        with role("math_0", threads=128):
            maxnreg_inc(math_registers)
            with elect():
                arrive(done)
        with role("math_1", threads=128):
            maxnreg_inc(math_registers)
            with elect():
                arrive(done)
        with role("load", threads=128):
            maxnreg_dec(load_registers)
            wait(done, parity=0)
        with role("mma", threads=128):
            maxnreg_dec(mma_registers)
            wait(done, parity=0)

    return kernel


fixed = four_warpgroups(80, 88, 168)
fixed_spare = four_warpgroups(32, 32, 160)
buggy_too_many = four_warpgroups(80, 88, 176)


def three_warpgroups(launched, load_registers, math_registers):
    """One warpgroup loads, two compute."""

    @skeleton
    def kernel(n: size):
        launch(registers=launched)
        full = mbarrier(2, count=1)
        empty = mbarrier(2, count=8)
        x = smem(2)
        with role("load", threads=128):
            maxnreg_dec(load_registers)
            with elect():
                for i in range(n):
                    wait(empty[i % 2], parity=i // 2 + 1)
                    arrive(full[i % 2], tx=4096)
                    tma_load(x[i % 2], full[i % 2], bytes=4096)
        with role("math", warps=8):
            maxnreg_inc(math_registers)
            for i in range(n):
                wait(full[i % 2], parity=i // 2)
                load(x[i % 2])
                proxy_fence()
                warp_sync()
                with elect():
                    arrive(empty[i % 2])

    return kernel


fixed_three = three_warpgroups(168, 40, 232)
buggy_three = three_warpgroups(168, 32, 240)
buggy_two_blocks = three_warpgroups(80, 24, 240)
"""A launch that leaves room for a second CTA has half of the registers."""


@skeleton
def buggy_late():
    """The balance is right, but registers are given back only by a warpgroup that waits for those who want them."""
    launch(registers=128)
    done = mbarrier(count=1)
    with role("math", threads=128):
        maxnreg_inc(160)
        with elect():
            arrive(done)
    with role("load", threads=128):
        wait(done, parity=0)
        maxnreg_dec(40)


@skeleton
def fixed_early():
    launch(registers=128)
    done = mbarrier(count=1)
    with role("math", threads=128):
        maxnreg_inc(160)
        with elect():
            arrive(done)
    with role("load", threads=128):
        maxnreg_dec(40)
        wait(done, parity=0)


@skeleton
def buggy_some_warps():
    """Only two warps of the warpgroup execute the instruction."""
    launch(registers=128)
    with role("math", threads=128):
        if warp < 2:
            maxnreg_inc(160)
        bar_sync(1, 128)
    with role("load", threads=128):
        maxnreg_dec(40)


@skeleton
def buggy_direction():
    """A decrease to more than the warpgroup has."""
    launch(registers=128)
    with role("math", threads=128):
        maxnreg_dec(160)
    with role("load", threads=128):
        maxnreg_dec(40)


EXPECT = {
    "buggy": "setmaxnreg.pool | deadlock.cycle",
    "fixed": "proved",
    "fixed_spare": "proved",
    "buggy_too_many": "setmaxnreg.pool | deadlock.cycle",
    "fixed_three": "proved",
    "buggy_three": "setmaxnreg.pool | deadlock.cycle",
    "buggy_two_blocks": "setmaxnreg.pool | deadlock.cycle",
    "buggy_late": "deadlock.cycle | setmaxnreg.pool",
    "fixed_early": "proved",
    "buggy_some_warps": "setmaxnreg.pool | bar.divergence | wgmma.convergence",
    "buggy_direction": "setmaxnreg.pool",
}
