"""Slots and phases that go on in every iteration, as remainder and quotient of one counter.

A slot stepped by `s = (s + 1) % S; if s == 0: ph ^= 1` is `c % S`, and its phase `c // S % 2`, of a counter `c` of the
steps. That is always so; it is made use of where `c` follows from the variables of loops, as conditions may then test
`s`, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.linear import literal
from exogpu.ir.skeleton.tree import Block, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import blocks, changed, children, in_each_role, walk, with_blocks
from exogpu.verify.skeleton.closed import closed
from exogpu.verify.skeleton.counting import rounds, steps, turns
from exogpu.verify.skeleton.inlined import with_values
from exogpu.verify.skeleton.mentions import in_arguments


def in_laps(skeleton: Skeleton) -> Skeleton:
    """The skeleton with a counter for each slot, and the phases that flip with it, of which that is so."""
    return in_each_role(skeleton, partial(_in_laps, skeleton))


def _in_laps(skeleton: Skeleton, stmts: Block) -> Block:
    for name in dict.fromkeys(s.name for s in walk(stmts) if isinstance(s, Step) and s.modulus is not None):
        meanings = _meanings(stmts, name)
        if meanings and not meanings.keys() & in_arguments(skeleton):
            counted = _counted(stmts, name, meanings)
            stmts = counted if _counter(name) in closed(skeleton, counted) else stmts
    return stmts


def _counter(name: str) -> str:
    return f"{name}$lap"


def _meanings(stmts: Block, name: str) -> Mapping[str, Index]:
    """What a slot and the phases that flip with it are; nothing if they are stepped in some other way, or a phase is at
    first none of those that there are."""
    found = [s for s in walk(stmts) if isinstance(s, Step) and s.name == name]
    modulus = found[0].modulus if found else None
    if modulus is None or any(s.modulus != modulus or s.by != 1 for s in found):
        return {}
    counter = Var(_counter(name))
    out: dict[str, Index] = {name: Bin("%", counter, Int(modulus))}
    turning = [step for step, other in rounds(stmts) if other == name]
    for phase in dict.fromkeys(step.name for step in turning):
        flips = [step for step in turning if step.name == phase]
        first = next((literal(s.value) for s in walk(stmts) if isinstance(s, Let) and s.name == phase), None)
        if not len(flips) == len(found) == steps(stmts, phase) or first is None:
            return {}
        ahead = Bin("+", Bin("//", counter, Int(modulus)), Int(first))
        within = flips[0].modulus
        out[phase] = ahead if within is None else Bin("%", ahead, Int(within))
        if any(s.modulus != within for s in flips) or (within is not None and not 0 <= first < within):
            return {}
    return out if _start_together(stmts, out, modulus) else {}


def _start_together(stmts: Block, meanings: Mapping[str, Index], modulus: int) -> bool:
    """Each gets one value, by statements that follow each other, and a slot of those that there are."""
    found = [s for s in walk(stmts) if isinstance(s, Let) and s.name in meanings]
    (slot, *_) = meanings
    values = [literal(s.value) for s in found if s.name == slot]
    if len(found) != len(meanings) or {s.name for s in found} != meanings.keys() or len(values) != 1:
        return False
    together = any(set(found) <= {*run} for block in blocks(stmts) for run in _runs(block))
    return together and values[0] is not None and 0 <= values[0] < modulus


def _runs(block: Block) -> Iterator[list[Let]]:
    """The names that are given one after the other."""
    run: list[Let] = []
    for stmt in block:
        if isinstance(stmt, Let):
            run.append(stmt)
        else:
            yield run
            run = []
    yield run


def _counted(stmts: Block, name: str, meanings: Mapping[str, Index]) -> Block:
    """The statements with the counter in place of the slot and its phases."""
    out: list[Stmt] = []
    for before, stmt in zip((None, *stmts), stmts, strict=False):
        match stmt:
            case Let(name=given, value=value, span=span) if given in meanings:
                out += [Let(_counter(name), value, span)] if given == name else []
            case Step(name=stepped, by=by, span=span) if stepped == name:
                out.append(Step(_counter(name), by, None, span))
            case _ if isinstance(before, Step) and before.name == name and turns(before, stmt):
                pass  # it is counted with the step before
            case _:
                inner = [_counted(b, name, meanings) for b in children(stmt)]
                out.append(with_blocks(changed(stmt, partial(with_values, meanings)), inner))
    return tuple(out)
