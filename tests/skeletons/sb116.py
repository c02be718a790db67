"""An expert's number times the size of its matrix is computed in 32 bits.

Source: deepspeedai/DeepSpeed pull request 8261; deepseek-ai/DeepGEMM pull request 226.
"""

from exogpu.skeleton import *

CLASS = "index"

MATRIX = 4096 * 14336
"""Elements of one expert's matrix: 37 of them are more than 2**31."""


@skeleton
def buggy(experts: size):
    require(experts <= 64)
    with role("all", warps=1):
        for e in range(experts):
            check(e * MATRIX < 2147483648, "the offset fits 32 bits")


@skeleton
def fixed(experts: size):
    require(experts <= 64)
    with role("all", warps=1):
        for e in range(experts):
            check(e * MATRIX < 9223372036854775808, "the offset fits 64 bits")


@skeleton
def fixed_few(experts: size):
    """The check of the host: so many experts are served."""
    require(experts <= 37)
    with role("all", warps=1):
        for e in range(experts):
            check(e * MATRIX < 2147483648, "the offset fits 32 bits")


@skeleton
def buggy_any_expert(n: size):
    """The experts come from data."""
    with role("all", warps=1):
        for t in range(n):
            check(unknown("expert", t, below=64) * MATRIX < 2147483648, "the offset fits 32 bits")


@skeleton
def fixed_any_expert(n: size):
    with role("all", warps=1):
        for t in range(n):
            check(unknown("expert", t, below=37) * MATRIX < 2147483648, "the offset fits 32 bits")


@skeleton
def buggy_wrapped(experts: size):
    """The access itself, in an address of 8 bits: the product wraps, and the offset is negative."""
    require(experts <= 12)
    b = gmem(experts, 16)
    flat = gmem(192)
    with role("all", warps=1):
        for e in range(experts):
            load(b[e])
            load(flat[(16 * e + 128) % 256 - 128])


@skeleton
def fixed_wrapped(experts: size):
    require(experts <= 8)
    b = gmem(experts, 16)
    flat = gmem(192)
    with role("all", warps=1):
        for e in range(experts):
            load(b[e])
            load(flat[(16 * e + 128) % 256 - 128])


EXPECT = {
    "buggy": "seq.mismatch",
    "fixed": "proved",
    "fixed_few": "proved",
    "buggy_any_expert": "seq.mismatch",
    "fixed_any_expert": "proved",
    "buggy_wrapped": "bounds",
    "fixed_wrapped": "proved",
}
