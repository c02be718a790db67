"""Roles whose units take turns: `with role(name[unit])`, with a good kernel and twins that differ in one annotation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.interp import interpret
from exogpu.lang import load
from exogpu.verify.result import Report, Status
from tests.texts import verdict

PING_PONG = """from exogpu.lang import *

@proc
def k(T: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    require(T >= 1)
    block(producer=warps(1), consumer=warps(2), persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, {release})
    turn = mbarrier(ring=2, count=1)
    for t in tasks(0, T):
        with role(consumer[{unit}]):
            {take}
        for k in seq(0, K):
            s: f32[1, 32] @ SMEM(ring=2)
            with role(producer):
                for p in threads(1):
                    Await(empty, lag=2)
                    tma_load(s[:, :], X[t : t + 1, 0:32], full)
                    Arrive(full, tx=128)
            with role(consumer[{unit}]):
                Await(full)
                for l in threads(32):
                    Y[t, l] = s[0, l]
                fence_proxy_async()
                Fence()
                Arrive(empty)
        with role(consumer[{unit}]):
            {join}
            {give}
"""


def ping_pong(**changed: str) -> str:
    parts = {"unit": "ordinal % 2", "take": "Await(turn, lag=1)", "join": "Fence()", "give": "Arrive(turn)"}
    parts["release"] = "count=1"
    return PING_PONG.format(**{**parts, **changed})


STAGED = """from exogpu.lang import *

@proc
def k(T: size, Y: f32[T, 32] @ GMEM):
    require(T >= 1)
    block(worker=warps(2), persistent=True)
    for t in tasks(0, T):
        with role(worker[ordinal % 2]):
            s: f32[1, 32] @ SMEM(ring={ring})
            for p in threads(1):
                bulk_wait_read({pending})
            Fence()
            for l in threads(32):
                s[0, l] = 1.0
            fence_proxy_async()
            Fence()
            for p in threads(1):
                tma_store(Y[t : t + 1, 0:32], s[:, :])
                bulk_commit()
    with role(worker):
        for w in threads(2, unit=warp):
            for p in threads(1):
                bulk_wait_read(0)
"""


def deeper(stages: int, ring: int, lag: int) -> str:
    """As `ping_pong`, with more mbarriers of freed slots than slots: the rings coincide only every so many rounds."""
    text = ping_pong().replace("SMEM(ring=2)", f"SMEM(ring={stages})").replace("empty, lag=2", f"empty, lag={lag}")
    text = text.replace("full = mbarrier(ring=2", f"full = mbarrier(ring={stages}")
    return text.replace("empty = mbarrier(ring=2", f"empty = mbarrier(ring={ring}")


def staged(ring: int = 2, pending: int = 0) -> str:
    return STAGED.format(ring=ring, pending=pending)


REGISTERS = """from exogpu.lang import *

@proc
def k(T: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    block(worker=warps(2), persistent=True)
    for t in tasks(0, T):
        r: f32[32] @ RMEM(threads=1)
        with role(worker[ordinal % 2]):
            for l in threads(32):
                r[l] = X[t, l]
        for k in seq(0, K):
            with role(worker[{unit}]):
                for l in threads(32):
                    Y[t, l] = r[l]
"""

TWINS = [
    ("role.unit", ping_pong(unit="ordinal"), ping_pong()),
    ("mbar.parity_alias", ping_pong(take="Await(turn, lag=2)"), ping_pong()),
    ("mbar.parity_alias", ping_pong(join="pass"), ping_pong()),
    ("deadlock.cycle", ping_pong(take="Await(turn)"), ping_pong()),
    (
        "mbar.count",
        ping_pong().replace("empty = mbarrier(ring=2, count=1)", "empty = mbarrier(ring=2, count=2)"),
        ping_pong(),
    ),
    ("race.waw", ping_pong().replace("SMEM(ring=2)", "SMEM(ring=1)"), ping_pong()),
    ("race.war", deeper(2, 3, lag=3), deeper(2, 3, lag=2)),
    ("race.waw", deeper(5, 7, lag=6), deeper(5, 7, lag=5)),
    ("race.war", staged(ring=2, pending=1), staged(ring=4, pending=1)),
    ("ownership", REGISTERS.format(unit="k % 2"), REGISTERS.format(unit="ordinal % 2")),
]


@cache
def proof(folder: Path, text: str) -> Report:
    return verdict(folder, text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all, so that a kernel that is the good twin of several is proved once."""
    return tmp_path_factory.mktemp("turns")


@pytest.mark.parametrize(("rule", "bad", "good"), TWINS, ids=[f"{n}-{t[0]}" for n, t in enumerate(TWINS)])
def test_bad_twin_is_refuted_and_good_twin_proved(folder: Path, rule: str, bad: str, good: str) -> None:
    refuted = verdict(folder, bad)
    broken = [o for o in refuted.obligations if o.status is Status.REFUTED]
    assert rule in {o.rule for o in broken}
    assert all(o.counterexample is not None and o.counterexample.replay for o in broken)
    proved = proof(folder, good)
    assert [(o.name, o.reason) for o in proved.obligations if o.status is not Status.PROVED] == []
    assert proved.status is Status.PROVED


def test_the_sequential_meaning_does_not_know_the_unit(folder: Path) -> None:
    (folder / "meaning.py").write_text(ping_pong())
    kernel = load(folder / "meaning.py")["k"]
    rows = np.arange(96, dtype=np.float32).reshape(3, 32)
    out = interpret(kernel, {"T": 3, "K": 2, "X": rows, "Y": np.zeros((3, 32), np.float32)})
    assert (out["Y"] == rows).all()


def test_a_unit_allocates_from_no_pool(folder: Path) -> None:
    text = (
        staged()
        .replace("SMEM(ring=2)", 'SMEM(pool="a")')
        .replace(
            "        with role(worker[",
            '        other: f32[32] @ SMEM(pool="a", offset=128)\n        with role(worker[',
            1,
        )
    )
    (folder / "pool.py").write_text(text)
    with pytest.raises(BadInput, match="once for each unit"):
        load(folder / "pool.py")


HANDED_OVER = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    block({roles})
    b = named_barrier(count=64)
    for m in tasks(0, M):
        s: f32[32] @ SMEM
        with role({writer}):
            for t in threads(32):
                s[t] = X[m, t]
            bar_arrive(b)
        with role({reader}):
            bar_sync(b)
            for t in threads(32):
                Y[m, t] = s[31 - t]
"""


def test_units_known_by_number_do_not_meet_at_a_barrier(tmp_path: Path) -> None:
    """Each counts what the other does; roles count for themselves."""
    with pytest.raises(BadInput) as error:
        verdict(tmp_path, HANDED_OVER.format(roles="a=warps(2)", writer="a[0]", reader="a[1]"))
    (problem,) = error.value.diagnostics
    assert problem.code == "lang.role" and "`a[0]` and `a[1]` both arrive on `b`" in problem.message
    apart = HANDED_OVER.format(roles="a=warps(1), c=warps(1)", writer="a", reader="c")
    assert verdict(tmp_path, apart).status is Status.PROVED
