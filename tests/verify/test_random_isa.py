"""Random small programs with named barriers, cp.async groups and shared storage: prover and explicit engine agree.

Many of the programs are wrong; the two must say so of the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.lang import load
from exogpu.verify.explicit import faults
from exogpu.verify.lower import lower
from exogpu.verify.program import TASKS
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from exogpu.verify.simulator import Agrees, Undefined, simulate

HEAD = """from exogpu.lang import *

@proc
def k(N: size, X: f32[N, 32] @ GMEM, Y: f32[N, 32] @ GMEM, Z: f32[N, 32] @ GMEM):
"""


def block(lines: list[str], depth: int) -> str:
    return "\n".join("    " * depth + line for line in (lines or ["pass"])) + "\n"


def joined(parts: list[list[str]]) -> list[str]:
    return [line for part in parts for line in part]


def named(rng: random.Random) -> str:
    """A hand-over between two roles, of which a statement or two is left out, doubled, changed or moved."""
    before = [["bar_arrive(q)"]]
    write = [["bar_sync(q)"], ["for t in threads(32):", "    s[t] = X[i, t]"], ["bar_arrive(p)"]]
    read = [["bar_sync(p)"], ["for t in threads(32):", "    Y[i, t] = s[31 - t]"], ["bar_arrive(q)"]]
    for _ in range(rng.randint(0, 2)):
        part = rng.choice([before, write, read])
        n = rng.randrange(len(part))
        match rng.randrange(4):
            case 0:
                part[n] = ["pass"]
            case 1:
                part.insert(n, part[n])
            case 2:
                part[n] = [line.translate(str.maketrans("pq", "qp")) if "bar_" in line else line for line in part[n]]
            case _:
                part[n], part[-1] = part[-1], part[n]
    text = HEAD + block(
        ["block(a=warps(1), b=warps(1))", "p = named_barrier(count=64)", "q = named_barrier(count=64)"], 1
    )
    text += block(["with role(b):"], 1) + block(joined(before), 2)
    text += block(["for m in tasks(0, 1):"], 1) + block(["s: f32[32] @ SMEM", "for i in seq(0, N):"], 2)
    for role, lines in (("a", write), ("b", read)):
        text += block([f"with role({role}):"], 3) + block(joined(lines), 4)
    return text


def groups(rng: random.Random) -> str:
    """Copies, commits, waits and barriers in any order around a ring of two tiles."""
    slots = rng.choice([1, 2, 3])
    parts = [
        ["for t in threads(8):", f"    cp_async(s[i % {slots}, 4 * t : 4 * t + 4], X[i, 4 * t : 4 * t + 4])"],
        ["for t in threads(8):", f"    cp_async(s[(i + 1) % {slots}, 4 * t : 4 * t + 4], X[i, 4 * t : 4 * t + 4])"],
        ["for t in threads(32):", f"    Y[i, t] = s[i % {slots}, 31 - t]"],
        ["cp_async_commit()"],
        [f"cp_async_wait({rng.randint(0, 2)})"],
        ["cp_async_wait_all()"],
        ["Fence()"],
    ]
    chosen = [rng.choice(parts) for _ in range(rng.randint(3, 6))]
    text = HEAD + block(["block(32)", "for m in tasks(0, 1):"], 1)
    text += block([f"s: f32[{slots}, 32] @ SMEM", "for i in seq(0, N):"], 2) + block(joined(chosen), 3)
    return text + block(["cp_async_wait_all()"], 2)


def pools(rng: random.Random) -> str:
    """Two tiles, one after the other in a loop, in storage that overlaps wholly, in part or not at all."""

    def use(name: str, out: str) -> list[str]:
        index = rng.choice(["31 - t", "t"])
        lines = ["for t in threads(32):", f"    {name}[t] = X[i, t]"] + ["Fence()"] * (rng.random() < 0.7)
        lines += ["for t in threads(32):", f"    {out}[i, t] = {name}[{index}]"]
        return lines + ["Fence()"] * (rng.random() < 0.6)

    ring = rng.choice(["", "ring=2, "])
    offset = rng.choice([0, 0, 128, 256])
    text = HEAD + block(["block(32)", "for m in tasks(0, 1):", "    for i in seq(0, N):"], 1)
    text += block(["for once in unroll(0, 1):"], 3)
    text += block([f'a: f32[32] @ SMEM({ring}pool="x")', *use("a", "Y")], 4)
    text += block([f'b: f32[32] @ SMEM(pool="x", offset={offset})', *use("b", "Z")], 3)
    return text


def agree(make: Callable[[random.Random], str], seed: int, folder: Path) -> Status:
    """The verdict on the program of a seed, which must be what the explicit engine finds at small sizes."""
    text = make(random.Random(seed))
    path = folder / f"p{seed}.py"
    path.write_text(text)
    proc = load(path)["k"]
    statuses = {o.status for o in verify(proc).obligations if o.rule != "uninit"}
    status = next((v for v in (Status.REFUTED, Status.UNKNOWN) if v in statuses), Status.PROVED)
    found = [f for n in (2, 4) for f in faults(lower(proc), {"N": n, TASKS: 1})]
    if status is Status.PROVED:
        assert not found, text
        assert isinstance(simulate(proc, {"N": 3}), Agrees | Undefined), text
    if status is Status.REFUTED:
        assert found, text
    return status


@pytest.mark.parametrize(("make", "seeds"), [(named, range(5)), (groups, range(6)), (pools, range(2, 5))])
def test_random_programs(tmp_path: Path, make: Callable[[random.Random], str], seeds: range) -> None:
    verdicts = {agree(make, seed, tmp_path) for seed in seeds}
    assert verdicts == {Status.PROVED, Status.REFUTED}
