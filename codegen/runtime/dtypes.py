"""Names of element types in the array libraries, and their sizes."""

from __future__ import annotations

from exogpu.ir.types import Scalar

NUMPY_NAMES = {
    "float64": Scalar.F64,
    "float32": Scalar.F32,
    "float16": Scalar.F16,
    "bfloat16": Scalar.BF16,
    "float8_e4m3fn": Scalar.E4M3,
    "float8_e5m2": Scalar.E5M2,
    "int32": Scalar.I32,
    "int8": Scalar.I8,
    "uint8": Scalar.U8,
}
"""By NumPy's name (with ml_dtypes)."""

TORCH_NAMES = {f"torch.{name}": dtype for name, dtype in NUMPY_NAMES.items()}
"""By the text of PyTorch's type."""

TYPESTR_NAMES = {
    "<f8": Scalar.F64,
    "<f4": Scalar.F32,
    "<f2": Scalar.F16,
    "<i4": Scalar.I32,
    "|i1": Scalar.I8,
    "|u1": Scalar.U8,
}
"""By the type string of the CUDA array interface."""

DLPACK_NAMES = {
    (2, 64): Scalar.F64,
    (2, 32): Scalar.F32,
    (2, 16): Scalar.F16,
    (4, 16): Scalar.BF16,
    (10, 8): Scalar.E4M3,
    (12, 8): Scalar.E5M2,
    (0, 32): Scalar.I32,
    (0, 8): Scalar.I8,
    (1, 8): Scalar.U8,
}
"""By DLPack type code and bits (dlpack.h 1.1)."""


def stored_as(dtype: Scalar) -> Scalar:
    """The type of arrays that hold `dtype`: tf32 is stored in f32."""
    return Scalar.F32 if dtype is Scalar.TF32 else dtype
