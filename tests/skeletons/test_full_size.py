"""The full-size skeletons: proved, and some of their mutants killed; `exogpu mutate` goes through all of these."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import exogpu.kernels.skeletons
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.lang.load import definitions
from exogpu.verify.result import Status
from exogpu.verify.skeleton.edits import mutants
from exogpu.verify.skeleton.verdict import verify_skeleton
from exogpu.verify.workers import cores

FOLDER = Path(exogpu.kernels.skeletons.__path__[0])
NAMES = ("gemm_cooperative", "gemm_pingpong", "flash_attention3")


def loaded(name: str) -> Skeleton:
    found = definitions(str(FOLDER / f"{name}.py"))[name]
    assert isinstance(found, Skeleton)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_it_is_proved_under_the_default_axioms(name: str) -> None:
    report = verify_skeleton(loaded(name), jobs=cores())
    assert [(o.name, o.reason) for o in report.obligations if o.status is not Status.PROVED] == []
    assert report.status is Status.PROVED
    assert report.axioms == ("F6", "L5", "L7")


@pytest.mark.parametrize("kind", ["drop", "parity", "count"])
@pytest.mark.parametrize("name", NAMES)
def test_mutants_are_killed(name: str, kind: str) -> None:
    """The last of a kind that concerns mbarriers; all are, but this takes its time."""
    found = [m for m in mutants(loaded(name)) if m.kind == kind and re.search(r"\b(wait|arrive)\(", m.what)]
    report = verify_skeleton(found[-1].skeleton, hasty=True)
    assert report.status is Status.REFUTED, (found[-1].what, report.reason)


def test_one_lane_may_wait_for_its_warp() -> None:
    """Others of its warp wait for other phases of the barrier, so the two waits share only some threads."""
    found = next(
        m
        for m in mutants(loaded("flash_attention3"))
        if m.what == "wait(k_full[ck % STAGES], parity=ck // STAGES): by one lane"
    )
    report = verify_skeleton(found.skeleton, jobs=cores())
    assert (report.status, report.reason) == (Status.PROVED, "")


@pytest.mark.parametrize("name", ["gemm_cooperative", "flash_attention3"])
def test_the_last_store_is_read_before_the_end(name: str) -> None:
    last = [m for m in mutants(loaded(name)) if m.what == "no bulk_wait_read(0)"][-1]
    report = verify_skeleton(last.skeleton, hasty=True)
    assert [(o.status, o.rule) for o in report.obligations] == [(Status.REFUTED, "race.async_inflight")]


def test_they_have_mutants_of_every_kind() -> None:
    kinds = {m.kind for name in NAMES for m in mutants(loaded(name))}
    assert kinds == {
        *("bytes", "count", "depth", "drop", "elect", "fence", "guard", "id", "loop", "move"),
        *("parity", "registers", "slot", "wait"),
    }
