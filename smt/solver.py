"""The narrow interface to Z3: incremental checks with named assumptions, models, cores and a deterministic budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import z3
from z3 import z3core

from exogpu.smt.script import Script
from exogpu.smt.terms import Formula, TermApi
from exogpu.smt.z3_terms import Z3Terms

RLIMIT = 20_000_000
"""Z3 resource units per check: the budget that decides UNKNOWN, repeatable on every machine."""
FIRST = 1_000_000
"""Units of the first attempt at a check. Nearly every check takes fewer; one that does not is mostly caught in a bad
branch, which another random seed leaves (heavy tails: Gomes, Selman, Crato, Kautz 2000)."""
WALL_MS = 60_000
"""Safety net only; an answer never depends on it unless a check takes a minute."""


@dataclass(frozen=True, slots=True)
class Sat:
    """Satisfiable; integer values of every symbol of the query."""

    model: dict[str, int]


@dataclass(frozen=True, slots=True)
class Unsat:
    """Unsatisfiable; names of the assumptions used."""

    core: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unknown:
    """The solver gave up."""

    reason: str


Result = Sat | Unsat | Unknown


class Engine:
    """A Z3 context for the solvers of one `TermApi`. Models depend on what was solved before in the same context, so
    questions whose answers must not depend on each other get engines of their own."""

    def __init__(self, api: TermApi, rlimit: int = RLIMIT) -> None:
        self.api = api
        self._rlimit = rlimit

    @cached_property
    def terms(self) -> Z3Terms:
        """The context and its terms, made when first asked for."""
        return Z3Terms()

    @cached_property
    def attempts(self) -> Mapping[bool, tuple[z3.ParamsRef, ...]]:
        """Settings for one attempt after another, by whether unsat cores are to be small. A budget that is not much
        larger than that of a first attempt is spent at once: a broken-off attempt slows down the next in its solver."""
        budgets = [FIRST, self._rlimit] if self._rlimit > 10 * FIRST else [self._rlimit]
        return {
            small: tuple(self._settings(seed, units, small_cores=small) for seed, units in enumerate(budgets))
            for small in (True, False)
        }

    def _settings(self, seed: int, units: int, *, small_cores: bool) -> z3.ParamsRef:
        out = z3.ParamsRef(self.terms.context)
        out.set("random_seed", seed)
        out.set("core.minimize", small_cores)
        out.set("arith.solver", 2)  # the plain simplex: five times faster than the default on these questions
        out.set("rlimit", units)
        out.set("timeout", WALL_MS)
        return out


class Solver:
    """An assertion stack in an engine."""

    def __init__(self, engine: Engine) -> None:
        self._api = engine.api
        self._terms = engine.terms
        # not SolverFor: its tactics cost more on these small questions than they save
        self._z3 = z3.SimpleSolver(ctx=engine.terms.context)
        self._ref = engine.terms.context.ref()
        self._attempts = engine.attempts
        self._chosen: z3.ParamsRef | None = None
        self._flags: dict[str, Formula] = {}
        self._trials: dict[str, Formula] = {}
        self._asserted: list[Formula] = []
        self._spent = self._counter()

    def _choose(self, settings: z3.ParamsRef) -> None:
        if settings is not self._chosen:
            z3core.Z3_solver_set_params(self._ref, self._z3.solver, settings.params)
            self._chosen = settings

    @property
    def rlimit(self) -> int:
        """Z3 resource units that the checks have used."""
        return self._counter() - self._spent

    def _counter(self) -> int:
        """Units used in the context so far."""
        statistics = self._z3.statistics()
        counters = statistics.keys()
        return int(statistics.get_key_value("rlimit count")) if "rlimit count" in counters else 0

    def add(self, formulas: Sequence[Formula]) -> None:
        """Asserts formulas for good."""
        self._asserted += formulas
        self._pose(formulas)

    def _pose(self, formulas: Sequence[Formula]) -> None:
        for f in formulas:
            if not self._api.is_true(f):
                z3core.Z3_solver_assert(self._ref, self._z3.solver, self._terms.formula(f))

    def assume(self, name: str, formula: Formula) -> None:
        """Asserts a formula under a name that can appear in an unsat core."""
        flag = self._api.flag(f"assume.{name}")
        self._flags[name] = flag
        self.add([self._api.implies(flag, formula)])

    def bound(self, name: str, formula: Formula) -> None:
        """As `assume`, for a formula that is only on trial: it counts in the checks that name it."""
        if name not in self._trials:
            self._trials[name] = self._api.flag(f"try.{name}")
            self._pose([self._api.implies(self._trials[name], formula)])

    def check(self, extra: Sequence[Formula] = (), trial: str | None = None, *, small_core: bool = True) -> Result:
        """Decides the asserted formulas, the named assumptions, `extra`, and the formula on trial. Without `small_core`
        an unsat core may name more than it takes, which costs less."""
        if extra:
            z3core.Z3_solver_push(self._ref, self._z3.solver)
            self._pose(extra)
        result: Result = Unknown("no attempt")
        for settings in self._attempts[small_core]:
            self._choose(settings)
            result = self._decide({trial: self._trials[trial]} if trial is not None else {})
            if not isinstance(result, Unknown):
                break
        if extra:
            z3core.Z3_solver_pop(self._ref, self._z3.solver, 1)
        return result

    def _decide(self, trial: Mapping[str, Formula]) -> Result:
        assumed = {name: self._terms.formula(f) for name, f in (*self._flags.items(), *trial.items())}
        array = (z3.Ast * len(assumed))(*assumed.values())
        answer = z3core.Z3_solver_check_assumptions(self._ref, self._z3.solver, len(array), array)
        if answer == z3.unsat.r:
            core = {c.get_id() for c in self._z3.unsat_core()} if assumed else set()
            ids = {name: z3core.Z3_get_ast_id(self._ref, ast) for name, ast in assumed.items()}
            return Unsat(frozenset(name for name, ident in ids.items() if ident in core))
        if answer == z3.sat.r:
            return Sat(dict(self._terms.integers(self._z3.model().model)))
        return Unknown(self._z3.reason_unknown())

    def script(self) -> Script:
        """Everything asserted, the named assumptions included."""
        return Script((*self._asserted, *self._flags.values()))


def version() -> str:
    """Name and version of the solver."""
    return f"z3 {z3.get_version_string()}"
