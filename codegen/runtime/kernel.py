"""A compiled kernel that can be called with arrays."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exogpu.codegen import bundle as bundles
from exogpu.codegen import driver
from exogpu.codegen.bundle import Bundle
from exogpu.codegen.errors import LaunchError
from exogpu.codegen.manifest import Manifest, TensorArgument
from exogpu.codegen.runtime.arrays import ArrayView, stream_handle
from exogpu.codegen.runtime.binding import Bound, Signature, bind, named, signature, views
from exogpu.codegen.runtime.copies import to_device, to_host
from exogpu.codegen.runtime.parameters import parameter
from exogpu.ir.evaluate import evaluate

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
    _signature: Signature = field(init=False)
    _functions: dict[int, tuple[Any, int]] = field(default_factory=dict)
    _launches: OrderedDict[Any, Launch] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._signature = signature(self.manifest)

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
        given = named(self._signature, args, keywords)
        arrays = views(self._signature, given)
        key = tuple(_identity(name, given, arrays) for name in self._signature.every)
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
        clusters = min(tasks, max(1, resident)) if self.manifest.persistent else tasks
        grid = clusters * self.manifest.cluster
        values = tuple(parameter(self.manifest, p, bound) for p in self.manifest.parameters)
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        return Launch(target, function, grid, pointers, values)

    def _function(self, target: driver.Device) -> tuple[Any, int]:
        if target.ordinal not in self._functions:
            m = self.manifest
            function = driver.load_function(self.bundle.cubin, m.entry, m.shared_bytes)
            if m.cluster > 1:
                resident = driver.resident_clusters(function, m.cluster, m.threads, m.shared_bytes)
            else:
                resident = target.multiprocessors * driver.resident_blocks(function, m.threads, m.shared_bytes)
            self._functions[target.ordinal] = function, resident
        return self._functions[target.ordinal]

    def _run_on_copies(self, bound: Bound, target: driver.Device, stream: int) -> None:
        copies: dict[str, ArrayView] = {}
        driver.activate(target)
        try:
            for tensor in (a for a in self.manifest.arguments if isinstance(a, TensorArgument)):
                array = bound.arrays[tensor.name]
                copies[tensor.name] = to_device(tensor, array, stream) if array.host is not None else array
            self._start(self._prepare(replace(bound, arrays=copies), target), stream)
            for tensor in (a for a in self.manifest.arguments if isinstance(a, TensorArgument)):
                if tensor.written and bound.arrays[tensor.name].host is not None:
                    to_host(copies[tensor.name], bound.arrays[tensor.name], stream)
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
    if tasks * manifest.cluster > MAX_TASKS:
        raise LaunchError(f"the problem has {tasks} tasks, more than {MAX_TASKS}")
    return tasks


def _identity(name: str, given: dict[str, Any], arrays: dict[str, ArrayView]) -> Any:
    """What a launch depends on of an argument: of an array, all but its contents."""
    if name not in arrays:
        return given.get(name)
    a = arrays[name]
    return a.address, a.shape, a.strides, a.dtype, a.device, a.writable, a.host is None
