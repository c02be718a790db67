"""Properties of single instances, for all sizes: no instance of a statement satisfies a bad condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from exogpu.smt.solver import Sat, Unknown, Unsat
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.nest import TooLarge
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
    what is found is a candidate, of which products of variables alone are known to be exact. `apart`: the instances are
    of tasks that different clusters may walk."""

    name: str
    events: tuple[Event, ...]
    bad: Callable[[Model, Phases, tuple[Instance, ...]], Formula]
    check: Callable[[Program, Env, tuple[Occurrence, ...]], bool] | None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Concrete instances that satisfy the bad condition, evaluated without the solver; `minimal`: at the smallest sizes
    of a model."""

    sizes: Env
    instances: tuple[Occurrence, ...]
    minimal: bool = True


Verdict = Proved | Found | Undecided
TAGS = ("x", "y", "z", "u", "v", "w")


def hold(program: Program, prop: Property) -> Verdict:
    """Proves or refutes a property for all sizes."""
    try:
        return _decided(program, prop)
    except NoClosedForm as error:
        return Undecided(f"no closed form for an ordinal: {error}")
    except TooLarge as error:
        return Undecided(f"the candidate counterexample is too large to check: {error}")


def _decided(program: Program, prop: Property) -> Verdict:
    tags = dict(zip(TAGS, prop.events, strict=False))
    session = Session(program.of_any_walk if prop.apart else program, prop.name, tags)
    instances = tuple(session.instances[t] for t in tags)
    session.add([prop.bad(session.model, session.phases, instances)])
    for _ in range(ROUNDS):
        match session.check():
            case Unsat():
                return Proved((), session.record("unsat"))
            case Unknown(reason):
                return Undecided(f"solver: {reason}")
            case Sat(values):
                found = _confirmed(session, prop, tags, values)
                if found is None and session.refine(values):
                    continue  # what the model has wrong is told sooner than a smaller one is found
                if prop.check is None:
                    return Found(session.sizes(values), _concrete(session, tags, values))
                smaller = None
                if found is None or not session.heavy:
                    smaller = _confirmed(session, prop, tags, session.minimise(values))
                if found is not None:
                    return smaller or replace(found, minimal=False)
                return smaller or Undecided("the encoding and the explicit engine disagree on a candidate")
    return Undecided(f"no answer after {ROUNDS} candidates")


def _confirmed(session: Session, prop: Property, tags: Iterable[str], values: Values) -> Found | None:
    """The instances of a model, if they satisfy the bad condition."""
    sizes, instances = session.sizes(values), _concrete(session, tags, values)
    confirmed = prop.check is not None and prop.check(session.program, sizes, instances)
    return Found(sizes, instances) if confirmed else None


def _concrete(session: Session, tags: Iterable[str], values: Values) -> tuple[Occurrence, ...]:
    return tuple(session.concrete(t, values) for t in tags)
