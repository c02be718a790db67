"""Whether a write always happens before another access to the same element, in the same run of a block.

The write must have an execution that hits the element. It is found by solving the equations of the indices for the
variables of those loops around the write that are not around the other access; the solver then checks it.
"""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.ir.index import Cond, Index, Int, Var
from exogpu.ir.linear import Linear, linear
from exogpu.ir.terms import add, both, divide, equal, subtract, times
from exogpu.schedule.effects import Access, Does
from exogpu.schedule.paths import Path


def covers(write: Access, access: Access) -> Cond | None:
    """A condition, over the variables of `access`, under which `write` has written its element before; None if no
    such condition is known. Both are effects of one block."""
    if write.does is not Does.WRITE or write.buffer != access.buffer or not write.place < access.place:
        return None
    shared = _common(write.place, access.place)
    own = [n for n, loop in zip(write.inner, write.loops, strict=True) if loop != shared[: len(loop)]]
    there = write.at({name: Var(f"{name}*") for name in own})
    solution = solve(there.index, access.index, frozenset(f"{name}*" for name in own))
    if len(solution) < len(own):
        return None
    hit = there.at(solution)
    return both((*hit.given, *(equal(a, b) for a, b in zip(hit.index, access.index, strict=True))))


def _common(a: Path, b: Path) -> Path:
    """The part of two paths that is the same."""
    n = next(i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return a[:n]


def solve(left: tuple[Index, ...], right: tuple[Index, ...], unknowns: frozenset[str]) -> Mapping[str, Index]:
    """Values of the unknowns for which `left` may be equal to `right`; an unknown that the equations say nothing of
    gets none. The result is a guess: whoever uses it checks it."""
    found: dict[str, Index] = {}
    for a, b in zip(left, right, strict=True):
        _solve_one(linear(a), b, unknowns - found.keys(), found)
    return found


def _solve_one(form: Linear, value: Index, unknowns: frozenset[str], found: dict[str, Index]) -> None:
    """The unknowns of one sum, the largest factor first: each takes what the smaller ones cannot make up."""
    mine = [(c, e.name) for e, c in form.terms.items() if isinstance(e, Var) and e.name in unknowns]
    if mine and all(c < 0 for c, _ in mine):
        _solve_one(Linear({}, 0).plus(form, -1), subtract(Int(0), value), unknowns, found)
        return
    mine = [(c, name) for c, name in mine if c > 0]
    rest = subtract(value, _without(form, {name for _, name in mine}, found))
    for n, (factor, name) in enumerate(sorted(mine, reverse=True)):
        last = n == len(mine) - 1
        found[name] = rest if factor == 1 and last else divide(rest, factor)
        rest = divide(rest, factor, "%")


def _without(form: Linear, names: set[str], found: Mapping[str, Index]) -> Index:
    """The sum of the terms that are not among the unknowns; those found before have their values."""
    out: Index = Int(form.const)
    for atom, factor in form.terms.items():
        if isinstance(atom, Var) and atom.name in names:
            continue
        known = found.get(atom.name, atom) if isinstance(atom, Var) else atom
        out = add(out, times(factor, known)) if factor > 0 else subtract(out, times(-factor, known))
    return out
