"""The prover against the explicit oracle on random kernels: never PROVED and wrong, never REFUTED and right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from exogpu.lang import load
from exogpu.verify.concrete import Env
from exogpu.verify.explicit import Fault, faults
from exogpu.verify.lower import lower
from exogpu.verify.program import TASKS, Program
from exogpu.verify.prove import verify
from exogpu.verify.result import Counterexample, Status
from tests.texts import undecided, verdict
from tests.verify.generate import RIGHT, BarrierProgram, Recipe, barrier_programs, recipes


def oracle(program: Program, sizes: Env) -> list[Fault]:
    tasks = tuple({"t": n} for n in range(sizes[TASKS]))
    return list(faults(program, sizes, tasks))


def sizes_of(counterexample: Counterexample) -> Env:
    named = dict(counterexample.sizes)
    return {**{n: v for n, v in named.items() if n in ("T", "K")}, TASKS: named["tasks of the CTA"]}


UNSEEN = {"bounds", "index.overflow", "ownership", "mbar.lag", "mbar.parity_alias", "mbar.unobserved_phase"}
"""Rules that the explicit oracle does not look for: it checks races, and barriers on one schedule."""


def agree(path: Path, text: str, tasks: range, trips: range = range(5)) -> Status:
    """Never PROVED with a fault at a small size, never REFUTED without a fault at the sizes it names."""
    path.write_text(text)
    kernel = load(path)["kernel"]
    program = lower(kernel)
    report = verify(kernel)
    if report.status is Status.PROVED:
        found = {(k, n): oracle(program, {"T": 3, "K": k, TASKS: n}) for k in trips for n in tasks}
        assert not any(found.values()), found
    if report.status is Status.REFUTED:
        shown = [o for o in report.obligations if o.counterexample is not None and o.rule not in UNSEEN]
        for obligation in shown:
            assert obligation.counterexample is not None
            assert oracle(program, sizes_of(obligation.counterexample)), f"{obligation.name} does not reproduce"
    return report.status


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipes)
def test_prover_and_oracle_agree_on_rings(tmp_path: Path, recipe: Recipe) -> None:
    status = agree(tmp_path / "ring.py", recipe.source(), range(1, 3))
    # a tail that waits with another lag than the loop is the one form here that the prover leaves open
    assert status in (Status.PROVED, Status.REFUTED) or recipe.drain is not None


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(barrier_programs)
def test_prover_and_oracle_agree_on_barriers(tmp_path: Path, program: BarrierProgram) -> None:
    touched = any(a.kind != "fence" for part in (program.before, program.inside, program.after) for a in part)
    assume(touched)
    assert agree(tmp_path / "barriers.py", program.source(), range(1, 2)) in (Status.PROVED, Status.REFUTED)


@pytest.mark.parametrize("tma", [True, False])
def test_the_intended_ring_is_proved(tmp_path: Path, tma: bool) -> None:
    report = verdict(tmp_path, replace(RIGHT, tma=tma).source())
    assert report.status is Status.PROVED, undecided(report)
