"""`exogpu mutate` of a skeleton: every edit breaks it or is still proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.cli.app import main
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.lang.load import definitions
from exogpu.verify.skeleton.edits import mutants
from tests.report.schemas import valid

RING = """\
from exogpu.skeleton import *


@skeleton
def ring(n: size):
    full = mbarrier(2, count=1)
    empty = mbarrier(2, count=32)
    x = smem(2)
    with role("loader", warps=1):
        with elect():
            for i in range(n):
                wait(empty[i % 2], parity=i // 2 + 1)
                arrive(full[i % 2], tx=16)
                tma_load(x[i % 2], full[i % 2], bytes=16)
    with role("reader", warps=1):
        for i in range(n):
            wait(full[i % 2], parity=i // 2)
            load(x[i % 2])
            proxy_fence()
            arrive(empty[i % 2])
"""
KILLED = {
    (6, "full waits for 2 arrivals", "deadlock.cycle"),
    (7, "empty waits for 31 arrivals", "mbar.count"),
    (12, "no wait(empty[i % 2], parity=i // 2 + 1)", "mbar.count"),
    (12, "wait(empty[i % 2], parity=i // 2 + 1): the other parity", "deadlock.cycle"),
    (14, "tma_load(x[i % 2], full[i % 2], bytes=16): 16 bytes more", "mbar.tx_bytes"),
    (17, "wait(full[i % 2], parity=i // 2) after load(x[i % 2]) at line 18", "race.raw"),
    (17, "wait(full[i % 2], parity=i // 2): by one lane", "race.raw"),
    (19, "no proxy_fence()", "proxy.generic_to_async"),
    (19, "proxy_fence() after arrive(empty[i % 2]) at line 20", "proxy.generic_to_async"),
    (20, "arrive(empty[i % 2]): by one lane", "deadlock.cycle"),
}
"""Some of them, with the line and the rule that kills."""
HARMLESS = {
    (11, "for i in range(n): wait(empty[i % 2], parity=i // 2 + 1) ...: one iteration more"),
    (13, "arrive(full[i % 2], tx=16) after tma_load(x[i % 2], full[i % 2], bytes=16) at line 14"),
    (16, "for i in range(n): wait(full[i % 2], parity=i // 2) ...: one iteration fewer"),
    (19, "proxy_fence(): everywhere"),
}
"""All of them."""


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.py").write_text(RING, encoding="utf-8")
    return "ring.py"


def test_mutants_are_killed_or_proved(ring: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", ring, "--format", "json", "--deterministic"]) == 0
    document = valid(capsys.readouterr().out)
    (found,) = document["kernels"]
    by_verdict: dict[str, set[tuple[int, str, str]]] = {}
    for m in found["mutants"]:
        by_verdict.setdefault(m["verdict"], set()).add((m["location"]["line"], m["edit"], m["cause"]))
    assert by_verdict.keys() == {"killed", "still proved"}
    assert by_verdict["killed"] >= KILLED
    assert {(line, edit) for line, edit, _ in by_verdict["still proved"]} == HARMLESS


def test_a_skeleton_that_is_not_proved_has_no_mutants(ring: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(ring).write_text(RING.replace("            proxy_fence()\n", ""), encoding="utf-8")
    assert main(["mutate", ring]) == 2
    assert "ring is not proved" in capsys.readouterr().err


MEETING = """\
from exogpu.skeleton import *


@skeleton
def meeting():
    cluster(2)
    with role("all", warps=1):
        cluster_sync()
        if tid == 0:
            fence(
                "gpu",
            )
            warp_sync()
"""


def test_statements_are_named_as_they_are_written(tmp_path: Path) -> None:
    """A call over several lines in one, a call that is two operations as each of them, a block with what is in it."""
    (tmp_path / "meeting.py").write_text(MEETING, encoding="utf-8")
    skeleton = definitions(str(tmp_path / "meeting.py"))["meeting"]
    assert isinstance(skeleton, Skeleton)
    assert [(m.span.line, m.what) for m in mutants(skeleton) if m.kind in ("drop", "guard")] == [
        (8, "no arrival of cluster_sync()"),
        (8, "no wait of cluster_sync()"),
        (9, 'if tid == 0: fence("gpu") ...: always'),
        (9, 'if tid == 0: fence("gpu") ...: -1 in place of 0'),
        (9, 'if tid == 0: fence("gpu") ...: 1 in place of 0'),
        (10, 'no fence("gpu")'),
        (13, "no warp_sync()"),
    ]


ORDERS = """\
from exogpu.skeleton import *


@skeleton
def orders(n: size):
    b = mbarrier(2, count=32)
    p = registers()
    o = registers()
    x = smem(32)
    with role("all", warps=1):
        c = 0
        for i in range(n):
            arrive(b[c % 2])
            c += 1
            bar_sync(1, 32)
            store(p)
            for j in range(2):
                wait(b[(c - 1) % 2], parity=(c - 1) // 2)
                load(p)
            load(o)
            proxy_fence()
            store(x[tid])
            warp_sync()
            if pred("p", c):
                arrive(b[0])
            c += 2
"""


def test_moves_change_what_synchronises(tmp_path: Path) -> None:
    """What does not depend on a counter may stand on either side; register accesses are what a thread computes."""
    (tmp_path / "orders.py").write_text(ORDERS, encoding="utf-8")
    skeleton = definitions(str(tmp_path / "orders.py"))["orders"]
    assert isinstance(skeleton, Skeleton)
    assert [(m.span.line, m.what) for m in mutants(skeleton) if m.kind == "move"] == [
        (13, "arrive(b[c % 2]) after c += 1 at line 14"),
        (15, "bar_sync(1, 32) after store(p) at line 16"),
        (17, "for j in range(2): wait(b[(c - 1) % 2], parity=(c - 1) //... after load(o) at line 20"),
        (18, "wait(b[(c - 1) % 2], parity=(c - 1) // 2) after load(p) at line 19"),
        (20, "load(o) after proxy_fence() at line 21"),
        (21, "proxy_fence() after store(x[tid]) at line 22"),
        (21, "proxy_fence() after warp_sync() at line 23"),
        (21, 'proxy_fence() after if pred("p", c): arrive(b[0]) at line 24'),
        (22, "store(x[tid]) after warp_sync() at line 23"),
        (23, 'warp_sync() after if pred("p", c): arrive(b[0]) at line 24'),
        (24, 'if pred("p", c): arrive(b[0]) after c += 2 at line 26'),
    ]


LONE = """\
from exogpu.skeleton import *


@skeleton
def lone(n: size):
    b = mbarrier(2, count=1)
    with role("one", threads=1):
        for i in range(n):
            arrive(b[i % 2])
            wait(b[i % 2], parity=i // 2)
"""


def test_one_lane_alone_is_no_edit_of_a_role_of_one_thread(tmp_path: Path) -> None:
    (tmp_path / "lone.py").write_text(LONE, encoding="utf-8")
    skeleton = definitions(str(tmp_path / "lone.py"))["lone"]
    assert isinstance(skeleton, Skeleton)
    found = [m.what for m in mutants(skeleton)]
    assert "no arrive(b[i % 2])" in found and not any("lane" in what for what in found)
