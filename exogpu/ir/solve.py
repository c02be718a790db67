"""Guesses for variables at which index expressions have given values; whoever uses one proves it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.linear import linear
from exogpu.ir.terms import add, divide, subtract, times
from exogpu.ir.walk import index_names, substitute_index


@dataclass
class Solution:
    """What is known of variables, and of quotients and remainders of them."""

    unknown: Set[str]
    values: dict[str, Index] = field(default_factory=dict)
    atoms: dict[Index, Index] = field(default_factory=dict)

    def equation(self, e: Index, target: Index) -> bool:
        """Learns from `e == target`; whether anything new came of it."""
        form = linear(substitute_index(e, self.values))
        open_terms = [(a, c) for a, c in form.terms.items() if self._open(a)]
        rest = target
        for atom, c in form.terms.items():
            if not self._open(atom):
                known = self.atoms.get(atom, atom)
                rest = subtract(rest, times(c, known)) if c > 0 else add(rest, times(-c, known))
        rest = subtract(rest, Int(form.const))
        return bool(open_terms) and self._digits(open_terms, rest)

    def _open(self, atom: Index) -> bool:
        return atom not in self.atoms and bool(index_names(atom) & (self.unknown - self.values.keys()))

    def _digits(self, terms: Sequence[tuple[Index, int]], rest: Index) -> bool:
        """A mixed radix number: the atom with the largest coefficient is the first digit."""
        if all(c < 0 for _, c in terms):
            return self._digits([(atom, -c) for atom, c in terms], subtract(Int(0), rest))
        ordered = sorted(terms, key=lambda t: -t[1])
        if any(c <= 0 for _, c in ordered):
            return False
        new = False
        for atom, c in ordered:
            new |= self._atom(atom, divide(rest, c))
            rest = divide(rest, c, "%")
        return new

    def _atom(self, atom: Index, value: Index) -> bool:
        match atom:
            case Var(name):
                if name in self.values or name not in self.unknown:
                    return False
                self.values[name] = value
                return True
            case Bin("%" | "//", inner, Int(m)):
                self.atoms[atom] = value
                quotient, digit = (self.atoms.get(Bin(op, inner, Int(m))) for op in ("//", "%"))
                if quotient is not None and digit is not None:
                    self.equation(inner, add(times(m, quotient), digit))
                return True
            case _:
                return False

    def guess(self) -> bool:
        """Settles a variable of which only a quotient or a remainder is known: the other is the target's, or 0."""
        for atom, value in self.atoms.items():
            match atom:
                case Bin(op, inner, Int(m)) if index_names(inner) & (self.unknown - self.values.keys()):
                    if op == "%" and isinstance(value, Bin) and value.op == "%" and value.right == Int(m):
                        value = value.left
                    if self.equation(inner, value if op == "%" else times(m, value)):
                        return True
                case _:
                    pass
        return False


def solve(equations: Iterable[tuple[Index, Index]], unknown: Set[str]) -> dict[str, Index]:
    """Values of some of the unknown variables, such that the equations may hold."""
    solution, wanted = Solution(unknown), tuple(equations)
    progress = True
    while progress:
        learnt = [solution.equation(e, target) for e, target in wanted]
        progress = any(learnt) or solution.guess()
    return solution.values
