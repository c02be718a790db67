"""The CUDA driver calls that the runtime makes, each with its status checked."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

from exogpu.codegen.errors import LaunchError
from exogpu.codegen.tensormap import DATA_TYPES, PROMOTION_256B, SWIZZLES, MapRequest

HOPPER = (9, 0)


@cache
def _api() -> Any:
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise LaunchError(f"cuda-python is not installed ({error})") from error
    return driver


def _call(name: str, *args: Any) -> Any:
    """The results of a driver function; LaunchError with the driver's name for a failure."""
    api = _api()
    try:
        status, *values = getattr(api, name)(*args)
    except RuntimeError as error:
        raise LaunchError(f"there is no CUDA driver ({error})") from error
    if int(status) != 0:
        _, text = api.cuGetErrorString(status)
        reason = text.decode() if isinstance(text, bytes) else str(status)
        raise LaunchError(f"the CUDA driver refused {name}: {status.name} ({reason})")
    return values[0] if len(values) == 1 else tuple(values)


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU with its primary context."""

    ordinal: int
    context: Any
    multiprocessors: int


@cache
def device(ordinal: int) -> Device:
    """The device; LaunchError if there is none or it is not of compute capability 9.0."""
    _call("cuInit", 0)
    handle = _call("cuDeviceGet", ordinal)
    attributes = _api().CUdevice_attribute
    major = int(_call("cuDeviceGetAttribute", attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle))
    minor = int(_call("cuDeviceGetAttribute", attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle))
    if (major, minor) != HOPPER:
        raise LaunchError(f"device {ordinal} has compute capability {major}.{minor}; the kernels are for 9.0 (Hopper)")
    count = int(_call("cuDeviceGetAttribute", attributes.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle))
    return Device(ordinal, _call("cuDevicePrimaryCtxRetain", handle), count)


def activate(target: Device) -> None:
    """Make the device's primary context the thread's current one."""
    if int(_call("cuCtxGetCurrent")) != int(target.context):
        _call("cuCtxSetCurrent", target.context)


def device_of(address: int) -> int:
    """Ordinal of the device that memory belongs to."""
    attribute = _api().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    _call("cuInit", 0)
    return int(_call("cuPointerGetAttribute", attribute, address))


def load_function(cubin: bytes, name: str, shared_bytes: int) -> Any:
    """The kernel of a cubin in the current context, allowed to use its dynamic shared memory."""
    module = _call("cuModuleLoadData", cubin)
    function = _call("cuModuleGetFunction", module, name.encode())
    limit = _api().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    _call("cuFuncSetAttribute", function, limit, shared_bytes)
    return function


def resident_blocks(function: Any, threads: int, shared_bytes: int) -> int:
    """CTAs of a kernel that one multiprocessor holds."""
    return int(_call("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, shared_bytes))


def resident_clusters(function: Any, ctas: int, threads: int, shared_bytes: int) -> int:
    """Clusters of a kernel that the device holds at a time."""
    api = _api()
    attribute = api.CUlaunchAttribute()
    attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    shape = attribute.value.clusterDim
    shape.x, shape.y, shape.z = ctas, 1, 1
    config = api.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = ctas, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.sharedMemBytes = shared_bytes
    config.attrs, config.numAttrs = [attribute], 1
    return int(_call("cuOccupancyMaxActiveClusters", function, config))


def encode_map(request: MapRequest) -> bytes:
    """The 128 bytes of a tensor map: zeros for elements outside, 256-byte L2 promotion."""
    api = _api()
    rank = len(request.dims)
    tensor_map = _call(
        "cuTensorMapEncodeTiled",
        api.CUtensorMapDataType(DATA_TYPES[request.dtype]),
        rank,
        request.address,
        [api.cuuint64_t(d) for d in reversed(request.dims)],
        [api.cuuint64_t(s) for s in reversed(request.strides)],
        [api.cuuint32_t(b) for b in reversed(request.box)],
        [api.cuuint32_t(1)] * rank,
        api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        api.CUtensorMapSwizzle(SWIZZLES[request.swizzle]),
        api.CUtensorMapL2promotion(PROMOTION_256B),
        api.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    return ctypes.string_at(tensor_map.getPtr(), 128)


def launch(function: Any, grid: int, threads: int, shared_bytes: int, stream: int, params: int) -> None:
    """Launch a one-dimensional grid; `params` is the address of the array of parameter addresses."""
    _call("cuLaunchKernel", function, grid, 1, 1, threads, 1, 1, shared_bytes, stream, params, 0)


def allocate(size: int) -> int:
    """Device memory in bytes, aligned to 256."""
    return int(_call("cuMemAlloc", max(1, size)))


def free(address: int) -> None:
    """Give memory of `allocate` back."""
    _call("cuMemFree", address)


@dataclass(frozen=True, slots=True)
class Rows:
    """`rows` rows of `width` bytes, `pitch` bytes apart."""

    address: int
    pitch: int
    width: int
    rows: int


def upload(source: Rows, to: Rows, stream: int) -> None:
    """Copy rows from host to device memory."""
    api = _api()
    copy = api.CUDA_MEMCPY2D()
    copy.srcMemoryType, copy.srcHost = api.CUmemorytype.CU_MEMORYTYPE_HOST, source.address
    copy.dstMemoryType, copy.dstDevice = api.CUmemorytype.CU_MEMORYTYPE_DEVICE, to.address
    _copy(copy, source, to, stream)


def download(source: Rows, to: Rows, stream: int) -> None:
    """Copy rows from device to host memory."""
    api = _api()
    copy = api.CUDA_MEMCPY2D()
    copy.srcMemoryType, copy.srcDevice = api.CUmemorytype.CU_MEMORYTYPE_DEVICE, source.address
    copy.dstMemoryType, copy.dstHost = api.CUmemorytype.CU_MEMORYTYPE_HOST, to.address
    _copy(copy, source, to, stream)


def _copy(copy: Any, source: Rows, to: Rows, stream: int) -> None:
    copy.srcPitch, copy.dstPitch = source.pitch, to.pitch
    copy.WidthInBytes, copy.Height = source.width, source.rows
    if source.width and source.rows:
        _call("cuMemcpy2DAsync", copy, stream)


def synchronize(stream: int) -> None:
    """Wait for everything on a stream."""
    _call("cuStreamSynchronize", stream)
