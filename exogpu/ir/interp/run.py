"""The sequential meaning of a procedure, executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.buffers import types_of
from exogpu.ir.interp.arguments import Arguments, prepare
from exogpu.ir.interp.buffers import Buffer
from exogpu.ir.interp.grid import Grid
from exogpu.ir.interp.machine import Machine, Watch
from exogpu.ir.interp.plan import plan
from exogpu.ir.numeric import storage_dtype
from exogpu.ir.proc import Proc


def interpret(
    proc: Proc,
    args: Arguments,
    *,
    precise: bool = False,
    together: bool = True,
    fill: int | None = None,
    fills: Mapping[str, int] | None = None,
    watch: Watch | None = None,
) -> dict[str, NDArray[Any]]:
    """The contents of every tensor argument after the sequential program has run; `args` are left alone.

    All loops run in order, roles and synchronisation are erased, and instructions execute their meaning. Types are
    exact (`exogpu.ir.numeric`); sums may be taken in another order. With `precise` everything floating-point is
    computed in f64 and returned as such: the f64 reference. With `together` false nothing is executed but one
    iteration after the other. Fresh buffers hold poison, or `fill` where it is given, or what `fills` says for their
    name; `watch` is told every read. InterpError if an argument does not fit, a precondition does not hold, or an
    access is out of bounds.
    """
    prepared = prepare(proc, args, precise)
    machine = Machine(
        prepared.sizes, types_of(proc), prepared.scalars, dict(prepared.buffers), precise, fill, fills or {}, watch
    )
    program = plan(proc, prepared.sizes, precise=precise, together=together)
    with np.errstate(all="ignore"):
        machine.run(program, Grid((), prepared.sizes))
    return {name: _result(buffer, precise) for name, buffer in prepared.buffers.items()}


def _result(buffer: Buffer, precise: bool) -> NDArray[Any]:
    dtype = np.dtype(np.float64) if precise and buffer.dtype.is_float else storage_dtype(buffer.dtype)
    return buffer.data.astype(dtype).reshape(buffer.shape)
