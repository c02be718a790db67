"""What a device copy of a NumPy array holds: this runs without a device, which the host's memory stands for."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from exogpu.codegen import driver
from exogpu.codegen.manifest import TensorArgument
from exogpu.codegen.runtime.arrays import view
from exogpu.codegen.runtime.copies import to_device, to_host
from exogpu.ir.index import Int
from exogpu.ir.interp import interpret
from exogpu.ir.numeric import Array, storage_dtype
from exogpu.ir.proc import UNSCHEDULED, Proc, TensorArg
from exogpu.ir.types import Scalar

INF, NAN = float("inf"), float("nan")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The device's memory is the host's."""
    kept: list[object] = []

    def allocate(size: int) -> int:
        kept.append(buffer := ctypes.create_string_buffer(size))
        return ctypes.addressof(buffer)

    def copy(source: driver.Rows, to: driver.Rows, stream: int) -> None:
        for row in range(source.rows):
            ctypes.memmove(to.address + row * to.pitch, source.address + row * source.pitch, source.width)

    monkeypatch.setattr(driver, "allocate", allocate)
    monkeypatch.setattr(driver, "upload", copy)
    monkeypatch.setattr(driver, "download", copy)
    monkeypatch.setattr(driver, "synchronize", lambda stream: None)
    return kept


def tensor(dtype: Scalar, *shape: int) -> TensorArgument:
    return TensorArgument("x", dtype.value, tuple(map(Int, shape)), True, 16)


def round_trip(dtype: Scalar, host: Array) -> Array:
    """What the device gets."""
    copy = to_device(tensor(dtype, *host.shape), view("x", host), 0)
    back = np.zeros_like(host)
    to_host(copy, view("x", back), 0)
    return back


@pytest.mark.parametrize(
    ("dtype", "given", "held"),
    [
        (Scalar.TF32, [1 + 2**-11, 1 + 3 * 2**-11, -INF, 0.1], [1.0, 1 + 2**-9, -INF, 0.0999755859375]),
        (Scalar.E5M2, [INF, -INF, 1.25, 57344.0], [57344.0, -57344.0, 1.25, 57344.0]),
        (Scalar.F32, [1 + 2**-11, 1 + 2**-23, INF, 0.1], [1 + 2**-11, 1 + 2**-23, INF, np.float32(0.1)]),
        (Scalar.E4M3, [448.0, -0.0, NAN, 1.125], [448.0, -0.0, NAN, 1.125]),
    ],
)
def test_elements_are_rounded_as_by_the_sequential_program(
    memory: list[object], dtype: Scalar, given: list[float], held: list[float]
) -> None:
    host = np.array([given, given[::-1]], storage_dtype(dtype))
    before = host.tobytes()
    got = round_trip(dtype, host)
    np.testing.assert_array_equal(got[0].astype(np.float64), held)
    assert host.tobytes() == before, "the given array stays as it is"
    proc = Proc("copy", (TensorArg("x", dtype, (Int(2), Int(4))),), (), UNSCHEDULED, (), ())
    meant = np.asarray(interpret(proc, {"x": host})["x"])
    np.testing.assert_array_equal(got.astype(np.float64), meant.astype(np.float64))
    assert len(memory) == 1


def test_strided_arrays_are_rounded_too(memory: list[object]) -> None:
    host = np.full((6, 8), 1 + 2**-11, np.float32)[::2, ::3]
    np.testing.assert_array_equal(round_trip(Scalar.TF32, host), np.ones((3, 3), np.float32))
    assert memory
