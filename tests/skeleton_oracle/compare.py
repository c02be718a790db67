"""One skeleton under two judges: the prover for all sizes, and executions at small ones."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.explore import Clean, Fault, explore, small_sizes
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.result import Status
from exogpu.verify.skeleton.unsupported import NotModelled
from exogpu.verify.skeleton.verdict import proof

PROVED, UNKNOWN, NO_MODEL = "PROVED", "UNKNOWN", "NO MODEL"
"""What becomes of a proof."""
FAULT, CLEAN, OPEN = "FAULT", "CLEAN", "OPEN"
"""What executions show: one goes wrong, none does on any schedule, none did."""
PROVED_SIZES, OTHER_SIZES = 7, 6
"""At how many sizes a proved skeleton is executed, and one that is not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the judges say. `rule`: what was found, or why there is no proof; `seconds` of each judge."""

    proof: str
    executions: str
    rule: str
    message: str
    seconds: tuple[float, float]


def compare(skeleton: Skeleton) -> Finding:
    """Runs the judges."""
    started = time.process_time()
    status, reason = attempt(skeleton)
    shown = time.process_time()
    proved = status == PROVED
    fault, exhaustive = execute(skeleton, PROVED_SIZES if proved else OTHER_SIZES, 2 if proved else 1)
    seconds = (shown - started, time.process_time() - shown)
    if fault is not None:
        at = ", ".join(f"{name} = {value}" for name, value in fault.sizes)
        return Finding(status, FAULT, fault.rule, f"{fault.message} ({at})", seconds)
    return Finding(status, CLEAN if exhaustive else OPEN, reason, "", seconds)


def attempt(skeleton: Skeleton) -> tuple[str, str]:
    """Whether everything can be shown, and the first thing that can't."""
    try:
        left = next((o for o in proof(skeleton, DEFAULT, hasty=True) if o.status is not Status.PROVED), None)
    except (NotModelled, NoClosedForm) as error:
        return NO_MODEL, str(error)
    if left is None:
        return PROVED, ""
    return UNKNOWN, f"{left.rule}: {left.title}: {left.reason}"


def execute(skeleton: Skeleton, sizes: int, effort: int) -> tuple[Fault | None, bool]:
    """The first fault at so many of the smallest sizes, and whether no schedule has another."""
    exhaustive = True
    for tried in islice(small_sizes(skeleton), sizes):
        found = explore(skeleton, tried, DEFAULT.in_force, effort=effort)
        if isinstance(found, Fault):
            return found, False
        exhaustive = exhaustive and isinstance(found, Clean) and found.exhaustive
    return None, exhaustive
