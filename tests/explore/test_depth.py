"""A group wait that is not enough: it leaves too many groups pending, or comes before the commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.ir.skeleton.root import Skeleton
from exogpu.lang.load import definitions
from exogpu.verify.result import Status
from exogpu.verify.skeleton.verdict import verify_skeleton

HELP = (
    "commit the operation before the wait, and let the wait leave fewer of the youngest groups pending; "
    "or tell of it later, behind a wait that finishes it"
)


def pipeline(lead: int, pending: int, early: bool) -> str:
    """What trip k issues is used d = `lead` trips later; the wait of a trip is before its commit or after it."""
    wait, commit = f"cp_wait({pending})", "cp_commit()"
    first, second = (wait, commit) if early else (commit, wait)
    return f"""\
from exogpu.skeleton import *


@skeleton
def pipeline(n: size):
    x = smem({lead + 2}, 128)
    with role("all", threads=128):
        for k in range(n):
            cp_async(x[k % {lead + 2}, tid])
            {first}
            {second}
            cta_sync()
            if k >= {lead}:
                load(x[(k - {lead}) % {lead + 2}])
            cta_sync()
        cp_wait_all()
"""


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("lead", [1, 2])
def test_as_many_groups_may_be_pending_as_the_help_says(lead: int, early: bool, tmp_path: Path) -> None:
    file = tmp_path / "pipeline.py"
    most = lead - 1 if early else lead
    for pending, status in ((most, Status.PROVED), (most + 1, Status.REFUTED)):
        file.write_text(pipeline(lead, pending, early), encoding="utf-8")
        found = definitions(file)["pipeline"]
        assert isinstance(found, Skeleton)
        report = verify_skeleton(found)
        assert report.status is status, (pending, report)
    (finding,) = (o for o in report.obligations if o.status is Status.REFUTED)
    assert (finding.rule, finding.help) == ("group.depth", HELP)
