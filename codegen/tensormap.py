"""Tensor maps: every constraint of cuTensorMapEncodeTiled checked here, because the driver gives no reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.ir.types import Scalar

MAX_RANK = 5
MAX_DIM = 2**32
MAX_PITCH = 2**40
MAX_BOX = 256
UNIT = 16

DATA_TYPES = {
    Scalar.U8: 0,
    Scalar.I8: 0,
    Scalar.E4M3: 0,
    Scalar.E5M2: 0,
    Scalar.I32: 3,
    Scalar.F16: 6,
    Scalar.F32: 7,
    Scalar.F64: 8,
    Scalar.BF16: 9,
    Scalar.TF32: 11,
}
"""CUtensorMapDataType; 8-bit types travel as bytes, tf32 is rounded by the copy."""

SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
"""CUtensorMapSwizzle by swizzle width in bytes."""

PROMOTION_256B = 3


@dataclass(frozen=True, slots=True)
class MapRequest:
    """A tensor map to encode: dimensions and box from the outermost, byte strides of all but the last dimension."""

    tensor: str
    dtype: Scalar
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


def problems(request: MapRequest) -> Iterator[str]:
    """Every violated constraint, as sentences (CUDA driver API, cuTensorMapEncodeTiled)."""
    name = f"`{request.tensor}`"
    if not 1 <= len(request.dims) <= MAX_RANK or len(request.dims) != len(request.box):
        yield f"{name} has {len(request.dims)} dimensions, the map {len(request.box)}; 1 to {MAX_RANK} are possible"
        return
    yield from _tensor_problems(request, name)
    yield from _box_problems(request, name)


def _tensor_problems(request: MapRequest, name: str) -> Iterator[str]:
    if request.dtype not in DATA_TYPES:
        yield f"{name} has element type {request.dtype.value}, which TMA does not copy"
    if request.address % UNIT:
        yield f"{name} starts at address {request.address:#x}, not a multiple of {UNIT} bytes"
    for dim, extent in enumerate(request.dims):
        if not 1 <= extent <= MAX_DIM:
            yield f"dimension {dim} of {name} is {extent}; TMA takes 1 to 2^32"
    for dim, stride in enumerate(request.strides):
        if stride % UNIT:
            yield f"rows of dimension {dim} of {name} are {stride} bytes apart, not a multiple of {UNIT}"
        if not 0 < stride < MAX_PITCH:
            yield f"rows of dimension {dim} of {name} are {stride} bytes apart; TMA takes less than 2^40"


def _box_problems(request: MapRequest, name: str) -> Iterator[str]:
    for dim, extent in enumerate(request.box):
        if not 1 <= extent <= MAX_BOX:
            yield f"the box of {name} has extent {extent} in dimension {dim}; TMA takes 1 to {MAX_BOX}"
    inner = request.box[-1] * request.dtype.bytes
    if inner % UNIT:
        yield f"rows of the box of {name} are {inner} bytes, not a multiple of {UNIT}"
    if request.swizzle not in SWIZZLES:
        yield f"the box of {name} has swizzle {request.swizzle}; 0, 32, 64 and 128 exist"
    elif request.swizzle and inner > request.swizzle:
        yield f"rows of the box of {name} are {inner} bytes, more than the swizzle of {request.swizzle}"
