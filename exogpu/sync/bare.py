"""A kernel without its synchronisation: what is left when every barrier, arrive, await, wait and fence is gone."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.completion import completes_on, completing_on
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Block, InstrCall, Stmt
from exogpu.ir.walk import children, with_blocks
from exogpu.verify.edits import only_synchronises


def bare(proc: Proc) -> Proc:
    """The kernel with its data statements alone; copies complete on no barrier."""
    return replace(proc, body=_left(proc.body), barriers=(), named=())


def _left(block: Block) -> Block:
    return tuple(_stripped(s) for s in block if not only_synchronises(s))


def _stripped(stmt: Stmt) -> Stmt:
    if isinstance(stmt, InstrCall) and completes_on(stmt):
        return completing_on(stmt, None)
    return with_blocks(stmt, [_left(inner) for inner in children(stmt)])
