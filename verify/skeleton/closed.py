"""Counters that follow from the variables of loops: stepped in every iteration, whatever happens in it.

`c = 0` before a loop and `c += 1` at the end of its body is the index of the loop. What is stepped under a condition,
or goes on behind a loop of which the trips are not a number, is none of these: it is a count of its own steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.ir.index import Bin, Index, Int
from exogpu.ir.linear import literal
from exogpu.ir.skeleton.tree import Elect, For, If, Let, Step, Stmt
from exogpu.ir.walk import index_names
from exogpu.verify.skeleton.counting import blocks
from exogpu.verify.skeleton.walk import names_in, nested

Block = tuple[Stmt, ...]


def closed(stmts: Block, sizes: Sequence[str]) -> frozenset[str]:
    """The counters without a modulus that are such."""
    steps = [s for s, _ in nested(stmts) if isinstance(s, Step)]
    plain = {s.name for s in steps} - {s.name for s in steps if s.modulus is not None}
    lets = [s.name for s, _ in nested(stmts) if isinstance(s, Let)]
    return frozenset(n for n in plain if lets.count(n) == 1 and _follows(n, stmts, frozenset(sizes)))


def gain(stmts: Block, name: str) -> int:
    """What one run of some statements adds to such a counter; 0 for a loop that ends its use."""
    total = 0
    for s in stmts:
        match s:
            case Step(name=stepped, by=by) if stepped == name:
                total += by
            case For(body=body):
                total += (trips(s) or 0) * gain(body, name)
            case _:
                pass
    return total


def trips(loop: For) -> int | None:
    """How often a loop goes round, if that is a number."""
    lo, hi = literal(loop.lo), literal(loop.hi)
    return None if lo is None or hi is None else max(0, hi - lo)


def entered(value: Index, loop: For, name: str, at: Index) -> Index:
    """A counter in the iteration `at` of a loop, from its value before the loop."""
    each = gain(loop.body, name)
    done = at if loop.lo == Int(0) else Bin("-", at, loop.lo)
    return value if not each else added(value, done if each == 1 else Bin("*", Int(each), done))


def added(value: Index, more: Index) -> Index:
    """A sum, without a term that is 0."""
    match value, more:
        case Int(a), Int(b):
            return Int(a + b)
        case Bin("+", left, Int(a)), Int(b):
            return added(left, Int(a + b))
        case (Int(0), other) | (other, Int(0)):
            return other
        case Int(), _:
            return Bin("+", more, value)
        case _:
            return Bin("+", value, more)


def _follows(name: str, stmts: Block, sizes: frozenset[str]) -> bool:
    """Behind the statement that gives it its value, one loop has all of its steps and all of its uses behind them."""
    found = next((block[n:] for block in blocks(stmts) for n, s in enumerate(block) if _gives(s, name)), ())
    stepping = [n for n, s in enumerate(found) if _steps(s, name)]
    if len(stepping) != 1 or _steps(found[stepping[0]], name) != sum(_steps(s, name) for s in stmts):
        return False
    let, loop, rest = found[0], found[stepping[0]], found[stepping[0] + 1 :]
    if not isinstance(let, Let) or not isinstance(loop, For) or any(_named(s, name) for s in rest):
        return False
    return literal(let.value) is not None and index_names(loop.lo) <= sizes and _even(loop.body, name)


def _gives(stmt: Stmt, name: str) -> bool:
    return isinstance(stmt, Let) and stmt.name == name


def _even(block: Block, name: str) -> bool:
    """No step stands under a condition, or in a loop of which the trips are not a number."""
    for s in block:
        match s:
            case For(body=body) if _steps(s, name):
                if trips(s) is None or not _even(body, name):
                    return False
            case If() | Elect() if _steps(s, name):
                return False
            case _:
                pass
    return True


def _steps(stmt: Stmt, name: str) -> int:
    return sum(isinstance(s, Step) and s.name == name for s, _ in nested((stmt,)))


def _named(stmt: Stmt, name: str) -> bool:
    return any(name in names_in(s) for s, _ in nested((stmt,)))
