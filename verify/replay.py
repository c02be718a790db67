"""Violations that count only if the machine runs into them at the sizes that the solver found."""

from __future__ import annotations

from dataclasses import replace

from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Env, Occurrence, Unrolling
from exogpu.verify.endings import CutOff, Early, Stuck
from exogpu.verify.instance import Instance, Model
from exogpu.verify.nest import TooLarge
from exogpu.verify.ordering import Proved, Undecided
from exogpu.verify.phases import Phases
from exogpu.verify.program import Event, Program
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.text import HELP, single_question
from exogpu.verify.witness import failure, run_to_failure, shown_sizes


def by_machine(program: Program, base: Obligation, prop: Property, message: str) -> Obligation:
    """The obligation with the verdict of a property whose violation shows when the machine runs."""
    base = replace(base, question=single_question(prop.events, base.title))
    match hold(program, prop):
        case Proved(_, query):
            return replace(base, queries=(query,))
        case Undecided(reason):
            return replace(base, status=Status.UNKNOWN, reason=reason)
        case Found(sizes, _, minimal):
            return run(program, base, sizes, message, minimal=minimal)


def run(
    program: Program,
    base: Obligation,
    sizes: Env,
    message: str,
    eager: frozenset[int] = frozenset(),
    *,
    minimal: bool = True,
) -> Obligation:
    """REFUTED if the machine fails at these sizes, with its threads in order or with the `eager` ones first; else
    UNKNOWN. `minimal`: it fails at no smaller sizes."""
    try:
        unrolling = Unrolling(program, sizes, {})
    except TooLarge as error:
        return replace(base, status=Status.UNKNOWN, reason=f"{message}; too large to replay: {error}")
    reason = ""
    for first in dict.fromkeys((frozenset[int](), eager)):
        machine, ending = run_to_failure(unrolling, eager=first)
        match ending:
            case Stuck() | Early():
                return replace(
                    base,
                    status=Status.REFUTED,
                    message=message,
                    label="here",
                    help=HELP[base.rule],
                    counterexample=failure(unrolling, machine, ending, minimal=minimal),
                )
            case CutOff():
                reason = f"{message}; the run is too long to replay"
            case _:
                at = ", ".join(f"{name} = {value}" for name, value in shown_sizes(program, sizes))
                reason = f"{message}, yet a run with {at} ends"
    return replace(base, status=Status.UNKNOWN, reason=reason)


def reached(statement: Event, phase: int = 0) -> Property:
    """ "Never executed for a phase >= `phase`": its violation gives sizes at which it is."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return model.ctx.ge(phases.phase(xs[0]), phase)

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        return True

    return Property(f"reached/{statement.id}/{phase}", (statement,), bad, check)
