"""Compiles generated kernel code for the CPU and calls it with the launch data of its manifest."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exogpu.codegen.bundle import Bundle
from exogpu.codegen.manifest import Parameter, TensorArgument
from exogpu.codegen.runtime.kernel import task_count
from exogpu.ir.numeric import storage_dtype
from exogpu.ir.types import Scalar

SHIM = Path(__file__).parent / "shim.hpp"
COMPILER = shutil.which("g++")

_NO_EFFECT = ("wgmma_fence", "wgmma_commit", "bulk_commit", "bulk_wait", "fence_proxy_async")
_WARP_TOGETHER = "wgmma_wait"


@dataclass(frozen=True)
class HostKernel:
    """A kernel as a function of the machine it runs on."""

    bundle: Bundle
    entry: Any

    def __call__(self, grid: int | None = None, **arguments: Any) -> None:
        """Run with NumPy arrays and sizes by name, as a grid of `grid` CTAs (default: one for each task)."""
        manifest = self.bundle.manifest
        sizes = {n: v for n, v in arguments.items() if isinstance(v, int)}
        tasks = task_count(manifest, sizes)
        values = [self._value(p, arguments) for p in manifest.parameters]
        self.entry(ctypes.c_int(min(tasks, grid) if grid else tasks), *values)

    def _value(self, param: Parameter, arguments: dict[str, Any]) -> Any:
        given = arguments[param.name]
        match param.kind:
            case "map":
                rows, columns = given.shape
                item = given.itemsize
                words = (given.ctypes.data, columns, rows, given.strides[0], param.box[1], param.box[0], item)
                buffer = ctypes.create_string_buffer(np.array([*words, param.swizzle], np.int64).tobytes(), 128)
                return ctypes.byref(buffer)
            case "pointer":
                return ctypes.c_void_p(given.ctypes.data)
            case "pitch":
                return ctypes.c_longlong(given.strides[0] // given.itemsize)
            case "size":
                return ctypes.c_int(given)
            case _:
                return ctypes.c_float(given)


def build(bundle: Bundle, folder: Path) -> HostKernel:
    """Compile the kernel text of a bundle; helper functions with inline PTX are replaced by those of the shim."""
    assert COMPILER is not None
    name, threads = bundle.manifest.entry, bundle.manifest.threads
    text = bundle.cuda
    kernel = text[text.index('extern "C" __global__') :].replace('extern "C"', "static", 1)
    kernel = re.sub(r".*extern __shared__ unsigned char shared_raw\[\];\n", "", kernel)
    helpers = re.findall(r"^DEVICE void (\w+)\((.*)\) \{$", text[text.index("registers_dec()") :], re.MULTILINE)
    stubs = [_stub(helper, params) for helper, params in helpers]
    signature = re.search(rf"{name}\((.*?)\) {{", kernel, re.DOTALL)
    assert signature is not None
    params = [
        p.split() for p in signature[1].replace("const __grid_constant__ TensorMap ", "const TensorMap& ").split(",")
    ]
    names = ", ".join(p[-1] for p in params)
    declared = ", ".join(["int exogpu_grid", *(" ".join(p) for p in params)])
    call = f'extern "C" void exogpu_run({declared}) {{ run(exogpu_grid, {threads}, [&] {{ {name}({names}); }}); }}'
    source = folder / f"{name}.cpp"
    source.write_text("\n".join([f'#include "{SHIM}"', *stubs, kernel, call]))
    library = source.with_suffix(".so")
    options = ["-O2", "-std=c++20", "-shared", "-fPIC", "-pthread", "-w"]
    subprocess.run([COMPILER, *options, "-o", str(library), str(source)], check=True)
    return HostKernel(bundle, ctypes.CDLL(str(library)).exogpu_run)


def _stub(helper: str, params: str) -> str:
    """A definition of a helper function in terms of the shim, or nothing if the shim defines it by name."""
    if helper.startswith(_NO_EFFECT):
        return f"static void {helper}({params}) {{}}"
    if helper.startswith(_WARP_TOGETHER):
        return f"static void {helper}({params}) {{ warp_meet(); }}"
    if found := re.fullmatch(r"wgmma_(rs_|ta_)?m64n(\d+)k16_bf16(_rows_n)?(?:_accumulate_([01]))?", helper):
        accumulate = {"0": "false", "1": "true", None: "accumulate"}[found[4]]
        rows = f"{int(found[1] == 'ta_')}, {int(found[3] is not None)}"
        return f"static void {helper}({params}) {{ wgmma({found[2]}, d, a, b, {accumulate}, {rows}); }}"
    return ""


def surroundings(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The elements of the allocation around a matrix of `empty`."""
    whole = matrix.base
    assert isinstance(whole, np.ndarray) and whole.ndim == 1
    start = (matrix.ctypes.data - whole.ctypes.data) // whole.itemsize
    outside = np.ones(whole.size, np.bool_)
    rows = start + np.arange(matrix.shape[0])[:, None] * (matrix.strides[0] // whole.itemsize)
    outside[rows + np.arange(matrix.shape[1])] = False
    return whole[outside]


def empty(bundle: Bundle, name: str, shape: tuple[int, int], pad: int = 0) -> np.ndarray[Any, Any]:
    """A poisoned matrix of a tensor argument's type, its rows padded to the argument's alignment and `pad` elements."""
    argument = next(a for a in bundle.manifest.arguments if isinstance(a, TensorArgument) and a.name == name)
    dtype = storage_dtype(Scalar(argument.dtype))
    unit = max(1, argument.alignment // dtype.itemsize)
    pitch = -(-(shape[1] + pad) // unit) * unit
    whole = np.full((shape[0] * pitch + 64,), np.nan, dtype)
    start = -whole.ctypes.data % 64 // dtype.itemsize
    return whole[start : start + shape[0] * pitch].reshape(shape[0], pitch)[:, : shape[1]]
