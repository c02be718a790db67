"""A compiled kernel that can be called with arrays."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from exogpu.codegen import bundle as bundles
from exogpu.codegen import driver
from exogpu.codegen.bundle import Bundle
from exogpu.codegen.manifest import Manifest, Parameter, ScalarArgument, TensorArgument
from exogpu.codegen.runtime.arrays import ArrayView, stream_handle
from exogpu.codegen.runtime.binding import Bound, bind, named, pitch_of, views
from exogpu.codegen.runtime.errors import LaunchError
from exogpu.codegen.runtime.tensormap import UNIT, MapRequest, problems
from exogpu.ir.evaluate import evaluate
from exogpu.ir.numeric import convert, storage_dtype
from exogpu.ir.types import Scalar

MAX_TASKS = 2**30
CACHED_LAUNCHES = 256


@dataclass(frozen=True, slots=True)
class Launch:
    """A checked launch: the grid, and the parameters as an array of addresses, kept alive with their values."""

    device: driver.Device
    function: Any
    grid: int
    pointers: Any
    values: tuple[Any, ...]


@dataclass(slots=True)
class Kernel:
    """A kernel of a bundle. Call it with its arguments in order or by name; sizes may be left out."""

    bundle: Bundle
    _functions: dict[int, tuple[Any, int]] = field(default_factory=dict)
    _launches: OrderedDict[Any, Launch] = field(default_factory=OrderedDict)

    @classmethod
    def load(cls, path: str | Path) -> Kernel:
        """Read a bundle and check its hashes; BadInput if it is damaged."""
        return cls(bundles.read(Path(path)))

    @property
    def manifest(self) -> Manifest:
        """The kernel's signature and launch data."""
        return self.bundle.manifest

    def __call__(self, *args: Any, stream: Any = None, **keywords: Any) -> None:
        """Launch on `stream` (default: the array library's current one); returns when the launch is queued, or with
        NumPy arrays when the results are copied back. LaunchError, and no launch, if the arguments do not fit."""
        given = named(self.manifest, args, keywords)
        arrays = views(self.manifest, given)
        key = tuple(_identity(a.name, given, arrays) for a in self.manifest.arguments)
        launch = self._launches.get(key)
        if launch is None:
            bound = bind(self.manifest, given, arrays)
            target = self._device(bound)
            if any(a.host is not None for a in arrays.values()):
                self._run_on_copies(bound, target, stream_handle(stream, list(given.values())))
                return
            launch = self._launches[key] = self._prepare(bound, target)
            if len(self._launches) > CACHED_LAUNCHES:
                self._launches.popitem(last=False)
        self._start(launch, stream_handle(stream, list(given.values())))

    def _device(self, bound: Bound) -> driver.Device:
        ordinals: set[int] = set()
        for name, array in bound.arrays.items():
            if array.host is None and 0 not in array.shape:
                ordinals.add(driver.device_of(array.address) if array.device is None else array.device)
                if len(ordinals) > 1:
                    raise LaunchError(f"`{name}` lies on another device than the arrays before it")
        return driver.device(ordinals.pop() if ordinals else 0)

    def _start(self, launch: Launch, stream: int) -> None:
        if launch.grid:
            driver.activate(launch.device)
            shape = (self.manifest.threads, self.manifest.shared_bytes)
            driver.launch(launch.function, launch.grid, *shape, stream, ctypes.addressof(launch.pointers))

    def _prepare(self, bound: Bound, target: driver.Device) -> Launch:
        tasks = task_count(self.manifest, bound.sizes)
        if tasks == 0:
            return Launch(target, None, 0, None, ())
        driver.activate(target)
        function, resident = self._function(target)
        limit = target.multiprocessors * resident
        grid = min(tasks, limit) if self.manifest.persistent else tasks
        values = tuple(_parameter(self.manifest, p, bound) for p in self.manifest.parameters)
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        return Launch(target, function, grid, pointers, values)

    def _function(self, target: driver.Device) -> tuple[Any, int]:
        if target.ordinal not in self._functions:
            m = self.manifest
            function = driver.load_function(self.bundle.cubin, m.kernel, m.shared_bytes)
            self._functions[target.ordinal] = function, driver.resident_blocks(function, m.threads, m.shared_bytes)
        return self._functions[target.ordinal]

    def _run_on_copies(self, bound: Bound, target: driver.Device, stream: int) -> None:
        copies: dict[str, ArrayView] = {}
        driver.activate(target)
        try:
            for tensor in (a for a in self.manifest.arguments if isinstance(a, TensorArgument)):
                array = bound.arrays[tensor.name]
                copies[tensor.name] = _to_device(tensor, array, stream) if array.host is not None else array
            self._start(self._prepare(replace(bound, arrays=copies), target), stream)
            for tensor in (a for a in self.manifest.arguments if isinstance(a, TensorArgument)):
                if tensor.written and bound.arrays[tensor.name].host is not None:
                    _to_host(copies[tensor.name], bound.arrays[tensor.name], stream)
            driver.synchronize(stream)
        finally:
            for name, copy in copies.items():
                if bound.arrays[name].host is not None:
                    driver.free(copy.address)


def task_count(manifest: Manifest, sizes: dict[str, int]) -> int:
    """The number of tasks; LaunchError if it is beyond the kernel's 32-bit task number."""
    tasks = 1
    for lo, hi in manifest.tasks:
        tasks *= max(0, evaluate(hi, sizes) - evaluate(lo, sizes))
    if tasks > MAX_TASKS:
        raise LaunchError(f"the problem has {tasks} tasks, more than {MAX_TASKS}")
    return tasks


def _identity(name: str, given: dict[str, Any], arrays: dict[str, ArrayView]) -> Any:
    """What a launch depends on of an argument: of an array, all but its contents."""
    if name not in arrays:
        return given.get(name)
    a = arrays[name]
    return a.address, a.shape, a.strides, a.dtype, a.device, a.writable, a.host is None


def _tensor(manifest: Manifest, name: str) -> TensorArgument:
    return next(a for a in manifest.arguments if isinstance(a, TensorArgument) and a.name == name)


def _parameter(manifest: Manifest, param: Parameter, bound: Bound) -> Any:
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


def _rows(array: ArrayView) -> driver.Rows:
    *outer, columns = array.shape or (1,)
    count = int(np.prod(outer, dtype=np.int64)) if outer else 1
    pitch = _pitch_bytes(array)
    return driver.Rows(array.address, pitch, columns * array.dtype.bytes, count)


def _pitch_bytes(array: ArrayView) -> int:
    item = array.dtype.bytes
    if len(array.shape) == 2:
        return max(array.strides[0], array.shape[1]) * item
    return (array.shape[-1] if array.shape else 1) * item


def _contiguous(array: ArrayView) -> ArrayView:
    """The host array as contiguous rows, copied if it is not."""
    assert array.host is not None
    host = np.ascontiguousarray(array.host).reshape(array.shape)
    strides = tuple(s // host.itemsize for s in host.strides)
    return replace(array, address=host.ctypes.data, strides=strides, host=host)


def _to_device(tensor: TensorArgument, array: ArrayView, stream: int) -> ArrayView:
    """A device copy with rows padded to the alignment that the kernel needs."""
    source = _contiguous(array)
    item, strides = array.dtype.bytes, source.strides
    if len(array.shape) == 2:
        unit = max(UNIT, tensor.alignment)
        strides = (-(-array.shape[1] * item // unit) * unit // item, 1)
    size = item * (array.shape[0] * strides[0] if array.shape else 1)
    copy = ArrayView(driver.allocate(size), array.shape, strides, array.dtype, None, True)
    driver.upload(_rows(source), _rows(copy), stream)
    return copy


def _to_host(copy: ArrayView, array: ArrayView, stream: int) -> None:
    target = _contiguous(array)
    driver.download(_rows(copy), _rows(target), stream)
    driver.synchronize(stream)
    if array.host is not None and target.host is not None and target.host is not array.host:
        np.copyto(array.host, target.host)


__all__ = ["Kernel", "Launch", "task_count"]
