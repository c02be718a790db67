"""What the arguments of a procedure satisfy whenever it runs."""

from __future__ import annotations

from exogpu.ir.index import Cmp, Cond, Index, Int, Var
from exogpu.ir.proc import MAX_SIZE, Proc, SizeArg, TensorArg
from exogpu.ir.terms import both


def is_size(e: Index) -> Cond:
    """The condition that a size can have this value."""
    return both((Cmp("<=", Int(0), e), Cmp("<=", e, Int(MAX_SIZE))))


def known_sizes(proc: Proc) -> tuple[Cond, ...]:
    """Ranges of sizes and of the extents of tensors, and the preconditions."""
    facts: list[Cond] = []
    for arg in proc.args:
        match arg:
            case SizeArg(name):
                facts.append(is_size(Var(name)))
            case TensorArg(shape=shape):
                facts += (Cmp(">=", extent, Int(0)) for extent in shape if not isinstance(extent, Var | Int))
            case _:
                pass
    return (*facts, *(r.cond for r in proc.requires))
