"""Whether two blocks do the same to memory.

Each is a sequence of parts: an assignment with the loops and conditions around it. Two parts do the same if their
executions correspond one to one and assign equal values to the same elements. The correspondence is found by solving
the equations of the indices (`cover.solve`), and the solver proves that it is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exogpu.ir.buffers import reassociable
from exogpu.ir.evaluate import holds
from exogpu.ir.index import Bool, Cond, Index, Var
from exogpu.ir.solve import solve
from exogpu.ir.stmt import Alloc, Arrive, Await, Block, Fence, InstrCall, Role
from exogpu.ir.terms import both, earlier, equal
from exogpu.ir.types import Scalar
from exogpu.ir.value import Read, Value
from exogpu.ir.walk import index_names, reads, substitute_index, walk
from exogpu.schedule.effects import Access, Does
from exogpu.schedule.errors import Counterexample, Refused, limit
from exogpu.schedule.proving import Refuted, decide
from exogpu.schedule.same import Same
from exogpu.schedule.work import Work
from exogpu.source import Span

OTHER = "*"
"""Ends the names of the new block's loop variables."""


def same_meaning(at: Work, known: Sequence[Cond], old: Block, new: Block, what: str, span: Span) -> None:
    """Proves that `new` does what `old` does wherever `known` holds; Refused, naming `what`, if it does not."""
    Matching(at, tuple(known), what, span).blocks(old, new)


@dataclass(frozen=True, slots=True)
class Matching:
    """One comparison: what holds wherever the blocks are executed, and what the new one is called in messages."""

    at: Work
    known: tuple[Cond, ...]
    what: str
    span: Span

    def blocks(self, old: Block, new: Block) -> None:
        """Compares the parts in order. What the old block says of time and threads would be lost."""
        for stmt in walk(old):
            if isinstance(stmt, Fence | Arrive | Await | Role) or (isinstance(stmt, InstrCall) and stmt.instr.effect):
                raise limit("the statements synchronise, or say who executes them", stmt.span, "do that afterwards")
        mine = self._parts(old, "the block")
        theirs = [a.at({n: Var(n + OTHER) for n in a.inner}) for a in self._parts(new, self.what)]
        if len(mine) != len(theirs):
            text = f"{len(mine)} assignments cannot be what {self.what} does in {len(theirs)}"
            raise limit(text, self.span)
        for a, b in zip(mine, theirs, strict=True):
            self._part(a, b)

    def _parts(self, block: Block, whose: str) -> list[Access]:
        """The assignments that can be executed; no two may be in one loop."""
        for stmt in walk(block):
            if isinstance(stmt, Alloc):
                raise limit(f"{whose} allocates `{stmt.name}`", stmt.span, "lift it out first")
        found = [a for a in self.at.effects(block) if a.does is not Does.READ]
        found = [a for a in found if Bool(False) not in a.given]
        for n, a in enumerate(found):
            if any(set(a.loops) & set(b.loops) for b in found[:n]):
                raise limit(f"two assignments of {whose} are in one loop", a.span, "cut the loop with `fission` first")
        return found

    # -- one assignment of each --------------------------------------------------------------------------------------

    def _part(self, a: Access, b: Access) -> None:
        if a.buffer != b.buffer or a.does is not b.does:
            text = f"the block {a.does.value} `{a.buffer}` where {self.what} {b.does.value} `{b.buffer}`"
            raise limit(text, a.span)
        for part in (a, b):
            self._apart_from_itself(part)
        there, back = self._solved(a, b), self._solved(b, a)
        self._one_way(a, b.at(back), f"does not do what the block does to `{a.buffer}`")
        self._one_way(b, a.at(there), f"does more than the block to `{a.buffer}`")
        if a.does is Does.WRITE:
            self._single(a)
        else:
            self._one_to_one(a, b, there, back)
            self._order(a, b, there)

    def _solved(self, a: Access, b: Access) -> Mapping[str, Index]:
        """Variables of `a` for which it may do what an execution of `b` does."""
        left, right = (_coordinates(x) for x in (a, b))
        if len(left) != len(right):
            left, right = a.index, b.index
        return {**{n: a.range(n)[0] for n in a.inner}, **solve(zip(left, right, strict=True), frozenset(a.inner))}

    def _one_way(self, a: Access, b: Access, failure: str) -> None:
        """Whenever `a` is executed, so is the execution `b` of the other, and does the same."""
        given = (*self.known, *a.given)
        hit = both((*b.given, *(equal(x, y) for x, y in zip(a.index, b.index, strict=True))))
        self.at.prove(f"{self.what} does the same to `{a.buffer}`", given, hit, f"{self.what} {failure}", self.span)
        op = "=" if a.does is Does.WRITE else "+="
        self._same_values(a, b, given, op, f"{self.what} computes other values of `{a.buffer}`")

    def _same_values(self, a: Access, b: Access, given: Sequence[Cond], op: str, failure: str) -> None:
        """Two executions assign equal values. The solver's counterexamples to parts of it count where they are some to
        all of it."""
        assert a.value is not None
        assert b.value is not None
        unproved: list[tuple[Sequence[Cond], Cond]] = []

        def proved(known: Sequence[Cond], goal: Cond) -> bool:
            if self.at.implied(known, goal):
                return True
            unproved.append((known, goal))
            return False

        types = self.at.types
        same = Same(types, proved)
        if same.stored(a.value, b.value, given, types[a.buffer], op):
            return
        for known, goal in unproved:
            answer = decide(known, goal)
            if isinstance(answer, Refuted):
                found = self._told_apart(same, (a.value, b.value), types[a.buffer], given, answer.example)
                if found is not None:
                    raise Refused(
                        "schedule.condition", failure, self.span, counterexample=answer.example, notes=(found,)
                    )
        raise limit(f"{failure}, or it is not known that they are the same", self.span)

    def _told_apart(
        self, same: Same, pair: tuple[Value, Value], to: Scalar, given: Sequence[Cond], example: Counterexample
    ) -> str | None:
        """What two values are in an execution, if it is one and they differ for some data when they are stored."""
        names = frozenset[str]().union(*(index_names(c) for c in given))
        env = dict.fromkeys(names, 0) | dict(example.values)
        if not holds(both(given), env):
            return None
        found = same.told_apart(*pair, to, env)
        return None if found is None else f"there the values are {found[0]} and {found[1]}"

    def _apart_from_itself(self, a: Access) -> None:
        """What is assigned does not depend on the buffer that is assigned to."""
        for read in _reads(a.value):
            if read.buffer == a.buffer:
                other = a.primed()
                seen = Access(a.buffer, read.index, Does.READ, a.inner, a.given, a.place, a.loops, a.span)
                self.at.apart(self.known, seen, other, "a later execution reads what an earlier one has written")

    def _single(self, a: Access) -> None:
        """Executions that write one element write one value."""
        other = a.primed()
        meet = both(equal(x, y) for x, y in zip(a.index, other.index, strict=True))
        given = (*self.known, *a.given, *other.given, meet)
        self._same_values(a, other, given, "=", f"executions write different values to one element of `{a.buffer}`")

    def _one_to_one(self, a: Access, b: Access, there: Mapping[str, Index], back: Mapping[str, Index]) -> None:
        """The two ways are inverse to each other, so both add as often."""
        for mine, to, fro in ((a, back, there), (b, there, back)):
            again = both(equal(substitute_index(fro[n], to), Var(n)) for n in mine.inner)
            given = (*self.known, *mine.given)
            self.at.prove(
                "each execution has one counterpart", given, again, "an addition happens more often than once"
            )

    def _order(self, a: Access, b: Access, there: Mapping[str, Index]) -> None:
        """Additions to one element are in one order, or may be taken in any."""
        dtype = self.at.buffers[a.buffer].dtype
        if not dtype.is_float:
            return
        later = b.primed()
        env = {n: Var(f"{n}'") for n in b.inner}
        first = [there[n] for n in a.inner]
        then = [substitute_index(i, env) for i in first]
        meet = both(equal(x, y) for x, y in zip(b.index, later.index, strict=True))
        in_order = earlier([Var(n) for n in b.inner], [env[n] for n in b.inner])
        given = (*self.known, *b.given, *later.given, meet, in_order)
        if self.at.implied(given, earlier(first, then), "sums are taken in one order"):
            return
        if not reassociable(dtype, False):
            raise limit(f"sums of {dtype.value} are rounded in every step, and their order differs", a.span)
        self.at.reassociated = True


def _reads(value: Value | None) -> list[Read]:
    return [] if value is None else [read for read, _ in reads(value) if read.index]


def _coordinates(a: Access) -> tuple[Index, ...]:
    """The indices that say which execution it is: of the target, then of what is read, in the order of names."""
    read = sorted(_reads(a.value), key=lambda r: r.buffer)
    return (*a.index, *(i for r in read for i in r.index))
