"""Which of two executions comes first."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.index import Bool, Cond, Var
from exogpu.ir.stmt import Assign
from exogpu.ir.terms import both, either, equal, less
from exogpu.schedule.effects import Access, Does
from exogpu.schedule.paths import Block, stmt_at


@dataclass(frozen=True, slots=True)
class Order:
    """The order of the executions of a block."""

    block: Block

    def before(self, first: Access, second: Access) -> Cond:
        """The condition that an access is executed before another one. Both are effects of the block, with variables of
        their own. What an instruction does may happen in any order."""
        options: list[Cond] = []
        same: list[Cond] = []
        for a, b, one, other in zip(first.inner, second.inner, first.loops, second.loops, strict=False):
            if one != other or len(one) > len(first.place):
                break
            options.append(both((*same, less(Var(a), Var(b)))))
            same.append(equal(Var(a), Var(b)))
        return either((*options, both((*same, Bool(self._in_text(first, second))))))

    def _in_text(self, first: Access, second: Access) -> bool:
        """The same in one iteration of the loops around both."""
        if first.place != second.place:
            return first.place < second.place
        if isinstance(stmt_at(self.block, first.place), Assign):
            return first.does is Does.READ and second.does is not Does.READ
        return True
