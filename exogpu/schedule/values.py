"""Operators that give a value a name, or put it back where the name stands."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.index import Int
from exogpu.ir.print_expr import value_text
from exogpu.ir.stmt import Alloc, Assign
from exogpu.ir.substitute import Change, change
from exogpu.ir.types import Memory, Rmem, Scalar
from exogpu.ir.uses import elements, values
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.value_type import value_type
from exogpu.ir.walk import map_value, walk
from exogpu.schedule.cursor import Where
from exogpu.schedule.effects import Does
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.paths import Block, Moves, block_at
from exogpu.schedule.patterns import expression as pattern
from exogpu.schedule.patterns import same_expression
from exogpu.schedule.work import Work, operator

PRIVATE = Rmem()


@operator
def bind(at: Work, where: Where, expression: str, name: str, memory: Memory = PRIVATE) -> None:
    """Computes a part of an assignment's value before it, into a buffer of one element.

    `expression` is a pattern, as in `"A[_]"`; all equal occurrences are replaced. The buffer has the type that the
    value is computed in (a single read keeps its own), so nothing is rounded.
    """
    cursor = at.find(where)
    stmt = cursor.stmt
    if not isinstance(stmt, Assign):
        raise Refused("schedule.pattern", f"`{cursor}` is not an assignment", stmt.span)
    wanted = pattern(expression)
    found = [v for v in values(stmt.rhs) if same_expression(wanted, value_text(v))]
    if not found:
        raise Refused("schedule.pattern", f"nothing in `{cursor}` matches `{expression}`", stmt.span)
    chosen = found[0]
    if not _evaluated(stmt.rhs, chosen):
        raise limit(f"`{value_text(chosen)}` is evaluated under a condition only", stmt.span, "bind the whole `select`")
    dtype = _type_of(at, chosen)
    temp = at.fresh(name)
    element = Read(temp, (Int(0),))
    rhs = map_value(stmt.rhs, lambda v: element if v == chosen else v)
    before = (Alloc(temp, dtype, (1,), memory), Assign(temp, (Int(0),), "=", chosen))
    at.splice(cursor.path, 1, (*before, replace(stmt, rhs=rhs)), {(0,): (2,)})


def _type_of(at: Work, value: Value) -> Scalar:
    """The type that holds a value exactly."""
    types = at.types
    if isinstance(value, Read):
        return types[value.buffer]
    kind = value_type(value, types)
    if kind is None:
        raise limit(f"the type of `{value_text(value)}` depends on what it is used for", value.span)
    return kind


def _evaluated(value: Value, part: Value) -> bool:
    """Whether a part is evaluated whenever the value is."""
    if value == part:
        return True
    match value:
        case Arith(_, left, right):
            return _evaluated(left, part) or _evaluated(right, part)
        case Neg(arg) | Cast(_, arg):
            return _evaluated(arg, part)
        case Call(_, args):
            return any(_evaluated(a, part) for a in args)
        case Read() | Num() | FromIndex() | Select():
            return False


@operator
def inline(at: Work, where: Where) -> None:
    """Puts the value of an assignment where its element is read, and removes the buffer.

    The buffer holds the value exactly, nothing else writes to it, all reads are of the one element and come later in
    the block, and what the value is computed from does not change until then.
    """
    cursor = at.find(where)
    stmt, path = cursor.stmt, cursor.path
    if not isinstance(stmt, Assign) or stmt.op != "=":
        raise Refused("schedule.pattern", f"`{cursor}` is not an assignment with `=`", stmt.span)
    block = block_at(at.proc.body, path[:-1])
    home = next((n for n, s in enumerate(block[: path[-1]]) if isinstance(s, Alloc) and s.name == stmt.buffer), None)
    if home is None:
        raise limit(f"`{stmt.buffer}` is not allocated in the block of the assignment", stmt.span)
    if at.buffers[stmt.buffer].dtype is not _type_of(at, stmt.rhs):
        raise limit(f"`{stmt.buffer}` rounds the value", stmt.span)
    if any(isinstance(v, Read) and v.buffer == stmt.buffer for v in values(stmt.rhs)):
        raise limit(f"the value is computed from `{stmt.buffer}` itself", stmt.span)
    later = block[path[-1] + 1 :]
    _only_this(at, stmt, (*block[home + 1 : path[-1]], *later), later)
    reads = [a for a in at.effects((stmt,)) if a.does is Does.READ]
    changed = [a.primed() for a in at.effects(later) if a.does is not Does.READ]
    at.commute(at.known(path), reads, changed, "what the value is computed from changes before it is used")
    element = Read(stmt.buffer, stmt.index)
    new = change(later, Change(value=lambda v: stmt.rhs if v == element else v))
    moves: Moves = {(0,): None, **{(n + 1,): (n,) for n in range(len(later))}}
    at.splice(path, 1 + len(later), new, moves)
    at.splice((*path[:-1], home), 1, (), {(0,): None})


def _only_this(at: Work, stmt: Assign, others: Block, later: Block) -> None:
    """Nothing else touches the buffer but reads of the element in later assignments."""
    for other in walk(others):
        named = [(name, span) for name, _, span in elements(other) if name == stmt.buffer]
        if named and not isinstance(other, Assign):
            raise limit(f"an instruction uses `{stmt.buffer}`", named[0][1])
        if isinstance(other, Assign) and other.buffer == stmt.buffer:
            raise limit(f"`{stmt.buffer}` is written more than once", other.span)
    element = Read(stmt.buffer, stmt.index)
    for other in walk(others):
        for value in values(other.rhs) if isinstance(other, Assign) else ():
            if isinstance(value, Read) and value.buffer == stmt.buffer and value != element:
                raise limit(f"`{value_text(value)}` is another element than the one written", value.span)
    if any(stmt.buffer in at.names_in((s,)) for s in others[: len(others) - len(later)]):
        raise limit(f"`{stmt.buffer}` is read before the assignment", stmt.span)
