"""What copies by TMA deliver."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from exogpu.ir.instr import CompleteTx
from exogpu.ir.proc import Launch
from exogpu.ir.stmt import Alloc, For, Stmt, Threads
from exogpu.sync.nodes import Node, Touch


def whole_ctas(block: Launch, stmt: Stmt) -> bool:
    """A loop over the CTAs of a cluster."""
    return isinstance(stmt, For) and isinstance(stmt.mode, Threads) and stmt.mode.unit == block.threads


def delivered(block: Launch, homes: Iterable[Node], copy: Touch, times: int) -> int:
    """Bytes that come to one CTA when a copy is executed so many times in every CTA."""
    completion = copy.call.instr.completion
    assert isinstance(completion, CompleteTx)
    window = copy.call.window(completion.data)
    dtype = next(a.stmt.dtype for a in homes if isinstance(a.stmt, Alloc) and a.stmt.name == window.buffer)
    size = prod(window.shape) * dtype.bytes * times
    if copy.call.instr.spread is None:
        return size
    return size // window.shape[0] * block.cluster  # every CTA sends its part to every CTA
