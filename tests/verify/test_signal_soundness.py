"""What an arrive, a copy or a fence orders, in kernels that once got a wrong verdict; each beside a twin that differs in
one annotation."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status

HEAD = "from exogpu.lang import *\n\n\n@proc\n"


def verdict(tmp_path: Path, text: str) -> Report:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + text)
    return verify(load(path)["k"])


def broken(report: Report) -> set[str]:
    return {o.rule for o in report.obligations if o.status is Status.REFUTED}


UNITS_IN_TURN = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(2), consumer=warps(2), persistent=True)
    full = mbarrier(ring={full}, count=1)
    empty = mbarrier(ring={empty}, count=1)
    for m in tasks(0, M):
        s: f32[32] @ SMEM(ring={ring})
        with role(producer[ordinal % 2]):
            Await(empty, lag=2)
            for l in threads(32):
                s[l] = X[m, l]
            Fence()
            Arrive(full)
        with role(consumer[ordinal % 2]):
            Await(full)
            for l in threads(32):
                Y[m, l] = s[31 - l]
            Fence()
            Arrive(empty)
"""


@pytest.mark.parametrize(
    ("depths", "rules"),
    [
        ((2, 2, 2), set()),
        ((3, 2, 2), {"mbar.parity_alias", "mbar.unobserved_phase"}),
        ((2, 3, 2), {"mbar.parity_alias", "mbar.unobserved_phase"}),
        ((2, 2, 3), {"race.waw", "race.war", "race.raw"}),
    ],
)
def test_an_arrive_says_nothing_about_another_slot(
    tmp_path: Path, depths: tuple[int, int, int], rules: set[str]
) -> None:
    """The units are independent, so each must find its own earlier phases in the slots that it uses."""
    report = verdict(tmp_path, UNITS_IN_TURN.format(**dict(zip(("full", "empty", "ring"), depths, strict=True))))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)


HANDED_ON = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block(producer=warps(2), consumer=warps(2))
    full = mbarrier(ring=2, count=1)
    for m in tasks(0, M):
        s: f32[32] @ SMEM
        for k in seq(0, 2):
            with role(producer[{unit}]):
                if k == 0:
                    for l in threads(32):
                        s[l] = X[m, l]
                Fence()
                Arrive(full)
            with role(consumer[k % 2]):
                Await(full)
                if k == 1:
                    for l in threads(32):
                        Y[m, l] = s[l]
"""


@pytest.mark.parametrize(("unit", "rules"), [("0", set()), ("k % 2", {"race.raw"})])
def test_a_later_arrive_publishes_what_its_own_thread_did(tmp_path: Path, unit: str, rules: set[str]) -> None:
    report = verdict(tmp_path, HANDED_ON.format(unit=unit))
    assert broken(report) == rules
    assert (report.status is Status.PROVED) == (not rules)
