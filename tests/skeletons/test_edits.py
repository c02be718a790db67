"""`exogpu mutate` of a skeleton: every edit breaks it or is still proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.cli.app import main
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
    (12, "no Await(empty)", "mbar.count"),
    (12, "Await(empty): the other parity", "deadlock.cycle"),
    (14, "TmaLoad: 16 bytes more", "mbar.tx_bytes"),
    (17, "Await(full) after Access at line 18", "race.raw"),
    (17, "Await(full): by one lane", "race.raw"),
    (19, "no ProxyFence", "proxy.generic_to_async"),
    (19, "ProxyFence after Arrive(empty) at line 20", "proxy.generic_to_async"),
    (20, "Arrive(empty): by one lane", "deadlock.cycle"),
}
"""Some of them, with the line and the rule that kills."""
HARMLESS = {
    (11, "the for around Await(empty): one iteration more"),
    (13, "Arrive(full) after TmaLoad at line 14"),
    (16, "the for around Await(full): one iteration fewer"),
    (19, "ProxyFence: everywhere"),
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
