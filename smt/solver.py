"""The narrow interface to Z3: incremental checks with named assumptions, models, cores and a deterministic budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import z3
from pysmt.solvers.z3 import Z3Converter

from exogpu.smt.pysmt_api import Formula, TermApi
from exogpu.smt.script import Script

RLIMIT = 20_000_000
"""Z3 resource units per check: the budget that decides UNKNOWN, repeatable on every machine."""
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


class Solver:
    """An assertion stack over one `TermApi`."""

    def __init__(self, api: TermApi) -> None:
        self._api = api
        # a context of its own: in a shared one, models depend on what was solved before
        context = z3.Context()
        self._z3 = z3.SolverFor("QF_LIA", ctx=context)
        self._z3.set("random_seed", 0)
        self._z3.set("core.minimize", True)
        self._convert = Z3Converter(api.environment, context).convert
        self._z3.set("rlimit", RLIMIT)
        self._z3.set("timeout", WALL_MS)
        self._flags: dict[str, Formula] = {}
        self._asserted: list[Formula] = []
        self.rlimit = 0

    def add(self, formulas: Sequence[Formula]) -> None:
        """Asserts formulas for good."""
        self._asserted += formulas
        self._pose(formulas)

    def _pose(self, formulas: Sequence[Formula]) -> None:
        for f in formulas:
            if not self._api.is_true(f):
                self._z3.add(self._convert(f))

    def assume(self, name: str, formula: Formula) -> None:
        """Asserts a formula under a name that can appear in an unsat core."""
        flag = self._api.flag(f"assume.{name}")
        self._flags[name] = flag
        self.add([self._api.implies(flag, formula)])

    def check(self, extra: Sequence[Formula] = ()) -> Result:
        """Decides the asserted formulas, the named assumptions and `extra`."""
        convert = self._convert
        flags = {str(convert(f)): name for name, f in self._flags.items()}
        if extra:
            self._z3.push()
            self._pose(extra)
        answer = str(self._z3.check(*(convert(f) for f in self._flags.values())))
        self.rlimit = _rlimit(self._z3)  # the counter runs over all checks of the context
        result: Result
        if answer == "unsat":
            result = Unsat(frozenset(flags[str(c)] for c in self._z3.unsat_core()))
        elif answer == "sat":
            result = Sat(_integers(self._z3.model()))
        else:
            result = Unknown(self._z3.reason_unknown())
        if extra:
            self._z3.pop()
        return result

    def script(self) -> Script:
        """Everything asserted, the named assumptions included."""
        return Script(self._api, (*self._asserted, *self._flags.values()))


def version() -> str:
    """Name and version of the solver."""
    return f"z3 {z3.get_version_string()}"


def _integers(model: object) -> dict[str, int]:
    assert isinstance(model, z3.ModelRef)
    values = ((d.name(), model[d]) for d in model.decls())
    return {name: v.as_long() for name, v in values if isinstance(v, z3.IntNumRef)}


def _rlimit(solver: object) -> int:
    assert isinstance(solver, z3.Solver)
    statistics = solver.statistics()
    counters = statistics.keys()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in counters else 0
