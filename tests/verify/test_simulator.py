"""The interleaving simulator: right kernels agree with the sequential program, each single fault shows."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from exogpu.verify.simulator import Agrees, Broken, Outcome, Race, Stuck, Undefined, WrongValue, simulate
from tests.texts import kernel
from tests.verify.generate import RIGHT, Recipe

ROOT = Path(__file__).resolve().parent.parent.parent
PLAIN = replace(RIGHT, tma=False)


def run(tmp_path: Path, text: str, schedules: int = 12, **sizes: int) -> Outcome:
    """What happens; values alone tell a fault from a right program, unless the accesses do."""
    proc = kernel(tmp_path, text)
    outcome = simulate(proc, sizes, schedules=schedules, watch=False)
    watched = simulate(proc, sizes, schedules=schedules)
    assert isinstance(watched, Agrees) == isinstance(outcome, Agrees)
    return outcome


def test_it_imports_nothing_of_the_prover() -> None:
    code = (
        "import sys, exogpu.verify.simulator; "
        "print([m for m in sys.modules if m.split('.')[0] in ('z3', 'pysmt') or m.startswith('exogpu.smt') "
        "or (m.startswith('exogpu.verify.') and not m.startswith('exogpu.verify.simulator'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("recipe", [RIGHT, PLAIN], ids=["tma", "plain"])
@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_right_rings_agree(tmp_path: Path, recipe: Recipe, trips: int) -> None:
    assert run(tmp_path, recipe.source(), T=2, K=trips) == Agrees(12)


FAULTS = {
    "no wait for the data": (replace(RIGHT, await_full=False), (WrongValue, Broken, Stuck, Race)),
    "no wait for the free slot": (replace(RIGHT, await_empty=False), (WrongValue, Broken, Race)),
    "a lag longer than the ring": (replace(RIGHT, lag=3), (WrongValue, Broken, Race)),
    "a ring of data shorter than its barriers": (replace(RIGHT, slots=1), (WrongValue, Race)),
    "too few bytes": (replace(RIGHT, tx=64), (WrongValue, Broken, Stuck)),
    "too many bytes": (replace(RIGHT, tx=256), (Stuck,)),
    "no proxy fence before the refill": (replace(RIGHT, proxy=False), (Race,)),
    "a release without a barrier": (replace(RIGHT, fence_consumer=False), (WrongValue, Race, Stuck)),
    "a release before the reads": (replace(RIGHT, release="early"), (WrongValue, Race, Stuck)),
    "no release": (replace(RIGHT, release="never"), (Stuck,)),
    "a hand-off without a barrier": (replace(PLAIN, fence_producer=False), (WrongValue,)),
    "plain: no wait for the data": (replace(PLAIN, await_full=False), (WrongValue, Broken, Stuck, Race)),
    "plain: a release before the reads": (replace(PLAIN, release="early"), (WrongValue,)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_rings_show(tmp_path: Path, name: str) -> None:
    recipe, kinds = FAULTS[name]
    assert isinstance(run(tmp_path, recipe.source(), T=3, K=6), kinds)


BARRIER = """def k(T: size, X: f32[T, 64] @ GMEM, Y: f32[T, 64] @ GMEM):
    block(64)
    for task in tasks(0, T):
        line: f32[64] @ SMEM
        for t in threads(64):
            line[t] = X[task, t]
        {fence}
        for t in threads(64):
            Y[task, t] = line[t {other}]
"""


def test_threads_do_not_see_each_other_without_a_fence(tmp_path: Path) -> None:
    def text(fence: str, other: str) -> str:
        return BARRIER.format(fence=fence, other=other)

    assert run(tmp_path, text("Fence()", "// 2 * 2"), T=2) == Agrees(12)
    assert run(tmp_path, text("", ""), T=2) == Agrees(12)
    assert isinstance(run(tmp_path, text("", "// 2 * 2"), T=2), WrongValue)


def test_a_fence_joins_its_collective_only(tmp_path: Path) -> None:
    text = BARRIER.replace("{fence}", "for w in threads(2, unit=warp):\n            Fence()")
    assert run(tmp_path, text.format(other="// 2 * 2"), T=2) == Agrees(12)
    assert isinstance(run(tmp_path, text.format(other="- t + 63 - t"), T=2), WrongValue)


STORE = """def k(T: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    block(32, persistent=True)
    for task in tasks(0, T):
        s: f32[1, 32] @ SMEM(ring={ring})
        for t in threads(1):
            bulk_wait_read(1)
        Fence()
        for t in threads(32):
            s[0, t] = X[task, t]
        {proxy}
        Fence()
        for t in threads(1):
            tma_store(Y[task : task + 1, 0:32], s[:, :])
            bulk_commit()
    for t in threads(1):
        bulk_wait_read({left})
"""


def test_bulk_stores_read_their_source_late(tmp_path: Path) -> None:
    def text(ring: int = 2, proxy: str = "fence_proxy_async()", left: int = 0) -> str:
        return STORE.format(ring=ring, proxy=proxy, left=left)

    assert run(tmp_path, text(), T=4) == Agrees(12)
    assert isinstance(run(tmp_path, text(ring=1), T=4), WrongValue)
    assert isinstance(run(tmp_path, text(proxy=""), T=4), WrongValue)
    assert isinstance(run(tmp_path, text(left=1), T=4), Race)


def test_a_program_without_sequential_result_is_undefined(tmp_path: Path) -> None:
    text = BARRIER.format(fence="Fence()", other="+ 1")
    assert isinstance(run(tmp_path, text, T=1), Undefined)


def test_the_same_seed_gives_the_same_outcome(tmp_path: Path) -> None:
    text = replace(RIGHT, await_full=False).source()
    assert run(tmp_path, text, T=2, K=3) == run(tmp_path, text, T=2, K=3)


MULTICAST = """def k(T: size, K: size, X: f32[T + K, 64] @ GMEM, Y: f32[T, 2, 64] @ GMEM):
    block(p=warps(1), c=warps(2), persistent=True, cluster=2)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count={count})
    for t in tasks(0, T):
        for k in seq(0, K):
            s: f32[2, 2, 32] @ SMEM(ring={slots})
            for c in threads(2, unit=cta):
                with role(p):
                    for one in threads(1):
                        Await(empty, lag=2)
                        {proxy}
                        tma_load_multicast(
                            s[:, c : c + 1, :], X[t + k : t + k + 1, 32 * c : 32 * c + 32], full
                        )
                        Arrive(full, tx={bytes})
            for d in threads(2, unit=cta):
                with role(c):
                    Await(full)
                    for l in threads(64):
                        Y[t, d, l] += s[d, 1 - l // 32, 31 - l % 32]
                    Fence()
                    {release}
    {last}
"""


def multicast(
    release: str = "for r in threads(2):\n                        Arrive(empty[r])",
    proxy: str = "fence_proxy_async_all()",
    count: int = 2,
    tx: int = 256,
    slots: int = 2,
    last: str = "Fence()",
) -> str:
    text = MULTICAST.replace("role(c)", "role(q)").replace("c=warps", "q=warps").replace("{bytes}", str(tx))
    return text.format(release=release, proxy=proxy, count=count, slots=slots, last=last)


def test_multicast_rings_of_a_cluster(tmp_path: Path) -> None:
    assert run(tmp_path, multicast(), T=2, K=5) == Agrees(12)
    faults = {
        "released in one CTA only": multicast(release="Arrive(empty)", count=1),
        "bytes of one CTA only": multicast(tx=128),
        "too many arrivals wanted": multicast(count=3),
        "no proxy fence": multicast(proxy=""),
        "too few slots": multicast(slots=1),
    }
    found = {name: run(tmp_path, text, T=2, K=5) for name, text in faults.items()}
    assert not [name for name, outcome in found.items() if isinstance(outcome, Agrees | Undefined)], found


REMOTE = """def k(T: size, X: f32[T, 64] @ GMEM, Y: f32[T, 64] @ GMEM):
    block(32, persistent=True, cluster=2)
    for t in tasks(0, T):
        s: f32[2, 32] @ SMEM
        for c in threads(2, unit=cta):
            for l in threads(32):
                s[c, l] = X[t, 32 * c + l]
        {entry}
        for d in threads(2, unit=cta):
            for i in threads(32):
                Y[t, 32 * d + i] = s[1 - d, 31 - i]
        {exit}
"""


def test_a_cta_reads_the_memory_of_another_while_it_lives(tmp_path: Path) -> None:
    assert run(tmp_path, REMOTE.format(entry="Fence()", exit="Fence()"), T=2) == Agrees(12)
    within = "for f in threads(2, unit=cta):\n            Fence()"
    assert isinstance(run(tmp_path, REMOTE.format(entry=within, exit="Fence()"), T=2), WrongValue)
    assert isinstance(
        run(tmp_path, REMOTE.format(entry="Fence()", exit=within.replace("f in", "g in")), T=1), WrongValue
    )
