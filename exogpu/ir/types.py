"""Scalar types and memories of the IR."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Scalar(enum.Enum):
    """A data scalar type; `bits` is its storage size."""

    F64 = "f64"
    F32 = "f32"
    TF32 = "tf32"
    F16 = "f16"
    BF16 = "bf16"
    E4M3 = "e4m3"
    E5M2 = "e5m2"
    I32 = "i32"
    I8 = "i8"
    U8 = "u8"

    @property
    def bits(self) -> int:
        """Storage bits (tf32 is stored in 32)."""
        return _BITS[self]

    @property
    def bytes(self) -> int:
        """Storage bytes."""
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        """True for the floating-point types."""
        return self not in (Scalar.I32, Scalar.I8, Scalar.U8)


_BITS = {
    Scalar.F64: 64,
    Scalar.F32: 32,
    Scalar.TF32: 32,
    Scalar.F16: 16,
    Scalar.BF16: 16,
    Scalar.E4M3: 8,
    Scalar.E5M2: 8,
    Scalar.I32: 32,
    Scalar.I8: 8,
    Scalar.U8: 8,
}


@dataclass(frozen=True, slots=True)
class Gmem:
    """Global memory: a row-major argument tensor whose last dimension is contiguous."""


@dataclass(frozen=True, slots=True)
class Smem:
    """Shared memory of a CTA.

    `swizzle` is 0, 32, 64 or 128 bytes: rows of the last dimension are XOR-swizzled as TMA and wgmma do
    (PTX ISA, shared-memory matrix layouts). `ring` is the number of physical slots: the n-th execution of
    the allocation lives in slot n mod ring. Buffers of one `pool` share storage, each `offset` bytes from its start.
    """

    swizzle: int = 0
    ring: int = 1
    pool: str | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Rmem:
    """Registers. The first `threads` dimensions are thread coordinates: the element's owner is the thread
    whose index inside the allocating collective is their row-major linearisation. 0 = private to one thread."""

    threads: int = 0


@dataclass(frozen=True, slots=True)
class WgmmaD:
    """wgmma accumulator registers `[warpgroups, 64, N]` in the D-fragment layout (PTX ISA, wgmma); the
    first dimension is the warpgroup's index inside its role."""


@dataclass(frozen=True, slots=True)
class WgmmaA:
    """wgmma A-operand registers `[warpgroups, 64, K]` of a 16-bit type in the A-fragment layout (PTX ISA, wgmma); the
    first dimension is the warpgroup's index inside its role."""


Memory = Gmem | Smem | Rmem | WgmmaD | WgmmaA

ALLOCATED = (Smem, Rmem, WgmmaD, WgmmaA)
"""Memories in which procedures allocate buffers."""

FRAGMENTS = (WgmmaD, WgmmaA)
"""Memories of wgmma's register operands, which wgmma accesses asynchronously."""
