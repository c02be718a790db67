"""Running iterations at once never changes a result: random programs against two slower executions."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings

from exogpu.ir.interp import InterpError, interpret
from exogpu.ir.proc import Proc
from tests.interp.oracle import Oracle, Outside
from tests.interp.programs import procs


def _run(proc: Proc, args: dict[str, Any], together: bool) -> dict[str, Any] | None:
    """The results, or None if an access is out of bounds."""
    try:
        return interpret(proc, args, together=together)
    except InterpError as error:
        assert error.diagnostics[0].code == "interp.bounds"
        return None


def _oracle(proc: Proc, args: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return Oracle(proc, args).results
    except Outside:
        return None


def _assert_same(got: dict[str, Any] | None, want: dict[str, Any] | None) -> None:
    assert (got is None) == (want is None)
    if got is not None and want is not None:
        for name, array in want.items():
            np.testing.assert_array_equal(got[name].astype(np.float64), array.astype(np.float64))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(procs())
def test_random_programs_mean_the_same_at_once(case: tuple[Proc, dict[str, Any]]) -> None:
    proc, args = case
    want = _oracle(proc, args)
    _assert_same(_run(proc, args, together=True), want)
    _assert_same(_run(proc, args, together=False), want)
