"""The buffers of a procedure, and in which of them sums may be taken in another order."""

from __future__ import annotations

from exogpu.ir.index import Int
from exogpu.ir.instr import BufferInfo
from exogpu.ir.proc import Proc, ScalarArg, TensorArg
from exogpu.ir.stmt import Alloc
from exogpu.ir.types import Gmem, Scalar
from exogpu.ir.walk import walk


def buffers_of(proc: Proc) -> dict[str, BufferInfo]:
    """Every tensor and allocation of a procedure, by name."""
    buffers = {a.name: BufferInfo(a.dtype, Gmem(), a.shape) for a in proc.args if isinstance(a, TensorArg)}
    for stmt in walk(proc.body):
        if isinstance(stmt, Alloc):
            buffers[stmt.name] = BufferInfo(stmt.dtype, stmt.memory, tuple(Int(n) for n in stmt.shape))
    return buffers


def types_of(proc: Proc) -> dict[str, Scalar]:
    """The types of all tensors, allocations and data scalars, by name."""
    scalars = {a.name: a.dtype for a in proc.args if isinstance(a, ScalarArg)}
    return {name: info.dtype for name, info in buffers_of(proc).items()} | scalars


def reassociable(dtype: Scalar, precise: bool) -> bool:
    """Whether `+=` of this type commute up to the rounding of sums: the other types round each partial sum to a
    narrow type."""
    wide = (Scalar.F64, Scalar.F32, Scalar.I32, Scalar.I8, Scalar.U8)
    return dtype in wide or precise
