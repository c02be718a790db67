"""Which threads execute a statement: a collective is a run of consecutive threads of the cluster.

Thread numbers run through the CTAs of a cluster: thread t of CTA c is number c * block.threads + t.
"""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.linear import linear
from exogpu.ir.proc import Launch
from exogpu.ir.stmt import For, Role, Stmt, Threads

WARP = 32
WARPGROUP = 128


@dataclass(frozen=True, slots=True)
class Collective:
    """`size` threads from `first`, which is over the variables of the enclosing `threads` loops."""

    first: Index
    size: int

    def starts_at_multiple_of(self, n: int) -> bool:
        """Whether `first` is a multiple of n for all values of its variables."""
        return linear(self.first).multiple_of(n)


def whole(block: Launch) -> Collective:
    """All threads of the cluster."""
    return Collective(Int(0), block.threads * block.cluster)


def role(block: Launch, cta: Collective, name: str, index: Index | None = None) -> Collective | None:
    """The threads of a role in the CTA that executes it, or of one unit of it; None if the block has no such role."""
    found = next((r for r in block.roles if r.name == name), None)
    if found is None:
        return None
    first = plus(cta.first, Int(found.first))
    if index is None:
        return Collective(first, found.threads)
    return Collective(plus(first, Bin("*", Int(found.unit), index)), found.unit)


def plus(a: Index, b: Index) -> Index:
    """`a + b`, without a term that is 0."""
    if b == Int(0):
        return a
    return b if a == Int(0) else Bin("+", a, b)


def iteration(outer: Collective, var: str, unit: int) -> Collective:
    """The threads that run iteration `var` of a `threads` loop."""
    offset: Index = Var(var) if unit == 1 else Bin("*", Int(unit), Var(var))
    return Collective(plus(outer.first, offset), unit)


def inside(block: Launch, outer: Collective, stmt: Stmt) -> Collective:
    """The threads that execute the blocks nested in `stmt`, which `outer` executes; KeyError for an unknown role."""
    match stmt:
        case For(var=var, mode=Threads(unit)):
            return iteration(outer, var, unit)
        case Role(name, index=index):
            found = role(block, outer, name, index)
            if found is None:
                raise KeyError(name)
            return found
        case _:
            return outer
