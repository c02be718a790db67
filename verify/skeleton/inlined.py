"""Names that are given a value once, replaced by it: `w = warp` is another word for `tid // 32`, not a counter.

That is so if the value is the same wherever the name is used: those uses all follow in the block, in the same iteration
of all loops around, and what it is made of is no counter, nor an unknown number that depends on one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Index, Int, Not, Var
from exogpu.ir.skeleton.tree import Block, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import children, walk, with_blocks
from exogpu.ir.walk import index_names, substitute_cond, substitute_index
from exogpu.verify.skeleton.mentions import changing, names_in

Values = Mapping[str, Index]


def inlined(skeleton: Skeleton) -> Skeleton:
    """The skeleton without the names that are given once, of nothing that changes, and used only where they are."""
    in_arguments = {n for _, unknown in skeleton.unknowns for a in unknown.args for n in index_names(a)}
    bodies = tuple(
        replace(b, stmts=_Inliner(skeleton, b.stmts, in_arguments).block(b.stmts, {})) for b in skeleton.bodies
    )
    return replace(skeleton, bodies=bodies) if bodies != skeleton.bodies else skeleton


class _Inliner:
    def __init__(self, skeleton: Skeleton, stmts: Block, kept: set[str]) -> None:
        self.uses = _uses(stmts)
        given = Counter(s.name for s in walk(stmts) if isinstance(s, Let))
        stepped = {s.name for s in walk(stmts) if isinstance(s, Step)}
        self.once = {name for name, times in given.items() if times == 1} - stepped - kept
        self.changing = changing(skeleton, stmts)

    def block(self, block: Block, values: Values) -> Block:
        """The statements of a block, where these names have values."""
        out: list[Stmt] = []
        for n, stmt in enumerate(block):
            if isinstance(stmt, Let) and stmt.name in self.once and self._stays(stmt, values, block[n + 1 :]):
                values = {**values, stmt.name: substitute_index(stmt.value, values)}
                continue
            inner = [self.block(b, values) for b in children(stmt)]
            out.append(with_blocks(with_values(with_blocks(stmt, [()] * len(inner)), values), inner))
        return tuple(out)

    def _stays(self, let: Let, values: Values, following: Block) -> bool:
        """The value is the same wherever the name is used, all of which is in the statements that follow."""
        fixed = not index_names(substitute_index(let.value, values)) & self.changing
        return fixed and _uses(following)[let.name] == self.uses[let.name]


def _uses(stmts: Block) -> Counter[str]:
    return Counter(name for s in walk(stmts) for name in names_in(s))


def with_values(part: Any, values: Values) -> Any:
    """A statement or a part of one in which these names have values."""
    match part:
        case Var() | Int() | Bin():
            return substitute_index(part, values)
        case Cmp() | BoolOp() | Not() | Bool():
            return substitute_cond(part, values)
        case tuple():
            return tuple(with_values(each, values) for each in part)
        case _ if is_dataclass(part) and not isinstance(part, type):
            compared = (f.name for f in fields(part) if f.compare)
            return replace(part, **{name: with_values(getattr(part, name), values) for name in compared})
        case _:
            return part
