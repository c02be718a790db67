"""Names that operators are given: none may mean something else to the prover, to Python, or to emitted code."""

from __future__ import annotations

import pytest

from exogpu.schedule import Warps, bind, call, divide, launch, mbarrier, stage
from tests.schedule.common import refusal, start

BAD = ("i'", "i*", "_e0", "a b", "for", "", "µ", "ordinal", "x[0]")


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_cannot_be_declared_is_refused(name: str) -> None:
    s = start("copy")
    for refused in (
        refusal(lambda: divide(s, "i", 4, tail="guard", names=(name, "t")), "schedule.limit"),
        refusal(lambda: stage(s, "y[_] = _", "x[i]", name), "schedule.limit"),
        refusal(lambda: bind(s, "y[_] = _", "x[_]", name), "schedule.limit"),
        refusal(lambda: mbarrier(s, name, count=1), "schedule.limit"),
        refusal(lambda: call(s, name), "schedule.limit"),
        refusal(lambda: launch(s, roles={name: Warps(4)}), "schedule.limit"),
    ):
        assert f"`{name}` cannot be used as a name" in str(refused)
