"""Units of a role that take turns: where it is decided whose turn it is, and who takes part."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from exogpu.codegen.cuda.tree import Binary, Expr
from exogpu.codegen.lower.role import role_team
from exogpu.codegen.lower.state import State
from exogpu.codegen.lower.team import Split, split
from exogpu.ir.index import Index
from exogpu.ir.stmt import Alloc, For, If, Role, Stmt
from exogpu.ir.walk import children, index_names


def sole_turn(block: Sequence[Stmt], known: Collection[str]) -> Role | None:
    """A role statement such that all of a block is executed by its unit, if the variables that name the unit are
    `known` before the block: it is then decided once whose turn it is."""
    found = list(_leaves(block))
    first = found[0] if found else None
    if not isinstance(first, Role) or first.index is None or not index_names(first.index) <= set(known):
        return None
    same = all(isinstance(s, Role) and (s.name, s.index) == (first.name, first.index) for s in found)
    return first if same else None


def _leaves(block: Sequence[Stmt]) -> Iterator[Stmt]:
    """What a block executes: roles as a whole, and statements outside them."""
    for stmt in block:
        match stmt:
            case For() | If():
                for inner in children(stmt):
                    yield from _leaves(inner)
            case Alloc():
                continue
            case _:
                yield stmt


def units(state: State, name: str) -> Split:
    """The units of a role as a `threads` loop over it."""
    decl = next(r for r in state.proc.block.roles if r.name == name)
    return split(role_team(state.proc, name), 0, decl.threads // decl.unit, decl.unit)


def is_turn(state: State, parts: Split, index: Index) -> Expr | None:
    """Whether it is the executing unit's turn; None if the role has one unit only."""
    return None if parts.value is None else Binary("==", parts.value, state.indices.expr(index))
