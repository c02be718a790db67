"""A tile is written with one swizzle and read with another.

Source: deepseek-ai/DeepGEMM issues 433 and 379.
"""

from exogpu.skeleton import *

CLASS = "swizzle"

# Chunks of 16 bytes are numbered through: eight in 128 bytes. A swizzle of 32 bytes adds bit 3 of a chunk's number to
# bit 0 without carry, one of 128 bytes adds bits 3 to 5 to bits 0 to 2.


@skeleton
def buggy():
    """The reader's 128-byte pattern at the chunks of a tile with 32-byte swizzle."""
    full = mbarrier(count=1)
    x = smem(64)
    with role("load", threads=1):
        arrive(full, tx=1024)
        tma_load(x, full, bytes=1024)
    with role("reader", warps=1):
        wait(full, parity=0)
        for i in range(64):
            check(
                i // 8 * 8 + (i + i // 8) % 2 + 2 * ((i // 2 + i // 16) % 2) + 4 * ((i // 4 + i // 32) % 2)
                == i // 2 * 2 + (i + i // 8) % 2,
                "the chunk that is read is the one that was written",
            )
        load(x)


@skeleton
def fixed():
    full = mbarrier(count=1)
    x = smem(64)
    with role("load", threads=1):
        arrive(full, tx=1024)
        tma_load(x, full, bytes=1024)
    with role("reader", warps=1):
        wait(full, parity=0)
        for i in range(64):
            check(
                i // 2 * 2 + (i + i // 8) % 2 == i - i % 2 + (i % 2 + i // 8 % 2) % 2,
                "the chunk that is read is the one that was written",
            )
        load(x)


@skeleton
def fixed_first_rows():
    """In the first 128 bytes no pattern moves anything."""
    with role("reader", warps=1):
        for i in range(8):
            check(
                i // 8 * 8 + (i + i // 8) % 2 + 2 * ((i // 2 + i // 16) % 2) + 4 * ((i // 4 + i // 32) % 2)
                == i // 2 * 2 + (i + i // 8) % 2,
                "the chunk that is read is the one that was written",
            )


@skeleton
def buggy_unwritten(tiles: size):
    """The reader's pattern leaves the tile: a tile of three rows, the pattern for four."""
    x = smem(3, 8)
    with role("reader", warps=1):
        for i in range(tiles):
            load(x[i % 4])


@skeleton
def fixed_unwritten(tiles: size):
    x = smem(3, 8)
    with role("reader", warps=1):
        for i in range(tiles):
            load(x[i % 3])


EXPECT = {
    "buggy": "seq.mismatch",
    "fixed": "proved",
    "fixed_first_rows": "proved",
    "buggy_unwritten": "bounds",
    "fixed_unwritten": "proved",
}
