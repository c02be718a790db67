"""Arguments of a call against a manifest: names, sizes, types, shapes, strides, alignment, overlap, preconditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from exogpu.codegen.errors import LaunchError
from exogpu.codegen.manifest import Argument, Manifest, ScalarArgument, SizeArgument, TensorArgument
from exogpu.codegen.runtime.arrays import ArrayView, view
from exogpu.codegen.runtime.dtypes import stored_as
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Index, Var
from exogpu.ir.proc import MAX_SIZE
from exogpu.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one call: sizes, data scalars and arrays by name."""

    sizes: dict[str, int]
    scalars: dict[str, Any]
    arrays: dict[str, ArrayView]


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel's argument names: all, those that are not sizes, data scalars, tensors."""

    kernel: str
    every: tuple[str, ...]
    data: tuple[str, ...]
    scalars: tuple[str, ...]
    tensors: tuple[str, ...]


def signature(manifest: Manifest) -> Signature:
    """The argument names of a manifest."""
    args = manifest.arguments
    return Signature(
        manifest.kernel,
        tuple(a.name for a in args),
        tuple(a.name for a in args if not isinstance(a, SizeArgument)),
        tuple(a.name for a in args if isinstance(a, ScalarArgument)),
        tuple(a.name for a in args if isinstance(a, TensorArgument)),
    )


def named(sig: Signature, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name. Sizes may be left out: positional arguments are all arguments, or all that are not sizes."""
    every = sig.every
    names = every if len(args) == len(every) else sig.data
    if len(args) > len(names):
        raise LaunchError(f"`{sig.kernel}` takes {', '.join(every)}; got {len(args)} positional arguments")
    given = dict(zip(names, args, strict=False))
    for name, value in keywords.items():
        if name not in every:
            raise LaunchError(f"`{sig.kernel}` has no argument `{name}`; it takes {', '.join(every)}")
        if name in given:
            raise LaunchError(f"`{name}` is given twice")
        given[name] = value
    missing = [name for name in sig.data if name not in given]
    if missing:
        raise LaunchError(f"`{sig.kernel}` needs {', '.join(f'`{n}`' for n in missing)}")
    for name in sig.scalars:
        given[name] = _number(name, given[name])
    return given


def _number(name: str, value: Any) -> int | float:
    """A data scalar as a Python number."""
    plain = value.item() if hasattr(value, "item") else value
    if not isinstance(plain, int | float):
        raise LaunchError(f"`{name}` is a number, not a {type(value).__name__}")
    return plain


def views(sig: Signature, given: Mapping[str, Any]) -> dict[str, ArrayView]:
    """The arrays of a call."""
    return {name: view(name, given[name]) for name in sig.tensors}


def bind(manifest: Manifest, given: Mapping[str, Any], arrays: Mapping[str, ArrayView]) -> Bound:
    """The bound arguments; LaunchError if anything does not fit."""
    tensors = [a for a in manifest.arguments if isinstance(a, TensorArgument)]
    for tensor in tensors:
        _check_type(tensor, arrays[tensor.name])
    sizes = infer_sizes(manifest.arguments, arrays, given)
    for tensor in tensors:
        _check_shape(tensor, arrays[tensor.name], sizes)
        _check_layout(tensor, arrays[tensor.name])
    for require in manifest.requires:
        if not holds(require.cond, sizes):
            raise LaunchError(f"the kernel requires {require.text}, but {_sizes_text(sizes)}")
    _check_overlap(tensors, arrays)
    scalars = {a.name: given[a.name] for a in manifest.arguments if isinstance(a, ScalarArgument)}
    return Bound(sizes, scalars, dict(arrays))


def _check_type(tensor: TensorArgument, array: ArrayView) -> None:
    wanted = stored_as(Scalar(tensor.dtype))
    if array.dtype is not wanted:
        raise LaunchError(f"`{tensor.name}` has elements of {array.dtype.value}, the kernel takes {wanted.value}")
    if len(array.shape) != len(tensor.shape):
        raise LaunchError(f"`{tensor.name}` has {len(array.shape)} dimensions, the kernel takes {len(tensor.shape)}")
    if tensor.written and not array.writable:
        raise LaunchError(f"`{tensor.name}` is written by the kernel, but the array is read-only")


def infer_sizes(
    arguments: Sequence[Argument], arrays: Mapping[str, ArrayView], given: Mapping[str, Any]
) -> dict[str, int]:
    """Every size argument, from the call or from the extents of the arrays."""
    sizes: dict[str, int] = {}
    source: dict[str, str] = {}
    for arg in arguments:
        if isinstance(arg, SizeArgument) and arg.name in given:
            value = given[arg.name]
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise LaunchError(f"`{arg.name}` is a size, not {value!r}")
            sizes[arg.name], source[arg.name] = int(value), f"`{arg.name}` is given as {int(value)}"
    for arg in arguments:
        if isinstance(arg, TensorArgument):
            for dim, (extent, actual) in enumerate(zip(arg.shape, arrays[arg.name].shape, strict=True)):
                text = f"dimension {dim} of `{arg.name}` is {actual}"
                _learn(extent, actual, text, sizes, source)
    for arg in arguments:
        if isinstance(arg, SizeArgument):
            if arg.name not in sizes:
                raise LaunchError(f"the size `{arg.name}` does not follow from the arrays: pass it by name")
            if not 0 <= sizes[arg.name] <= MAX_SIZE:
                raise LaunchError(f"`{arg.name}` is {sizes[arg.name]}; sizes are from 0 to {MAX_SIZE}")
    return sizes


def _learn(extent: Index, actual: int, text: str, sizes: dict[str, int], source: dict[str, str]) -> None:
    if not isinstance(extent, Var):
        return
    if sizes.setdefault(extent.name, actual) != actual:
        raise LaunchError(f"{source[extent.name]}, but {text}; both must be `{extent.name}`")
    source.setdefault(extent.name, text)


def _check_shape(tensor: TensorArgument, array: ArrayView, sizes: Mapping[str, int]) -> None:
    wanted = tuple(evaluate(e, sizes) for e in tensor.shape)
    if array.shape != wanted:
        raise LaunchError(f"`{tensor.name}` has shape {array.shape}, for {_sizes_text(sizes)} it must have {wanted}")


def pitch_of(array: ArrayView, unit: int) -> int:
    """Distance of the rows of a matrix in elements; for at most one row, the row length up to a multiple of `unit`."""
    rows, columns = array.shape
    return array.strides[0] if rows > 1 else max(1, -(-columns // unit) * unit)


def _check_layout(tensor: TensorArgument, array: ArrayView) -> None:
    if 0 in array.shape or array.host is not None:
        return
    name, item = tensor.name, Scalar(tensor.dtype).bytes
    if array.shape and array.shape[-1] > 1 and array.strides[-1] != 1:
        raise LaunchError(f"`{name}` has stride {array.strides[-1]} in its last dimension: it must be contiguous there")
    expected = 1
    for dim in reversed(range(len(array.shape))):
        free = len(array.shape) == 2 and dim == 0
        if not free and array.shape[dim] > 1 and array.strides[dim] != expected:
            raise LaunchError(f"`{name}` has strides {array.strides}: an array of this rank must be contiguous")
        expected *= array.shape[dim]
    if array.address % tensor.alignment:
        raise LaunchError(f"`{name}` starts at {array.address:#x}, which is not a multiple of {tensor.alignment} bytes")
    if len(array.shape) > 2 and array.shape[-1] * item % tensor.alignment:
        raise LaunchError(
            f"rows of `{name}` are {array.shape[-1] * item} bytes apart, not a multiple of {tensor.alignment}"
        )
    if len(array.shape) == 2:
        pitch = pitch_of(array, max(1, tensor.alignment // item))
        if pitch < array.shape[1]:
            raise LaunchError(f"rows of `{name}` overlap: they are {pitch} elements apart and {array.shape[1]} long")
        if pitch * item % tensor.alignment:
            raise LaunchError(
                f"rows of `{name}` are {pitch * item} bytes apart, not a multiple of {tensor.alignment}: pad them"
            )


def _check_overlap(tensors: Sequence[TensorArgument], arrays: Mapping[str, ArrayView]) -> None:
    for a, b in combinations(tensors, 2):
        if (a.written or b.written) and overlap(arrays[a.name], arrays[b.name]):
            out, other = (a, b) if a.written else (b, a)
            raise LaunchError(f"`{out.name}` is written and shares memory with `{other.name}`")


def overlap(a: ArrayView, b: ArrayView) -> bool:
    """Whether two arrays may share memory: their spans meet, and they are not side by side in rows of one matrix."""
    if 0 in a.shape or 0 in b.shape or a.host is not None or b.host is not None:
        return _host_overlap(a, b)
    (a_first, a_end), (b_first, b_end) = _span(a), _span(b)
    if a_end <= b_first or b_end <= a_first:
        return False
    if len(a.shape) == len(b.shape) == 2 and a.strides[0] == b.strides[0] and a.dtype.bytes == b.dtype.bytes:
        pitch = a.strides[0] * a.dtype.bytes
        shift = (b_first - a_first) % pitch if pitch else 0
        left, right = a.shape[1] * a.dtype.bytes, b.shape[1] * b.dtype.bytes
        return not (shift >= left and shift + right <= pitch)
    return True


def _host_overlap(a: ArrayView, b: ArrayView) -> bool:
    return a.host is not None and b.host is not None and bool(np.may_share_memory(a.host, b.host))


def _span(a: ArrayView) -> tuple[int, int]:
    last = sum((extent - 1) * stride for extent, stride in zip(a.shape, a.strides, strict=True))
    return a.address, a.address + (last + 1) * a.dtype.bytes


def _sizes_text(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sizes.items()) or "there are no sizes"
