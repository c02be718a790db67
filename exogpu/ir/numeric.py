"""Scalar types in NumPy: storage, computation and rounding.

A value is computed in `f64`, `f32` or `i32`: an operand of a narrower floating-point type is first converted to
f32 and an operand of a narrower integer type to i32, as the GPU does, and a binary operation takes the wider of
its operands' types (i32 < f32 < f64; a literal adapts to the other operand). Values are rounded to their storage
type by stores and casts only:

* floating point: to nearest, ties to even, straight from the computed value; overflow gives an infinity in f64,
  f32, tf32, f16 and bf16, and the largest finite value in e4m3 and e5m2 (PTX ISA, cvt.satfinite);
* tf32: f32 with the low 13 mantissa bits rounded away;
* floating point to integer: to nearest even, clamped to the range; NaN gives 0 (PTX ISA, cvt.rni);
* integer to a narrower integer: the low bits.

With `precise` every floating-point type is stored and computed in f64 without rounding: the f64 reference.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from exogpu.ir.types import Scalar

Array = NDArray[Any]

_STORAGE: dict[Scalar, np.dtype[Any]] = {
    Scalar.F64: np.dtype(np.float64),
    Scalar.F32: np.dtype(np.float32),
    Scalar.TF32: np.dtype(np.float32),
    Scalar.F16: np.dtype(np.float16),
    Scalar.BF16: np.dtype(ml_dtypes.bfloat16),
    Scalar.E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    Scalar.E5M2: np.dtype(ml_dtypes.float8_e5m2),
    Scalar.I32: np.dtype(np.int32),
    Scalar.I8: np.dtype(np.int8),
    Scalar.U8: np.dtype(np.uint8),
}

WIDER_STORAGE = frozenset((Scalar.TF32, Scalar.E5M2))
"""Types whose storage has more numbers than a store leaves there: an argument's elements are rounded to those, so that
copies of them are exact."""

_LARGEST = {Scalar.E4M3: 448.0, Scalar.E5M2: 57344.0}
_TF32_DROPPED = 13
_POISON_INT = {Scalar.I32: -0x5A5A5A5A, Scalar.I8: -0x5A, Scalar.U8: 0xA5}


def storage_dtype(scalar: Scalar) -> np.dtype[Any]:
    """The NumPy type of a tensor argument of this element type (tf32 lies in float32)."""
    return _STORAGE[scalar]


def compute_dtype(scalar: Scalar, precise: bool = False) -> np.dtype[Any]:
    """The NumPy type that values of this element type are computed in."""
    if not scalar.is_float:
        return np.dtype(np.int32)
    return np.dtype(np.float64 if precise or scalar is Scalar.F64 else np.float32)


def poison(scalar: Scalar) -> float | int:
    """What an element holds before its first write: NaN, or an improbable integer."""
    return float("nan") if scalar.is_float else _POISON_INT[scalar]


def convert(value: Array, scalar: Scalar, precise: bool = False) -> Array:
    """`value` rounded to a number that `scalar` can store, in the type it is computed in."""
    if not scalar.is_float:
        return _to_integer(value, scalar)
    if precise:
        return value.astype(np.float64, copy=False)
    match scalar:
        case Scalar.F64 | Scalar.F32:
            return value.astype(_STORAGE[scalar], copy=False)
        case Scalar.TF32:
            return _to_tf32(_to_odd(value))
        case Scalar.E4M3 | Scalar.E5M2:
            value = np.clip(value, -_LARGEST[scalar], _LARGEST[scalar])
    return _to_odd(value).astype(_STORAGE[scalar]).astype(np.float32)


def elements(data: Array, scalar: Scalar) -> Array:
    """The elements of an argument in its storage type, each a number of its element type."""
    if scalar not in WIDER_STORAGE:
        return data
    return convert(data.astype(compute_dtype(scalar)), scalar).astype(_STORAGE[scalar])


def is_number(value: float, scalar: Scalar) -> bool:
    """Whether a store leaves a number as it is."""
    return bool(convert(np.asarray(value), scalar) == value)


def _to_odd(value: Array) -> Array:
    """f64 to f32, rounding to odd: rounding the result again to a type at least two bits narrower is exact."""
    if value.dtype != np.float64:
        return value.astype(np.float32, copy=False)
    nearest = value.astype(np.float32)
    outside = np.abs(nearest.astype(np.float64)) > np.abs(value)
    truncated = np.where(outside, np.nextafter(nearest, np.float32(0)), nearest)
    inexact = np.isfinite(value) & (truncated.astype(np.float64) != value)
    odd: Array = np.where(inexact, truncated.view(np.uint32) | np.uint32(1), truncated.view(np.uint32))
    return odd.astype(np.uint32).view(np.float32)


def _to_tf32(value: Array) -> Array:
    bits = value.view(np.uint32)
    half = np.uint32((1 << (_TF32_DROPPED - 1)) - 1)
    lowest = (bits >> np.uint32(_TF32_DROPPED)) & np.uint32(1)
    rounded = (bits + half + lowest) & ~np.uint32((1 << _TF32_DROPPED) - 1)
    return np.where(np.isfinite(value), rounded.astype(np.uint32).view(np.float32), value)


def _to_integer(value: Array, scalar: Scalar) -> Array:
    if value.dtype.kind == "f":
        info = np.iinfo(_STORAGE[scalar])
        whole = np.clip(np.rint(value.astype(np.float64)), info.min, info.max)
        return np.where(np.isnan(whole), 0, whole).astype(np.int32)
    return value.astype(_STORAGE[scalar]).astype(np.int32)
