"""The parameters of a launch as ctypes objects of the kernel's binary interface."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from exogpu.codegen import driver
from exogpu.codegen.errors import LaunchError
from exogpu.codegen.manifest import Manifest, Parameter, ScalarArgument, TensorArgument
from exogpu.codegen.runtime.arrays import ArrayView
from exogpu.codegen.runtime.binding import Bound, pitch_of
from exogpu.codegen.tensormap import MapRequest, problems
from exogpu.ir.numeric import convert, storage_dtype
from exogpu.ir.types import Scalar


def _tensor(manifest: Manifest, name: str) -> TensorArgument:
    return next(a for a in manifest.arguments if isinstance(a, TensorArgument) and a.name == name)


def parameter(manifest: Manifest, param: Parameter, bound: Bound) -> Any:
    """The parameter's value as a ctypes object."""
    match param.kind:
        case "map":
            return _map(_tensor(manifest, param.name), param, bound.arrays[param.name])
        case "pointer":
            return ctypes.c_uint64(bound.arrays[param.name].address)
        case "pitch":
            return ctypes.c_int64(_pitch(_tensor(manifest, param.name), bound.arrays[param.name]))
        case "size":
            return ctypes.c_int32(bound.sizes[param.name])
        case "scalar":
            scalar = next(a for a in manifest.arguments if isinstance(a, ScalarArgument) and a.name == param.name)
            return _scalar(scalar, bound.scalars[param.name])
        case _:
            raise LaunchError(f"the bundle has an unknown kind of parameter, `{param.kind}`")


def _pitch(tensor: TensorArgument, array: ArrayView) -> int:
    return pitch_of(array, max(1, tensor.alignment // array.dtype.bytes))


def _scalar(scalar: ScalarArgument, value: Any) -> Any:
    dtype = Scalar(scalar.dtype)
    data = convert(np.asarray(value, np.float64 if dtype.is_float else np.int64), dtype).astype(storage_dtype(dtype))
    return (ctypes.c_char * dtype.bytes).from_buffer_copy(data.tobytes())


def _map(tensor: TensorArgument, param: Parameter, array: ArrayView) -> Any:
    item = array.dtype.bytes
    steps = list(array.strides[:-1])
    if len(array.shape) == 2:
        steps = [_pitch(tensor, array)]
    strides = tuple(step * item for step in steps)
    dtype = Scalar(tensor.dtype)
    request = MapRequest(tensor.name, dtype, array.address, array.shape, strides, param.box, param.swizzle)
    found = list(problems(request))
    if found:
        raise LaunchError("; ".join(found))
    return (ctypes.c_char * 128).from_buffer_copy(driver.encode_map(request))
