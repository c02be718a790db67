"""One kernel under three judges: the prover for all sizes, the explicit oracle and the simulator at small ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, permutations

from exogpu.ir.proc import Proc
from exogpu.verify.concrete import Env, occurrences
from exogpu.verify.explicit import faults
from exogpu.verify.lower import lower
from exogpu.verify.program import TASKS, Program
from exogpu.verify.prove import verify
from exogpu.verify.result import Counterexample, Obligation, Report, Status
from exogpu.verify.simulator import Agrees, simulate

EXPLICIT_SIZES = ((0, 1), (1, 1), (1, 2), (2, 1), (2, 2))
"""(K, tasks of the CTA) at which the explicit oracle looks for a fault of a proved kernel: the first two always."""
MOST_ACCESSES, MOST_AT_WITNESS = 250, 1500
"""Accesses by single threads up to which it does at the others, and at the sizes of a counterexample."""
SIMULATED_SIZES = ((1, 0, 1), (5, 0, 2), (2, 1, 3), (3, 2, 6), (1, 5, 3))
"""(T, K, schedules) at which the simulator does."""
WITNESS_SCHEDULES = 48
LARGEST = 12
"""Largest size at which the other judges run."""
MOST_WALKS = 12
"""Orders of tasks of one CTA that are tried to reproduce a counterexample."""

UNSEEN = {"index.overflow", "mbar.lag", "mbar.parity_alias", "mbar.unobserved_phase"}
"""Rules whose violation need not show in any run at small sizes: width of integers, and conditions on barriers that are
stronger than that no run goes wrong."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the judges say. `rules`: refuted rules, or reasons of unknown obligations. `confirmed`: how many refuted
    obligations another judge reproduced. `disagreement`: what is wrong with the prover, if anything."""

    status: str
    rules: tuple[str, ...]
    confirmed: int
    disagreement: str
    seconds: tuple[float, float, float]


def compare(proc: Proc) -> Finding:
    """Runs the judges on a kernel over the sizes T and K with one task loop over t."""
    started = time.process_time()
    report = verify(proc)
    proved = time.process_time()
    confirmed, rules, disagreement = 0, tuple[str, ...](), ""
    explicit = 0.0
    match report.status:
        case Status.PROVED:
            disagreement = _fault_of_proved(proc)
            simulated = time.process_time()
            disagreement = disagreement or _explicit_fault(proc)
            explicit = time.process_time() - simulated
        case Status.REFUTED:
            shown = [o for o in report.obligations if o.status is Status.REFUTED]
            rules = tuple(sorted({o.rule for o in shown}))
            answers = [_reproduced(proc, o) for o in shown]
            confirmed = sum(a is None for a in answers)
            disagreement = next((a for a in answers if a), "")
        case _:
            rules = _reasons(report)
    seconds = (proved - started, explicit, time.process_time() - proved - explicit)
    return Finding(report.status.value, rules, confirmed, disagreement, seconds)


def _reasons(report: Report) -> tuple[str, ...]:
    left = [o for o in report.obligations if o.status in (Status.UNKNOWN, Status.UNSUPPORTED)]
    return tuple(sorted({f"{o.rule}: {o.reason}" for o in left})) or (report.reason,)


# -- proved and wrong --------------------------------------------------------------------------------------------------


def _fault_of_proved(proc: Proc) -> str:
    for t, k, schedules in SIMULATED_SIZES:
        outcome = simulate(proc, {"T": t, "K": k}, schedules=schedules)
        if not isinstance(outcome, Agrees):
            return f"PROVED, and the simulator ends with {outcome} at T = {t}, K = {k}"
    return ""


def _explicit_fault(proc: Proc) -> str:
    program = lower(proc)
    for n, (k, tasks) in enumerate(EXPLICIT_SIZES):
        sizes = {"T": 3, "K": k, TASKS: tasks}
        if n > 1 and (_accesses(program, sizes) > MOST_ACCESSES or (tasks > 1 and not proc.block.persistent)):
            continue
        found = next(_faults(program, sizes, range(tasks)), None)
        if found is not None:
            return f"PROVED, and the explicit oracle finds {found} at T = 3, K = {k}, {tasks} tasks"
    return ""


def _accesses(program: Program, sizes: Env) -> int:
    tasks = {n: {"t": n} for n in range(sizes[TASKS])}
    touching = (e for e in program.events if e.accesses)
    return sum(o.width for e in touching for o in occurrences(program, e, sizes, tasks))


def _faults(program: Program, sizes: Env, walk: Iterator[int] | range | tuple[int, ...]) -> Iterator[str]:
    for fault in faults(program, sizes, tuple({"t": n} for n in walk)):
        yield f"{fault.rule}: {fault.where}"


# -- refuted and right -------------------------------------------------------------------------------------------------


def _reproduced(proc: Proc, obligation: Obligation) -> str | None:
    """None if another judge finds a fault at the counterexample's sizes; why not, if it should; else empty."""
    witness = obligation.counterexample
    if witness is None:
        return ""
    sizes = {n: v for n, v in witness.sizes if n in ("T", "K")}
    if max(sizes.values(), default=0) > LARGEST:
        return "" if obligation.rule in UNSEEN else f"REFUTED by {obligation.name} at {sizes}, too large to reproduce"
    seen = _seen_in_a_run(proc, sizes) or _seen_explicitly(proc, sizes, witness)
    if seen:
        return None
    if seen is None or obligation.rule in UNSEEN:
        return ""
    where = f"{obligation.name} ({obligation.rule}) at {dict(witness.sizes)}"
    return f"REFUTED by {where}, and neither oracle finds a fault there"


def _seen_explicitly(proc: Proc, sizes: Mapping[str, int], witness: Counterexample) -> bool | None:
    """Whether the explicit oracle finds a fault; None if the sizes are too large for it."""
    tasks = dict(witness.sizes).get("tasks of the CTA", 1)
    program = lower(proc)
    if _accesses(program, {**sizes, TASKS: tasks}) > MOST_AT_WITNESS:
        return None
    return any(
        next(_faults(program, {**sizes, TASKS: tasks}, walk), None) is not None
        for walk in islice(permutations(range(sizes["T"]), tasks), MOST_WALKS)
    )


def _seen_in_a_run(proc: Proc, sizes: Mapping[str, int]) -> bool:
    return not isinstance(simulate(proc, sizes, schedules=WITNESS_SCHEDULES), Agrees)
