"""Conditions as literals, and questions about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from exogpu.equiv.normal import Normal
from exogpu.equiv.ranges import ranges_of
from exogpu.ir.index import OPPOSITE, Bool, BoolOp, Cmp, Cond, Not
from exogpu.ir.terms import both, either
from exogpu.smt.implication import contradicting
from exogpu.smt.solver import Engine, Unsat
from exogpu.smt.terms import TermApi

Facts = tuple[Cond, ...]

RLIMIT = 500_000
"""Z3 resource units per question: most take a hundredth of it, and many are asked."""
BUDGET = 6_000_000
"""Z3 resource units for all questions of a comparison; two shipped kernels take about a tenth."""
SHORT = 1_000_000
"""Z3 resource units after which a difference is looked for, before the search for a proof goes on."""
QUESTION = 2_000
"""What a question costs besides, in the same units."""


def literals(cond: Cond) -> Facts:
    """Conditions that hold together exactly where this one does; negations are pushed inwards."""
    match cond:
        case Bool(True):
            return ()
        case BoolOp("and", args):
            return tuple(c for arg in args for c in literals(arg))
        case Not(arg):
            opposite = negation(arg)
            return literals(opposite) if opposite != cond else (cond,)
        case _:
            return (cond,)


def negation(cond: Cond) -> Cond:
    """The opposite of a condition, with negations of comparisons only."""
    match cond:
        case Bool(value):
            return Bool(not value)
        case Not(arg):
            return arg
        case Cmp(op, left, right):
            return Cmp(OPPOSITE[op], left, right)
        case BoolOp("and", args):
            return either(negation(a) for a in args)
        case BoolOp(_, args):
            return both(negation(a) for a in args)


def normal_under(facts: Facts) -> Normal:
    """The normal forms where some facts hold."""
    return Normal(ranges_of(facts))


def normalised(facts: Facts, conds: Iterable[Cond]) -> Facts:
    """The same conditions in normal form where the facts hold, in literals."""
    normal = normal_under(facts)
    return tuple(dict.fromkeys(c for cond in conds for c in literals(normal.cond(cond))))


def joined(facts: Facts, conds: Iterable[Cond]) -> Facts:
    """Facts, and conditions that hold in addition, in normal form."""
    return tuple(dict.fromkeys((*facts, *normalised(facts, conds))))


class Exhausted(Exception):
    """The budget for questions is spent."""


@dataclass
class Logic:
    """Answers questions about conditions, for all integers; it remembers the answers. `spent` and `budget` are in Z3
    resource units."""

    engine: Engine = field(default_factory=lambda: Engine(TermApi(), RLIMIT))
    answers: dict[tuple[Facts, Cond], bool] = field(default_factory=dict)
    spent: int = 0
    budget: int = BUDGET

    @property
    def exhausted(self) -> bool:
        """No more questions are answered that are new."""
        return self.spent > self.budget

    def implied(self, facts: Facts, cond: Cond) -> bool:
        """Whether the facts are known to imply a condition."""
        goal = normal_under(facts).cond(cond)
        return goal == Bool(True) or goal in facts or self._known(facts, goal)

    def impossible(self, facts: Facts) -> bool:
        """Whether the facts are known to contradict each other."""
        return Bool(False) in facts or self._known(facts, Bool(False))

    def open_ones(self, facts: Facts, conds: Iterable[Cond]) -> Facts:
        """Those conditions that the facts and the conditions before them do not imply, in normal form."""
        left: list[Cond] = []
        for cond in normalised(facts, conds):
            if not self.implied((*facts, *left), cond):
                left.append(cond)
        return tuple(left)

    def _known(self, facts: Facts, goal: Cond) -> bool:
        question = (facts, goal)
        if question not in self.answers:
            self.answers[question] = self._proved(facts, goal)
        return self.answers[question]

    def _proved(self, facts: Facts, goal: Cond) -> bool:
        """Whether the solver proves that the facts imply a condition; Exhausted if the budget is spent."""
        if self.exhausted:
            raise Exhausted
        _, solver = contradicting(self.engine, facts, goal)
        answer = solver.check(small_core=False)
        self.spent += solver.rlimit + QUESTION
        return isinstance(answer, Unsat)
