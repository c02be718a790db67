"""Shorter expressions and conditions by what is known where they stand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, IndexOp, Int, Not, Var
from exogpu.ir.linear import Linear, linear
from exogpu.ir.preconditions import known_sizes
from exogpu.ir.stmt import Assign, For, If, Role, Stmt
from exogpu.ir.substitute import Change, change
from exogpu.ir.terms import add, both, divide, either, negated, total, within
from exogpu.ir.value import Select, Value
from exogpu.ir.walk import map_value
from exogpu.schedule.cursor import Where
from exogpu.schedule.paths import Block, Path
from exogpu.schedule.work import Work, operator

Known = tuple[Cond, ...]


@operator
def simplify(at: Work, where: Where | None = None) -> None:
    """Shortens the expressions of statements, or of the whole procedure; no statement goes away."""
    path: Path = (0,)
    old, known = at.proc.body, known_sizes(at.proc)
    if where is not None:
        cursor = at.find(where)
        path, old, known = cursor.path, cursor.block, at.known(cursor.path)
    new = _Simplifier(at).block(old, known)
    at.splice(path, len(old), new, {(n,): (n,) for n in range(len(old))})


@dataclass(frozen=True, slots=True)
class _Simplifier:
    """What it needs for a shorter form is proved and noted with the step."""

    at: Work
    told: dict[tuple[Known, Cond], bool] = field(default_factory=dict)

    def implied(self, known: Known, goal: Cond) -> bool:
        """Whether the solver proves the goal."""
        if (known, goal) not in self.told:
            self.told[known, goal] = self.at.implied(known, goal)
        return self.told[known, goal]

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, block: Block, known: Known) -> Block:
        return tuple(self.stmt(stmt, known) for stmt in block)

    def stmt(self, stmt: Stmt, known: Known) -> Stmt:
        to = Change(lambda e: self.index(e, known), lambda c: self.cond(c, known))
        match stmt:
            case For():
                lo, hi = to.index(stmt.lo), to.index(stmt.hi)
                return replace(stmt, lo=lo, hi=hi, body=self.block(stmt.body, (*known, within(Var(stmt.var), lo, hi))))
            case If():
                cond = to.cond(stmt.cond)
                then = self.block(stmt.then, (*known, cond))
                return replace(stmt, cond=cond, then=then, orelse=self.block(stmt.orelse, (*known, negated(cond))))
            case Role():
                unit = None if stmt.index is None else to.index(stmt.index)
                return replace(stmt, index=unit, body=self.block(stmt.body, known))
            case _:
                (new,) = change((stmt,), to)
                return replace(new, rhs=map_value(new.rhs, _decided)) if isinstance(new, Assign) else new

    # -- expressions -----------------------------------------------------------------------------------------------

    def index(self, e: Index, known: Known) -> Index:
        match e:
            case Bin(op, left, right):
                a, b = self.index(left, known), self.index(right, known)
                return total(linear(self.operation(op, a, b, known)))
            case _:
                return e

    def operation(self, op: IndexOp, a: Index, b: Index, known: Known) -> Index:
        match op, b:
            case "min" | "max", _:
                if self.implied(known, Cmp("<=", a, b)):
                    return a if op == "min" else b
                if self.implied(known, Cmp("<=", b, a)):
                    return b if op == "min" else a
            case "//" | "%", Int(n):
                return self.division(op == "//", linear(a), n, known)
            case "ceildiv", Int(n):
                return self.rounded_up(linear(a), n, known)
        return Bin(op, a, b)

    def division(self, quotient: bool, form: Linear, n: int, known: Known) -> Index:
        whole, rest = form.divided(n)
        small = total(rest)
        if self.implied(known, within(small, Int(0), Int(n))):
            return total(whole) if quotient else small
        return add(total(whole), divide(small, n)) if quotient else divide(small, n, "%")

    def rounded_up(self, form: Linear, n: int, known: Known) -> Index:
        whole, rest = form.divided(n)
        small = total(rest)
        for answer in (0, 1):
            low = Int((answer - 1) * n)
            if self.implied(known, both((Cmp("<", low, small), Cmp("<=", small, Int(answer * n))))):
                return add(total(whole), Int(answer))
        return add(total(whole), divide(small, n, "ceildiv"))

    # -- conditions ------------------------------------------------------------------------------------------------

    def cond(self, c: Cond, known: Known) -> Cond:
        match c:
            case Cmp():
                if self.implied(known, c):
                    return Bool(True)
                if self.implied(known, negated(c)):
                    return Bool(False)
                return replace(c, left=self.index(c.left, known), right=self.index(c.right, known))
            case Not(arg):
                return negated(self.cond(arg, known))
            case BoolOp(op, args):
                kept: list[Cond] = []
                for arg in args:
                    before = tuple(kept if op == "and" else map(negated, kept))
                    kept.append(self.cond(arg, (*known, *before)))
                return both(kept) if op == "and" else either(kept)
            case Bool():
                return c


def _decided(value: Value) -> Value:
    match value:
        case Select(Bool(True), then, _):
            return then
        case Select(Bool(False), _, orelse):
            return orelse
        case _:
            return value
