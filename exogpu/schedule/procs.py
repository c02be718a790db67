"""Parts of a procedure as procedures of their own: taken out to be scheduled by themselves, and put in.

The language has no calls, so what goes in is a body. It comes from the statements that it replaces by steps that were
proved; `replace_by` puts in what comes from elsewhere.
"""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.buffers import buffers_of
from exogpu.ir.index import Var
from exogpu.ir.preconditions import is_size, known_sizes
from exogpu.ir.proc import Arg, Proc, Require, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, For, InstrCall
from exogpu.ir.substitute import declared, rename
from exogpu.ir.types import Gmem
from exogpu.ir.uses import elements
from exogpu.ir.walk import walk
from exogpu.schedule.cursor import Cursor, Where
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import words
from exogpu.schedule.facts import around, known
from exogpu.schedule.paths import Block, Moves, Path, block_at, spliced
from exogpu.schedule.patterns import statements
from exogpu.schedule.proving import Proved, decide
from exogpu.schedule.schedule import Schedule
from exogpu.schedule.signature import checked
from exogpu.schedule.work import Work, operator


@checked
def extract(s: Schedule, where: Where, name: str) -> Schedule:
    """A schedule of its own for statements: of a procedure that takes the sizes and loop variables around them as
    sizes, with what is known of them as preconditions, and the buffers that they use as tensors. `put_back` puts the
    result in."""
    return Schedule(_extracted(s, s.find(where), name), prover=s.prover)


def _extracted(s: Schedule, cursor: Cursor, name: str) -> Proc:
    proc, block = s.proc, cursor.block
    facts = known(proc, cursor.path)
    loops = _loops(proc, cursor.path)
    for var in loops:
        if not isinstance(decide(facts, is_size(Var(var))), Proved):
            raise limit(f"`{var}` may be no size", cursor.stmt.span, "shift the loop to start at 0")
    buffers = buffers_of(proc)
    later = block_at(proc.body, cursor.path[:-1])[cursor.path[-1] + cursor.count :]
    after = {n for stmt in walk(later) for n, _, _ in elements(stmt)}
    for stmt in block:
        if isinstance(stmt, Alloc) and stmt.name in after:
            raise limit(f"`{stmt.name}` is used after these statements", stmt.span)
    used = {n for stmt in walk(block) for n, _, _ in elements(stmt)} - {*declared(block)}
    for stmt in walk(block):
        if isinstance(stmt, InstrCall):
            for n, _, span in elements(stmt):
                if n in used and not isinstance(buffers[n].memory, Gmem):
                    raise limit(f"`{stmt.instr.name}` uses `{n}`, which would be a global tensor", span)
    sizes: list[Arg] = [a for a in proc.args if isinstance(a, SizeArg)]
    sizes += (SizeArg(var) for var in loops)
    scalars = [a for a in proc.args if isinstance(a, ScalarArg) and a.name in used]
    tensors = (TensorArg(n, info.dtype, info.shape) for n, info in buffers.items() if n in used)
    sizes_only = known_sizes(proc)
    requires = (*proc.requires, *(Require(fact) for fact in facts if fact not in sizes_only))
    return replace(proc, name=name, args=(*sizes, *scalars, *tensors), requires=requires, body=block)


def _loops(proc: Proc, path: Path) -> tuple[str, ...]:
    """The variables of the loops around a place."""
    return tuple(stmt.var for stmt, _ in around(proc, path) if isinstance(stmt, For))


@operator
def put_back(at: Work, where: Where, part: Schedule) -> None:
    """Statements as what a schedule made of them that `extract` began. Its steps are proved already; what it assumes in
    addition is proved here. Cursors and labels of the statements go along."""
    cursor = at.find(where)
    old, new = part.original, part.proc
    if _extracted(at.schedule, cursor, old.name) != old:
        raise limit("these are not the statements that were extracted", cursor.stmt.span)
    header = (new.args, new.block, new.barriers, new.named)
    if header != (old.args, old.block, old.barriers, old.named):
        raise limit("the schedule changes arguments, the launch or barriers", cursor.stmt.span)
    facts = at.known(cursor.path)
    for var in _loops(at.proc, cursor.path):
        at.prove(f"`{var}` is a size", facts, is_size(Var(var)), f"`{var}` may be no size", cursor.stmt.span)
    for require in new.requires:
        if require not in old.requires:
            text = f"the part is used where {words(require.cond)}"
            at.prove(text, facts, require.cond, f"{words(require.cond)} does not always hold", cursor.stmt.span)
    at.obligations += (o for step in part.steps for o in step.obligations)
    at.reassociated = at.reassociated or part.reassociated
    body = _fitting(at, cursor, new.body)
    for step in part.steps:
        for name, _, _ in step.labels:
            try:
                found = part.find(name)
            except Refused:
                continue
            at.labels.append((name, (*cursor.path[:-1], cursor.path[-1] + found.path[0], *found.path[1:]), found.count))
    at.splice(cursor.path, cursor.count, body, _moves(part))


def _fitting(at: Work, cursor: Cursor, body: Block) -> Block:
    """The statements with other names where what they declare has a name that is taken elsewhere."""
    lo = cursor.path[-1]
    rest = replace(at.proc, body=spliced(at.proc.body, cursor.path[:-1], lo, lo + cursor.count, ()))
    elsewhere = Work(at.schedule, rest)
    names: dict[str, str] = {}
    for name in declared(body):
        names[name] = elsewhere.fresh(name, names.values())
    return rename(body, names)


def _moves(part: Schedule) -> Moves:
    start = Cursor(part.original, 0, (0,))
    moves: Moves = {}
    for path, _ in statements((((), part.original.body),)):
        try:
            moves[path] = part.forward(replace(start, path=path)).path
        except Refused:
            moves[path] = None
    return moves
