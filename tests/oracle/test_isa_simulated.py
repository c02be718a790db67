"""cp.async and named barriers in the simulator: what the prover refutes goes wrong there, what it proves does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.simulator import Agrees, Undefined, simulate
from tests.verify.test_cp_async import AHEAD, GROUPS
from tests.verify.test_named import BAD, HAND_OVER

HAND_OFFS = [(bad, good) for _, bad, good, name in GROUPS if name == "handoff"]


def outcome(path: Path, text: str, name: str, **sizes: int) -> object:
    path.write_text(text)
    return simulate(load(path)[name], sizes)


@pytest.mark.parametrize(("bad", "good"), HAND_OFFS, ids=[str(n) for n in range(len(HAND_OFFS))])
def test_copies_that_are_handed_on(tmp_path: Path, bad: str, good: str) -> None:
    assert not isinstance(outcome(tmp_path / "bad.py", bad, "handoff", M=2), Agrees | Undefined)
    assert isinstance(outcome(tmp_path / "good.py", good, "handoff", M=2), Agrees)


@pytest.mark.parametrize(("slots", "prefetched", "pending"), [(2, 1, 0), (2, 2, 2), (3, 2, 1), (3, 2, 2)])
def test_depths_of_ring_and_wait(tmp_path: Path, slots: int, prefetched: int, pending: int) -> None:
    text = AHEAD.format(slots=slots, prefetched=prefetched, pending=pending, fence="pass")
    found = outcome(tmp_path / "ahead.py", text, "ahead", M=1, K=128)
    assert isinstance(found, Agrees) == (pending < prefetched < slots)


@pytest.mark.parametrize("text", [text for _, text in BAD], ids=[f"{n}-{rule}" for n, (rule, _) in enumerate(BAD)])
def test_wrong_named_barriers(tmp_path: Path, text: str) -> None:
    assert not isinstance(outcome(tmp_path / "bad.py", text, "hand_over", M=2, N=96), Agrees | Undefined)


def test_right_named_barriers(tmp_path: Path) -> None:
    assert isinstance(outcome(tmp_path / "good.py", HAND_OVER, "hand_over", M=2, N=96), Agrees)
