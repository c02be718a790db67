"""What a refutation advises: for each fault the words that matter, and that doing so is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput
from exogpu.lang import load
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status

HEAD = "from exogpu.lang import *\n\n@proc\n"

STORE = """def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(64, persistent=True)
    for m in tasks(0, M):
        s: f32[1, 64] @ SMEM
        for t in threads(64):
            s[0, t] = X[m, t]
        fence_proxy_async()
        Fence()
        for t in threads(1):
            tma_store(Y[m : m + 1, 0:64], s[:, :])
            {commit}
            bulk_wait_read(0)
        Fence()
"""

HANDED = """def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(p=warps(2), c=warps(2), persistent=True)
    full = mbarrier(ring=2, count=2)
    empty = mbarrier(ring=2, count={count})
    for i in tasks(0, M):
        s: f32[64] @ SMEM(ring=2)
        with role(p):
            Await(empty, lag=2)
            for t in threads(64):
                s[t] = X[i, t]
            for w in threads(2, unit=warp):
                {first}
                Arrive(full)
        with role(c):
            Await(full)
            for t in threads(64):
                Y[i, t] = s[63 - t]
            for w in threads(2, unit=warp):
                Fence()
                {back}
"""

PUSH = """def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(32, cluster=2, persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=1)
    for row in tasks(0, M):
        part: f32[2, 32] @ SMEM(ring=2)
        for c in threads(2, unit=cta):
            Await(empty, lag=2)
            for t in threads(32):
                part[1 - c, t] = X[row, 32 * c + t]
            Fence()
            Arrive(full[1 - c]{relaxed})
{second}            Await(full)
            for t in threads(32):
                Y[row, 32 * c + t] = part[c, 31 - t]
            Fence()
            Arrive(empty[1 - c])
    Fence()
"""

LINE = """def k(M: size, X: f32[M, 64] @ GMEM, Y: f32[M, 64] @ GMEM):
    block(64)
    for i in tasks(0, M):
        s: f32[64] @ SMEM
        for t in threads(64):
            s[t] = X[i, t]
{second}            Y[i, t] = s[63 - t]
"""

MULTICAST = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[2, M, 32] @ GMEM):
    block(p=warps(1), c=warps(1), cluster=2, persistent=True)
    full = mbarrier(ring=2, count=1)
    empty = mbarrier(ring=2, count=2)
    for b in tasks(0, ceildiv(M, 2)):
        tile: f32[2, 2, 32] @ SMEM(ring=2)
        for r in threads(2, unit=cta):
            with role(p):
                for t in threads(1):
                    Await(empty, lag=2)
                    {issuer}
                    tma_load_multicast(tile[0:2, r : r + 1, 0:32], X[2 * b + r : 2 * b + r + 1, 0:32], full)
                    Arrive(full, tx=256)
        for r in threads(2, unit=cta):
            with role(c):
                Await(full)
                for t in threads(32):
                    for v in seq(0, 2):
                        if 2 * b + v < M:
                            Y[r, 2 * b + v, t] = tile[r, v, t]
                {user}
                Fence()
                Arrive(empty[0:2])
    Fence()
"""

TAIL = """def k(M: size, X: f32[M, 64] @ GMEM):
    block(32)
    for i in tasks(0, M):
        s: f32[64] @ SMEM
        for t in threads(16):
            cp_async(s[4 * t : 4 * t + 4], X[i, 4 * t : 4 * t + 4])
        cp_async_commit()
{end}"""

SPLIT = "        for c in threads(2, unit=cta):\n"


def handed(first: str = "Fence()", count: int = 2, back: str = "Arrive(empty)") -> str:
    return HANDED.format(first=first, count=count, back=back)


CASES = {
    "an open group": (
        "race.war",
        STORE.format(commit="pass"),
        ["close the group", "no bulk_commit()"],
        STORE.format(commit="bulk_commit()"),
    ),
    "a warp without a fence": (
        "mbar.lane_release",
        handed(first="pass"),
        ["the first of the 32 threads that execute it", "let these 32 pass a Fence() before it"],
        handed(),
    ),
    "nobody arrives": ("mbar.count", handed(back="pass"), ["nothing completes a phase"], handed()),
    "a wrong count": ("mbar.count", handed(count=1), ["count=2", "let 1 thread arrive for each phase"], handed()),
    "a copy in flight at the end": (
        "race.async_inflight",
        TAIL.format(end=""),
        ["execute cp_async_wait_all() before the CTA ends"],
        TAIL.format(end="        cp_async_wait_all()\n"),
    ),
    "a relaxed arrive": (
        "race.raw",
        PUSH.format(relaxed=", relaxed=True", second=SPLIT),
        ["make Arrive full (line 15) an ordinary arrive", "publishes nothing"],
        PUSH.format(relaxed="", second=SPLIT),
    ),
    "an exchange in one loop over CTAs": (
        "race.war",
        PUSH.format(relaxed="", second=""),
        ["split the loop over c"],
        PUSH.format(relaxed="", second=SPLIT),
    ),
    "an exchange in one loop over threads": (
        "race.raw",
        LINE.format(second=""),
        ["split the loop over t"],
        LINE.format(second="        Fence()\n        for t in threads(64):\n"),
    ),
    "a fence at the wrong CTA": (
        "proxy.generic_to_async",
        MULTICAST.format(issuer="pass", user="fence_proxy_async()"),
        ["the thread that issues tma_load_multicast", "fence_proxy_async_all() after its Await"],
        MULTICAST.format(issuer="fence_proxy_async_all()", user="pass"),
    ),
    "a fence that covers too little": (
        "fence.state_space",
        MULTICAST.format(issuer="fence_proxy_async()", user="fence_proxy_async()"),
        ["fence_proxy_async_all() after its Await", "fence_proxy_async() covers that CTA's own shared memory only"],
        MULTICAST.format(issuer="fence_proxy_async_all()", user="pass"),
    ),
}


def read(path: Path, text: str) -> Report:
    path.write_text(HEAD + text)
    return verify(load(path)["k"])


@pytest.mark.parametrize("name", CASES)
def test_the_advice_says_what_helps(tmp_path: Path, name: str) -> None:
    rule, bad, words, good = CASES[name]
    refuted = [o for o in read(tmp_path / "bad.py", bad).obligations if o.status is Status.REFUTED]
    found = next(o for o in refuted if o.rule == rule)
    assert found.help is not None
    assert [w for w in words if w not in found.help] == []
    proved = read(tmp_path / "good.py", good)
    assert [(o.name, o.reason) for o in proved.obligations if o.status is not Status.PROVED] == []


def test_a_cluster_fence_that_joins_again_does_not_wait_for_nothing(tmp_path: Path) -> None:
    """The fault is the second arrive; the wait behind it has something to wait for."""
    back = "            Arrive(empty[1 - c])\n"
    text = PUSH.format(relaxed="", second=SPLIT).replace(back, f"{back}        cluster_arrive()\n")
    report = read(tmp_path / "k.py", text)
    messages = [o.message for o in report.obligations if o.status is Status.REFUTED]
    assert any("arrives twice without a wait between" in m for m in messages)
    assert not any("without having arrived" in m for m in messages)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("for t in threads(1):\n            bar_sync(bar)", "whole units of 32 threads, not by 1 thread"),
        ("for t in threads(2, unit=48):\n            bar_sync(bar)", "whole units of 32 threads, not by 48 threads"),
    ],
)
def test_parts_of_warps_are_called_so(tmp_path: Path, statement: str, words: str) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        f"{HEAD}def k(M: size):\n    block(96)\n    bar = named_barrier(count=96)\n"
        f"    for i in tasks(0, M):\n        {statement}\n"
    )
    with pytest.raises(BadInput) as caught:
        load(path)
    assert any(words in d.message for d in caught.value.diagnostics)


@pytest.mark.parametrize("window", ["acc[t]", "acc[t : t + 1]"])
def test_registers_without_a_dimension_of_a_thread(tmp_path: Path, window: str) -> None:
    """Neither a point nor a range of the dimension over threads will do; the advice names the dimension that will."""
    text = f"""def k(N: size, S: f32[N] @ GMEM):
    block(32)
    for j in tasks(0, N):
        acc: f32[32] @ RMEM(threads=1)
        for t in threads(32):
            acc[t] = 1.0
            if t == 0:
                atomic_add(S[j : j + 1], {window})
"""
    path = tmp_path / "k.py"
    path.write_text(HEAD + text)
    with pytest.raises(BadInput) as caught:
        load(path)
    (found,) = caught.value.diagnostics
    assert "f32[128, 4] @ RMEM(threads=1)" in found.message + (found.help or "")
    path.write_text(
        HEAD + text.replace("f32[32]", "f32[32, 1]").replace("acc[t] =", "acc[t, 0] =").replace(window, "acc[t, 0:1]")
    )
    assert verify(load(path)["k"]).status is Status.PROVED
