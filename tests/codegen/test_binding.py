"""Arguments are checked before anything touches the device: this runs without one."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exogpu.codegen.emit import emit
from exogpu.codegen.manifest import Manifest
from exogpu.codegen.runtime import LaunchError, dlpack
from exogpu.codegen.runtime.arrays import stream_handle, view
from exogpu.codegen.runtime.binding import Bound, bind, named, signature, views
from exogpu.codegen.runtime.kernel import MAX_TASKS, task_count
from exogpu.codegen.runtime.parameters import parameter
from exogpu.ir.types import Scalar
from tests.codegen.proofs import ROOT, kernels, parse, proven

PROGRAM = """
@proc
def axpy(N: size, alpha: bf16, X: f32[N, 2 * N] @ GMEM, Y: f32[N, 2 * N] @ GMEM, Z: f32[N] @ GMEM):
    require(N % 2 == 0)
    block(64)
    for b in tasks(0, N):
        for t in threads(1):
            v: f32[4] @ RMEM
            if 4 <= 2 * N:
                vec_copy(v[0:4], X[b, 0:4])
                vec_copy(Y[b, 0:4], v[0:4])
            Z[b] = alpha
"""


@dataclass
class DeviceArray:
    """An array that claims to lie on a device, as CuPy's do."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    address: int = 0x7F0000000000
    typestr: str = "<f4"
    read_only: bool = False

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        strides = None if self.strides is None else tuple(4 * s for s in self.strides)
        return {
            "shape": self.shape,
            "strides": strides,
            "typestr": self.typestr,
            "data": (self.address, self.read_only),
            "version": 3,
        }


@pytest.fixture(scope="module")
def axpy(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return emit(proven(parse(PROGRAM, tmp_path_factory.mktemp("program")))).manifest


@pytest.fixture(scope="module")
def gemm() -> Manifest:
    (proc,) = kernels(ROOT / "exogpu" / "kernels" / "gemm_bf16.py").values()
    return emit(proven(proc)).manifest


X = DeviceArray((6, 12))
Y = DeviceArray((6, 12), address=0x7F0000010000)
Z = DeviceArray((6,), address=0x7F0000020000)


def call(manifest: Manifest, *args: Any, **keywords: Any) -> Bound:
    sig = signature(manifest)
    given = named(sig, args, keywords)
    return bind(manifest, given, views(sig, given))


def refused(manifest: Manifest, *args: Any, **keywords: Any) -> str:
    with pytest.raises(LaunchError) as caught:
        call(manifest, *args, **keywords)
    return str(caught.value)


def test_sizes_follow_from_the_arrays(axpy: Manifest) -> None:
    bound = call(axpy, 2.0, X, Y, Z)
    assert bound.sizes == {"N": 6}
    assert bound.scalars == {"alpha": 2.0}
    assert call(axpy, 6, 2.0, X, Y, Z).sizes == {"N": 6}
    assert call(axpy, alpha=np.float32(2), Z=Z, Y=Y, X=X, N=6) == bound


def test_calls_with_the_wrong_arguments(axpy: Manifest) -> None:
    assert "needs `Z`" in refused(axpy, 2.0, X, Y)
    assert "no argument `W`" in refused(axpy, 2.0, X, Y, Z, W=1)
    assert "`X` is given twice" in refused(axpy, 2.0, X, Y, Z, X=X)
    assert "6 positional" in refused(axpy, 6, 2.0, X, Y, Z, Z)
    assert "`alpha` is a number" in refused(axpy, "2", X, Y, Z)
    assert "`X` is a list" in refused(axpy, 2.0, [1.0], Y, Z)


def test_shapes(axpy: Manifest) -> None:
    assert "`N` is given as 4" in refused(axpy, 4, 2.0, X, Y, Z)
    assert "must have (6, 12)" in refused(axpy, 2.0, DeviceArray((6, 13)), Y, Z)
    assert "2 dimensions, the kernel takes 1" in refused(axpy, 2.0, X, Y, DeviceArray((6, 1)))
    message = refused(axpy, 2.0, X, Y, DeviceArray((8,)))
    assert "dimension 0 of `X` is 6, but dimension 0 of `Z` is 8; both must be `N`" in message


def test_preconditions(axpy: Manifest) -> None:
    odd = (DeviceArray((3, 6), (8, 1)), DeviceArray((3, 6), (8, 1), Y.address), DeviceArray((3,), None, Z.address))
    assert "requires N % 2 == 0, but N = 3" in refused(axpy, 2.0, *odd)


def test_element_types(axpy: Manifest) -> None:
    assert "elements of f16, the kernel takes f32" in refused(axpy, 2.0, DeviceArray((6, 12), typestr="<f2"), Y, Z)
    assert "element type complex64" in refused(axpy, 2.0, np.zeros((6, 12), np.complex64), Y, Z)


def test_layouts(axpy: Manifest) -> None:
    assert "contiguous" in refused(axpy, 2.0, DeviceArray((6, 12), (1, 6)), Y, Z)
    assert "rows of `X` overlap" in refused(axpy, 2.0, DeviceArray((6, 12), (8, 1)), Y, Z)
    assert "52 bytes apart, not a multiple of 16" in refused(axpy, 2.0, DeviceArray((6, 12), (13, 1)), Y, Z)
    assert "not a multiple of 16 bytes" in refused(axpy, 2.0, DeviceArray((6, 12), address=X.address + 4), Y, Z)
    assert call(axpy, 2.0, DeviceArray((6, 12), (16, 1)), Y, Z).sizes == {"N": 6}


def test_written_arrays(axpy: Manifest) -> None:
    assert "read-only" in refused(axpy, 2.0, X, DeviceArray((6, 12), address=Y.address, read_only=True), Z)
    assert call(axpy, 2.0, DeviceArray((6, 12), read_only=True), Y, Z)
    assert "`Y` is written and shares memory with `X`" in refused(axpy, 2.0, X, X, Z)
    overlapping = DeviceArray((6, 12), address=X.address + 16 * 4)
    assert "shares memory" in refused(axpy, 2.0, X, overlapping, Z)


def test_halves_of_one_matrix_do_not_overlap(axpy: Manifest) -> None:
    left, right = DeviceArray((6, 12), (24, 1)), DeviceArray((6, 12), (24, 1), X.address + 48)
    assert call(axpy, 2.0, left, right, Z).sizes == {"N": 6}
    shifted = DeviceArray((6, 12), (24, 1), X.address + 32)
    assert "shares memory" in refused(axpy, 2.0, left, shifted, Z)


def test_tma_needs_aligned_rows(gemm: Manifest) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    bound = call(gemm, *(np.zeros(shape, ml_dtypes.bfloat16) for shape in ((5, 63), (7, 63), (5, 7))))
    assert bound.sizes == {"M": 5, "N": 7, "K": 63}, "copies of NumPy arrays get padded rows"
    assert [a.alignment for a in gemm.arguments if hasattr(a, "alignment")] == [16, 16, 16]
    empty = (
        np.zeros((5, 0), ml_dtypes.bfloat16),
        np.zeros((7, 0), ml_dtypes.bfloat16),
        np.zeros((5, 7), ml_dtypes.bfloat16),
    )
    assert "requires K >= 1" in refused(gemm, *empty)


def test_task_numbers_stay_in_32_bits(gemm: Manifest) -> None:
    assert task_count(gemm, {"M": 129, "N": 257, "K": 1}) == 4
    assert task_count(gemm, {"M": 0, "N": 257, "K": 1}) == 0
    with pytest.raises(LaunchError, match=f"more than {MAX_TASKS}"):
        task_count(gemm, {"M": 2**30, "N": 2**30, "K": 1})


def test_parameters_have_the_kernel_abi(axpy: Manifest) -> None:
    bound = call(axpy, 1.5, DeviceArray((6, 12), (16, 1)), Y, Z)
    values = {(p.kind, p.name): parameter(axpy, p, bound) for p in axpy.parameters}
    assert values["pointer", "X"].value == X.address
    assert (values["pitch", "X"].value, values["pitch", "Y"].value) == (16, 12)
    assert ctypes.sizeof(values["scalar", "alpha"]) == 2
    assert bytes(values["scalar", "alpha"]) == b"\xc0\x3f", "1.5 in bf16"


def test_views_of_dlpack_capsules() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)[1:, ::2]
    tensor = dlpack.read(array.__dlpack__())
    assert (tensor.shape, tensor.strides) == ((3, 3), (6, 2))
    assert tensor.address == array.ctypes.data
    assert (tensor.code, tensor.bits, tensor.lanes) == (2, 32, 1)


def test_host_arrays_keep_their_strides() -> None:
    found = view("X", np.zeros((4, 6), np.float16)[:, ::2])
    assert (found.shape, found.strides, found.dtype, found.writable) == ((4, 3), (6, 2), Scalar.F16, True)


def test_streams() -> None:
    class Stream:
        cuda_stream = 77

    assert stream_handle(5, []) == 5
    assert stream_handle(Stream(), []) == 77
    assert stream_handle(None, [np.zeros(1)]) == 0
    with pytest.raises(LaunchError, match="not a CUDA stream"):
        stream_handle("default", [])


def test_without_a_driver_the_error_says_so(tmp_path: Path) -> None:
    from exogpu.codegen import driver

    try:
        driver.device(0)
    except LaunchError as error:
        assert "CUDA driver" in str(error) or "compute capability" in str(error)
