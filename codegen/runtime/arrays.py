"""Arrays of PyTorch, CuPy, JAX and NumPy as one plain view."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.codegen.errors import LaunchError
from exogpu.codegen.runtime import dlpack
from exogpu.codegen.runtime.dtypes import DLPACK_NAMES, NUMPY_NAMES, TORCH_NAMES, TYPESTR_NAMES
from exogpu.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An array: address of its first element, shape, strides in elements, device ordinal (None if it is not told).

    `host` is the array itself if it lies in host memory. `owner` keeps device memory alive.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Scalar
    device: int | None
    writable: bool
    host: NDArray[Any] | None = None
    owner: object = None


def view(name: str, array: Any) -> ArrayView:
    """The view of an argument; LaunchError if it is no array that a kernel can use."""
    if isinstance(array, np.ndarray):
        return _numpy(name, array)
    if _module(array) == "torch":
        return _torch(name, array)
    if hasattr(array, "block_until_ready"):
        array.block_until_ready()  # JAX computes on a stream that it does not show
    interface = getattr(array, "__cuda_array_interface__", None)
    if isinstance(interface, dict) and interface["typestr"] in TYPESTR_NAMES:
        return _interface(name, array, interface)
    if hasattr(array, "__dlpack__"):
        return _dlpack(name, array)
    raise LaunchError(f"`{name}` is a {type(array).__name__}, not an array of PyTorch, CuPy, JAX or NumPy")


def _module(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def _numpy(name: str, array: NDArray[Any]) -> ArrayView:
    dtype = NUMPY_NAMES.get(array.dtype.name)
    if dtype is None or not array.dtype.isnative:
        raise LaunchError(f"`{name}` has element type {array.dtype}, which no kernel takes")
    strides = tuple(s // array.itemsize for s in array.strides)
    return ArrayView(0, array.shape, strides, dtype, None, array.flags.writeable, array)


def _torch(name: str, tensor: Any) -> ArrayView:
    dtype = TORCH_NAMES.get(str(tensor.dtype))
    if dtype is None:
        raise LaunchError(f"`{name}` has element type {tensor.dtype}, which no kernel takes")
    if not tensor.is_cuda:
        raise LaunchError(f"`{name}` lies on {tensor.device}: move it to the GPU, or pass a NumPy array")
    address, shape, strides = tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride())
    return ArrayView(address, shape, strides, dtype, tensor.device.index, True)


def _interface(name: str, array: Any, interface: dict[str, Any]) -> ArrayView:
    if interface.get("mask") is not None:
        raise LaunchError(f"`{name}` has a mask")
    dtype = TYPESTR_NAMES[interface["typestr"]]
    address, read_only = interface["data"]
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    steps = dlpack.row_major(shape) if strides is None else tuple(s // dtype.bytes for s in strides)
    writable = not read_only and not _immutable(array)
    return ArrayView(int(address or 0), shape, steps, dtype, None, writable)


def _dlpack(name: str, array: Any) -> ArrayView:
    capsule = array.__dlpack__()
    tensor = dlpack.read(capsule)
    dtype = DLPACK_NAMES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise LaunchError(
            f"`{name}` has DLPack element type {(tensor.code, tensor.bits, tensor.lanes)}, which no kernel takes"
        )
    if tensor.device_type not in (dlpack.CUDA, dlpack.CUDA_MANAGED):
        raise LaunchError(f"`{name}` does not lie on a CUDA device")
    writable = not _immutable(array)
    return ArrayView(tensor.address, tensor.shape, tensor.strides, dtype, tensor.device, writable, owner=capsule)


def _immutable(array: Any) -> bool:
    return _module(array) in ("jax", "jaxlib")


def stream_handle(stream: Any, arrays: list[Any]) -> int:
    """The CUDA stream to launch on: the given one (an integer, or an object of PyTorch, CuPy or cuda.core), else the
    current stream of the library that the first device array comes from."""
    if stream is None:
        return _current_stream(arrays)
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for attribute in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    raise LaunchError(f"a {type(stream).__name__} is not a CUDA stream")


def _current_stream(arrays: list[Any]) -> int:
    for array in arrays:
        match _module(array):
            case "torch":
                return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream)
            case "cupy":
                return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
            case _:
                pass
    return 0
