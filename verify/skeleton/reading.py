"""What a statement is read with: its expressions where it stands, the fences around it, the threads that execute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exogpu.ir.index import Bin, Cond, Index, Int, Var
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import TID
from exogpu.verify.program import Event
from exogpu.verify.skeleton.place import Fenced
from exogpu.verify.skeleton.unsupported import NotModelled


@dataclass(frozen=True, slots=True)
class Reading:
    """How a statement's expressions are read where it stands."""

    index: Callable[[Index], Index]
    cond: Callable[[Cond], Cond]


SCOPES: tuple[op.Scope, ...] = ("cta", "cluster", "gpu", "sys")
"""From narrow to wide."""


@dataclass(frozen=True, slots=True)
class Strength:
    """The scope of a signal or wait, whether it is relaxed after all, and an axiom without which it is."""

    scope: op.Scope
    relaxed: bool
    axiom: str = ""

    @property
    def wide(self) -> bool:
        """It reaches other CTAs."""
        return self.scope != "cta"


@dataclass(frozen=True, slots=True)
class Fences:
    """The fence right before a statement, and the scope of the one right behind it: they make its relaxed form release
    or acquire."""

    before: Fenced | None
    behind: op.Scope | None

    def released(self, scope: op.Scope, *, relaxed: bool) -> Strength:
        """How far a signal publishes: with a fence, as far as both reach."""
        if not relaxed or self.before is None:
            return Strength(scope, relaxed)
        return Strength(min(scope, self.before.scope, key=SCOPES.index), False, self.before.axiom)

    def acquired(self, scope: op.Scope, *, relaxed: bool) -> Strength:
        """How far a wait acquires."""
        if not relaxed or self.behind is None:
            return Strength(scope, relaxed)
        return Strength(min(scope, self.behind, key=SCOPES.index), False)


@dataclass(frozen=True, slots=True)
class Checked:
    """A condition that holds whenever an event is executed: what a statement checks, or that a window is in place."""

    event: Event
    cond: Cond
    stmt: op.Check | None


def uniform(e: Index, unit: int, ref: Ref) -> None:
    """All threads of a collective give an index the same value: it tests only which collective they are in."""
    match e:
        case Var(name) if name == TID:
            raise NotModelled("the threads of a collective name different windows", ref.span)
        case Bin("//", Var(name), Int(divisor)) if name == TID and divisor % unit == 0:
            return
        case Bin(_, left, right):
            uniform(left, unit, ref)
            uniform(right, unit, ref)
        case _:
            return
