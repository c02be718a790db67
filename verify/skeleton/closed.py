"""Counters that follow from the variables of loops: stepped in every iteration, whatever happens in it.

`c = 0` before a loop and `c += 1` at the end of its body is the index of the loop. What is stepped under a condition,
or goes on behind a loop of which the trips are not a number, is none of these: it is a count of its own steps.
"""

from __future__ import annotations

from exogpu.ir.index import Index
from exogpu.ir.linear import Linear, linear, literal
from exogpu.ir.skeleton.tree import Block, For, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import blocks, children, walk
from exogpu.ir.terms import total
from exogpu.ir.walk import index_names
from exogpu.verify.skeleton.counting import steps
from exogpu.verify.skeleton.mentions import names_in

ONCE = Linear({}, 1)


def closed(skeleton: Skeleton, stmts: Block) -> frozenset[str]:
    """The counters without a modulus that are such."""
    found = [s for s in walk(stmts) if isinstance(s, Step)]
    plain = {s.name for s in found} - {s.name for s in found if s.modulus is not None}
    lets = [s.name for s in walk(stmts) if isinstance(s, Let)]
    return frozenset(n for n in plain if lets.count(n) == 1 and _follows(skeleton, n, stmts))


def gain(stmts: Block, name: str) -> int:
    """What one run of some statements adds to such a counter; 0 for a loop that ends its use."""
    out = 0
    for s in stmts:
        match s:
            case Step(name=stepped, by=by) if stepped == name:
                out += by
            case For(body=body):
                out += (trips(s) or 0) * gain(body, name)
            case _:
                pass
    return out


def trips(loop: For) -> int | None:
    """How often a loop goes round, if that is a number."""
    lo, hi = literal(loop.lo), literal(loop.hi)
    return None if lo is None or hi is None else max(0, hi - lo)


def entered(value: Index, loop: For, name: str, at: Index) -> Index:
    """A counter in the iteration `at` of a loop, from its value before the loop."""
    return added(value, gain(loop.body, name), linear(at).plus(linear(loop.lo), -1))


def added(value: Index, by: int, times: Linear = ONCE) -> Index:
    """A counter after steps by a number, so many times."""
    return total(linear(value).plus(times, by))


def _follows(skeleton: Skeleton, name: str, stmts: Block) -> bool:
    """Behind the statement that gives it its value, one loop has all of its steps, and it is not used behind that loop.
    Names end with their blocks, so it is used nowhere else."""
    found = next((block[n:] for block in blocks(stmts) for n, s in enumerate(block) if _gives(s, name)), ())
    stepping = [n for n, s in enumerate(found) if steps((s,), name)]
    if len(stepping) != 1 or steps((found[stepping[0]],), name) != steps(stmts, name):
        return False
    let, loop, rest = found[0], found[stepping[0]], found[stepping[0] + 1 :]
    if not isinstance(let, Let) or not isinstance(loop, For) or any(name in names_in(skeleton, s) for s in walk(rest)):
        return False
    return literal(let.value) is not None and index_names(loop.lo) <= {*skeleton.sizes} and _even(loop.body, name)


def _gives(stmt: Stmt, name: str) -> bool:
    return isinstance(stmt, Let) and stmt.name == name


def _even(block: Block, name: str) -> bool:
    """No step stands under a condition, or in a loop of which the trips are not a number."""
    inside = (s for s in block if children(s) and steps((s,), name))
    return all(isinstance(s, For) and trips(s) is not None and _even(s.body, name) for s in inside)
