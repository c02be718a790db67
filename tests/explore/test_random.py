"""Where one execution is said to settle all others, no random execution goes wrong: shown on random edits of the twins,
most of which break something."""

from __future__ import annotations

import runpy
from pathlib import Path
from random import Random

import pytest

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import ASSUMED
from exogpu.verify.explore import Clean, Fault, explore
from exogpu.verify.explore.choices import choices
from exogpu.verify.explore.finding import Finding
from exogpu.verify.explore.machine import Machine
from exogpu.verify.explore.program import Program
from exogpu.verify.explore.schedule import Schedule, run
from tests.explore.edits import edited

CASES = Path(__file__).resolve().parent / "cases"
EDITS = 25
EXECUTIONS = 8


def good() -> list[Skeleton]:
    """The good twins, in a fixed order."""
    found: dict[str, Skeleton] = {}
    for path in sorted(CASES.glob("*.py")):
        found |= {f"{path.stem}.{g.name}": g for _, _, g in runpy.run_path(str(path))["TWINS"]}
    return list(found.values())


def at_random(program: Program, seed: int) -> Finding | None:
    """What a random execution runs into."""
    order = list(range(len(program.strands)))
    Random(seed).shuffle(order)
    m = Machine(program, ASSUMED)
    landing = Schedule(tuple(order), ("late", "early")[seed % 2], seed if seed % 3 else None)
    found = run(m, landing)
    return found or next((mild for mild, _ in m.mild), None)


@pytest.mark.parametrize("seed", range(4))
def test_settled_means_settled(seed: int) -> None:
    random, skeletons = Random(seed), good()
    faults = settled = 0
    for _ in range(EDITS):
        skeleton = edited(random.choice(skeletons), random)
        sizes = {name: random.randrange(1, 5) for name in skeleton.sizes}
        found = explore(skeleton, sizes, ASSUMED)
        faults += isinstance(found, Fault)
        if found != Clean(True):
            continue
        settled += 1
        for choice in choices(skeleton, sizes, 1):
            for n in range(EXECUTIONS):
                wrong = at_random(choice.program, n)
                assert wrong is None, (skeleton.name, sizes, wrong.rule, wrong.message, wrong.span)
    assert faults and settled
