"""Properties of single instances, for all sizes: no instance of a statement satisfies a bad condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exogpu.smt.solver import Sat, Unknown, Unsat
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Proved, Undecided
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.phases import Phases
from exogpu.verify.program import Event, Program
from exogpu.verify.session import Session, Values

ROUNDS = 20
"""Most spurious models (of the product abstraction) refined away for one property."""


@dataclass(frozen=True, slots=True)
class Property:
    """No instances of `events` (tags "x", "y", ...) satisfy `bad`; `check` decides the same concretely. Without it,
    what is found is a candidate, of which products of variables alone are known to be exact."""

    name: str
    events: tuple[Event, ...]
    bad: Callable[[Model, Phases, tuple[Instance, ...]], Formula]
    check: Callable[[Program, Env, tuple[Occurrence, ...]], bool] | None


@dataclass(frozen=True, slots=True)
class Found:
    """Concrete instances that satisfy the bad condition, evaluated without the solver."""

    sizes: Env
    instances: tuple[Occurrence, ...]


Verdict = Proved | Found | Undecided
TAGS = ("x", "y", "z", "u", "v", "w")


def hold(program: Program, prop: Property) -> Verdict:
    """Proves or refutes a property for all sizes."""
    tags = dict(zip(TAGS, prop.events, strict=False))
    try:
        session = Session(program, prop.name, tags)
        instances = tuple(session.instances[t] for t in tags)
        session.add([prop.bad(session.model, session.phases, instances)])
    except NoClosedForm as error:
        return Undecided(f"no closed form for an ordinal: {error}")
    for _ in range(ROUNDS):
        match session.check():
            case Unsat():
                return Proved((), session.record("unsat"))
            case Unknown(reason):
                return Undecided(f"solver: {reason}")
            case Sat(values):
                found = _replay(session, prop, tags, values)
                if found is None and prop.check is None:
                    continue
                if found is not None:
                    return found
                if not session.refine(values):
                    return Undecided("the encoding and the explicit engine disagree on a candidate")
    return Undecided(f"no answer after {ROUNDS} candidates")


def _replay(session: Session, prop: Property, tags: dict[str, Event], values: Values) -> Found | None:
    if prop.check is None:
        if session.refine(values):
            return None
        return Found(session.sizes(values), tuple(session.concrete(t, values) for t in tags))
    for candidate in (session.minimise(values), values):
        occurrences = tuple(session.concrete(t, candidate) for t in tags)
        sizes = session.sizes(candidate)
        if prop.check(session.program, sizes, occurrences):
            return Found(sizes, occurrences)
    return None
