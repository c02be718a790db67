"""What the tests of operators share: the algorithms, and equality of meanings on several sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from exogpu.ir.evaluate import holds
from exogpu.ir.interp import Argument, interpret, random_inputs
from exogpu.ir.proc import Proc, SizeArg
from exogpu.lang import load
from exogpu.schedule import Refused, Schedule, schedule

SIZES = (0, 1, 2, 4, 7, 8)


@cache
def _algorithms() -> Mapping[str, Proc]:
    files = sorted((Path(__file__).parent / "cases").glob("*.py"))
    found = [(name, proc) for file in files for name, proc in load(file).items()]
    assert len(found) == len(dict(found)), "two procedures have one name"
    return dict(found)


def algorithm(name: str) -> Proc:
    """One of the procedures in `cases`."""
    return _algorithms()[name]


def start(name: str) -> Schedule:
    """A schedule of one of the procedures in `cases`."""
    return schedule(_algorithms()[name])


def whole_inputs(proc: Proc, sizes: Mapping[str, int]) -> dict[str, Argument]:
    """Arguments whose elements are small integers, so that sums are exact in any order."""
    args = random_inputs(proc, sizes, seed=1)
    return {n: np.round(a * 2).astype(a.dtype) if isinstance(a, np.ndarray) else a for n, a in args.items()}


def same_results(before: Proc, after: Proc, sizes: tuple[int, ...] = SIZES) -> int:
    """Compares results for all combinations of sizes; the number of combinations that the preconditions allow."""
    names = [a.name for a in before.args if isinstance(a, SizeArg)]
    compared = 0
    for values in product(sizes, repeat=len(names)):
        env = dict(zip(names, values, strict=True))
        if not all(holds(r.cond, env) for r in (*before.requires, *after.requires)):
            continue
        args = whole_inputs(before, env)
        want, got = interpret(before, args), interpret(after, args)
        for name, array in want.items():
            np.testing.assert_array_equal(got[name], array, err_msg=f"{name} for {env}")
        compared += 1
    return compared


def keeps_meaning(result: Schedule) -> str:
    """Checks that a schedule's result computes what its original does; its code."""
    assert same_results(result.original, result.proc) > 0
    return result.show()


def refusal(apply: Callable[[], Schedule], code: str = "schedule.condition") -> Refused:
    """The refusal that an operator answers with; a violated condition comes with a counterexample."""
    with pytest.raises(Refused) as caught:
        apply()
    assert caught.value.code == code, str(caught.value)
    assert (caught.value.counterexample is not None) == (code == "schedule.condition")
    return caught.value


def example(apply: Callable[[], Schedule]) -> dict[str, int]:
    """The counterexample that an operator answers with."""
    found = refusal(apply).counterexample
    assert found is not None
    return dict(found.values)
