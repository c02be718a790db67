"""Tensors whose floating-point sums a proof lets happen in any order: there the result is that of the sequential
program only up to reassociation."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.proc import Proc, TensorArg
from exogpu.verify.ordering import Impossible, Proved, decide
from exogpu.verify.program import Buffer, Program
from exogpu.verify.races import commuting
from exogpu.verify.single import hold


def reassociated(proc: Proc, program: Program) -> Iterator[str]:
    """Names of the float tensors with two reductions of one element that nothing orders, or may not order."""
    for arg in proc.args:
        if isinstance(arg, TensorArg) and arg.dtype.is_float and not _ordered(program, program.buffers[arg.name]):
            yield arg.name


def _ordered(program: Program, buffer: Buffer) -> bool:
    return all(
        isinstance(hold(program, apart), Proved) and isinstance(decide(program, goal), Proved | Impossible)
        for goal, apart in commuting(program, buffer)
    )
