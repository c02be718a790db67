"""Random programs: a schedule never changes what they compute, and a proof is never wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TypeVar

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from exogpu.equiv.equivalent import equivalent
from exogpu.equiv.result import Difference, Verdict
from exogpu.equiv.trial import integers
from exogpu.ir.index import Bin, Index, Int
from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.proc import Proc, TensorArg
from exogpu.ir.stmt import Alloc, For, If, Stmt
from exogpu.ir.substitute import Change, change
from exogpu.ir.types import Scalar
from exogpu.schedule import schedule
from tests.schedule.programs import MOST, OPERATORS, guarded_tiles, programs
from tests.schedule.test_random import somewhere

FILLS = (7, -3)
SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def alike(a: Proc, b: Proc, fills: tuple[int, int], *, exact: bool = False) -> bool:
    """Whether both compute the same for every size that they allow, fresh memory holding the one and the other: sums
    of integers, or if it has to be exact, of any numbers in their sequential order."""
    for n in range(MOST + 1):
        args = random_inputs(a, {"N": n}, n)
        if not exact:
            args |= {m: np.round(v).astype(v.dtype) for m, v in args.items() if isinstance(v, np.ndarray)}
        one, other = (interpret(p, args, fill=fill, together=not exact) for p, fill in zip((a, b), fills, strict=True))
        if any(not np.array_equal(one[name].astype(np.float64), other[name].astype(np.float64)) for name in one):
            return False
    return True


verdicts: dict[str, list[Verdict]] = {"scheduled": [], "edited": []}
"""What the comparisons said, by kind of program."""


@SETTINGS
@given(st.one_of(programs(), guarded_tiles()), st.data())
def scheduled_programs_are_not_refuted(proc: Proc, data: st.DataObject) -> None:
    proc = in_floats(proc) if data.draw(st.booleans()) else proc
    assume(alike(proc, proc, FILLS))
    s = schedule(proc)
    for _ in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(sorted(OPERATORS)))
        s = somewhere(s, name, data.draw(st.integers(0, 99)), data.draw(st.integers(0, 11)))
    found = equivalent(proc, s.proc)
    verdicts["scheduled"].append(found.verdict)
    assert found.verdict in (Verdict.PROVED, Verdict.UNKNOWN)
    if found.proved:
        assert alike(proc, s.proc, FILLS, exact=not found.reassociated)


def in_floats(proc: Proc) -> Proc:
    """The program with f32 for i32: the order of sums counts."""
    args = tuple(_as_float(a) if isinstance(a, TensorArg) else a for a in proc.args)
    return replace(proc, args=args, body=_block_in_floats(proc.body))


def _block_in_floats(block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for stmt in block:
        match stmt:
            case Alloc():
                out.append(_as_float(stmt))
            case For(body=body):
                out.append(replace(stmt, body=_block_in_floats(body)))
            case If(then=then, orelse=orelse):
                out.append(replace(stmt, then=_block_in_floats(then), orelse=_block_in_floats(orelse)))
            case _:
                out.append(stmt)
    return tuple(out)


B = TypeVar("B", TensorArg, Alloc)


def _as_float(buffer: B) -> B:
    return replace(buffer, dtype=Scalar.F32) if buffer.dtype is Scalar.I32 else buffer


def test_scheduled_programs_are_never_refuted_and_often_proved() -> None:
    scheduled_programs_are_not_refuted()
    assert 2 * verdicts["scheduled"].count(Verdict.PROVED) > len(verdicts["scheduled"])


def edited(proc: Proc, which: int, how: int) -> Proc:
    """The program with one of its index expressions changed."""
    numbers = count()

    def edit(e: Index) -> Index:
        if next(numbers) != which:
            return e
        forms: tuple[Index, ...] = (
            Bin("+", e, Int(1)),
            Bin("max", Bin("-", e, Int(1)), Int(0)),
            Bin("%", e, Int(3)),
            Bin("//", Bin("+", e, Int(1)), Int(2)),
            Bin("min", e, Int(2)),
        )
        return forms[how]

    return replace(proc, body=change(proc.body, Change(index=edit)))


def indices(proc: Proc) -> int:
    """How many index expressions a program has."""
    numbers = count()
    change(proc.body, Change(index=lambda e: (next(numbers), e)[1]))
    return next(numbers)


@SETTINGS
@given(st.one_of(programs(), guarded_tiles()), st.data())
def verdicts_on_edited_programs_are_right(proc: Proc, data: st.DataObject) -> None:
    proc = in_floats(proc) if data.draw(st.booleans()) else proc
    other = edited(proc, data.draw(st.integers(0, indices(proc) - 1)), data.draw(st.integers(0, 4)))
    found = equivalent(proc, other)
    verdicts["edited"].append(found.verdict)
    if found.proved:
        assert alike(proc, other, FILLS, exact=not found.reassociated)
    if found.difference is not None and not found.difference.wide:
        assert replayed(proc, found.difference) == found.difference.a != found.difference.b
        assert replayed(other, found.difference) == found.difference.b


def replayed(proc: Proc, difference: Difference) -> float:
    """The element that differs, computed one iteration after the other."""
    args = integers(proc, dict(difference.sizes), difference.magnitude, difference.seed)
    return float(interpret(proc, args, together=False, fill=FILLS[0])[difference.tensor][difference.index])


def test_verdicts_on_edited_programs_are_right() -> None:
    verdicts_on_edited_programs_are_right()
    assert {Verdict.PROVED, Verdict.REFUTED} <= set(verdicts["edited"])
