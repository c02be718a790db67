"""Operators that put an instruction, or another procedure, where statements do the same.

Nothing is matched by name: the instruction's declared meaning, with the operands at hand, is proved to be what the
statements do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from exogpu.ir.instr import Instr
from exogpu.ir.operands import operand_problems
from exogpu.ir.stmt import InstrCall, Operand
from exogpu.ir.uses import indices
from exogpu.schedule.cursor import Where
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.match import same_meaning
from exogpu.schedule.operands import OperandLike, candidates, operand
from exogpu.schedule.paths import Moves
from exogpu.schedule.work import Work, operator


@operator
def replace(at: Work, /, where: Where, instr: Instr, **operands: OperandLike) -> None:
    """Statements as one instruction that is proved to do the same.

    Windows are found from what the statements touch; the other operands are given, as are windows that are to be
    other ones: `replace(s, "for i in _: _", tma_load, barrier="full", src="A[0:64, 0:64]")`.
    """
    cursor = at.find(where)
    unknown = operands.keys() - {p.name for p in instr.params}
    if unknown:
        raise limit(f"`{instr.name}` has no operand `{min(unknown)}`", cursor.stmt.span)
    unfit: list[Refused] = []
    refused: list[Refused] = []
    for call in _calls(at, where, instr, operands):
        found = operand_problems(call, at.buffers)
        if found:
            unfit.append(limit(found[0].message, cursor.stmt.span))
            continue
        proved, reassociated = len(at.obligations), at.reassociated
        try:
            what, span = f"`{instr.name}`", cursor.stmt.span
            same_meaning(at, at.known(cursor.path), cursor.block, instr.meaning(call, at.buffers), what, span)
        except Refused as reason:
            refused.append(reason)
            del at.obligations[proved:]
            at.reassociated = reassociated
            continue
        moves: Moves = {(n,): None for n in range(1, cursor.count)}
        at.splice(cursor.path, cursor.count, (call,), {(0,): (0,), (0, 0): None, (0, 1): None, **moves})
        return
    raise (*refused, *unfit)[0]


def _calls(at: Work, where: Where, instr: Instr, given: dict[str, OperandLike]) -> Iterator[InstrCall]:
    """Calls with the given operands, and with the windows that the statements touch."""
    cursor = at.find(where)
    accesses = at.effects(cursor.block)
    choices: list[list[tuple[str, Operand]]] = []
    for param in instr.params:
        if param.name in given:
            chosen = operand(param, given[param.name], at.buffers)
            alone = InstrCall(instr, ((param.name, chosen),))
            at.has_barriers((alone,))
            for e in indices(alone):
                at.in_scope(e, cursor.path)
            choices.append([(param.name, chosen)])
        elif param.kind == "window":
            found = candidates(instr, param, accesses, at.buffers)
            if not found and not param.optional:
                text = f"the statements touch no window that `{param.name}` of `{instr.name}` takes"
                raise limit(text, cursor.stmt.span, "its memory, type, rank and use must fit")
            choices.append([(param.name, w) for w in found])
        elif not param.optional:
            raise limit(f"`{instr.name}` needs `{param.name}`", cursor.stmt.span)
    for operands in product(*choices):
        yield InstrCall(instr, operands)
