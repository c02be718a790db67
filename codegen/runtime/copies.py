"""Device copies of NumPy arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exogpu.codegen import driver
from exogpu.codegen.manifest import TensorArgument
from exogpu.codegen.runtime.arrays import ArrayView
from exogpu.codegen.tensormap import UNIT
from exogpu.ir.numeric import elements
from exogpu.ir.types import Scalar


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


def _rounded(tensor: TensorArgument, array: ArrayView) -> ArrayView:
    """The host array, or a copy of it if its storage has more numbers than the type of its elements."""
    assert array.host is not None
    return replace(array, host=elements(array.host, Scalar(tensor.dtype)))


def to_device(tensor: TensorArgument, array: ArrayView, stream: int) -> ArrayView:
    """A device copy with rows padded to the alignment that the kernel needs. As in the sequential program, elements of
    tf32 are rounded to nearest even, and infinities of e5m2 become the largest finite number."""
    source = _contiguous(_rounded(tensor, array))
    item, strides = array.dtype.bytes, source.strides
    if len(array.shape) == 2:
        unit = max(UNIT, tensor.alignment)
        strides = (-(-array.shape[1] * item // unit) * unit // item, 1)
    size = item * (array.shape[0] * strides[0] if array.shape else 1)
    copy = ArrayView(driver.allocate(size), array.shape, strides, array.dtype, None, True)
    driver.upload(_rows(source), _rows(copy), stream)
    return copy


def to_host(copy: ArrayView, array: ArrayView, stream: int) -> None:
    """Copy the results back into the host array."""
    target = _contiguous(array)
    driver.download(_rows(copy), _rows(target), stream)
    driver.synchronize(stream)
    if array.host is not None and target.host is not None and target.host is not array.host:
        np.copyto(array.host, target.host)
