"""Names that are given a value once, replaced by it: `w = warp` is another word for `tid // 32`, not a counter.

That is so if the value is the same wherever the name is used: those uses all follow in the block, in the same iteration
of all loops around, and what it is made of is no counter, nor an unknown number that depends on one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from exogpu.ir.index import Bin, Cond, Index, Int, Var
from exogpu.ir.skeleton.tree import Block, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import changed, children, in_each_role, walk, with_blocks
from exogpu.ir.walk import substitute_cond, substitute_index
from exogpu.verify.skeleton.mentions import counters, in_arguments, names_in, names_of

Values = Mapping[str, Index]


def inlined(skeleton: Skeleton) -> Skeleton:
    """The skeleton without the names that are given once, of nothing that changes, and used only where they are."""
    kept = in_arguments(skeleton)
    return in_each_role(skeleton, lambda stmts: _Inliner(skeleton, stmts, kept).block(stmts, {}))


class _Inliner:
    def __init__(self, skeleton: Skeleton, stmts: Block, kept: frozenset[str]) -> None:
        self.skeleton = skeleton
        self.uses = self._uses(stmts)
        given = Counter(s.name for s in walk(stmts) if isinstance(s, Let))
        stepped = {s.name for s in walk(stmts) if isinstance(s, Step)}
        self.once = {name for name, times in given.items() if times == 1} - stepped - kept
        self.changing = counters(stmts)

    def block(self, block: Block, values: Values) -> Block:
        """The statements of a block, where these names have values."""
        out: list[Stmt] = []
        for n, stmt in enumerate(block):
            if isinstance(stmt, Let) and stmt.name in self.once and self._stays(stmt, values, block[n + 1 :]):
                values = {**values, stmt.name: substitute_index(stmt.value, values)}
                continue
            inner = [self.block(b, values) for b in children(stmt)]
            out.append(with_blocks(changed(stmt, partial(with_values, values)), inner))
        return tuple(out)

    def _stays(self, let: Let, values: Values, following: Block) -> bool:
        """The value is the same wherever the name is used, all of which is in the statements that follow."""
        fixed = not names_of(self.skeleton, substitute_index(let.value, values)) & self.changing
        return fixed and self._uses(following)[let.name] == self.uses[let.name]

    def _uses(self, stmts: Block) -> Counter[str]:
        return Counter(name for s in walk(stmts) for name in names_in(self.skeleton, s))


def with_values(values: Values, e: Index | Cond) -> Index | Cond:
    """An expression in which these names have values."""
    return substitute_index(e, values) if isinstance(e, Var | Int | Bin) else substitute_cond(e, values)
