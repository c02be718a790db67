"""One solver session about some instances of a program: assertions, small models, minimisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod

from exogpu.ir.evaluate import evaluate
from exogpu.smt.context import Context
from exogpu.smt.index import to_poly
from exogpu.smt.poly import ZERO, Poly
from exogpu.smt.script import Script
from exogpu.smt.solver import Engine, Sat, Solver, Unknown, Unsat
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Env, Occurrence, Part, Unrolling, locate
from exogpu.verify.instance import LANE, WARP_OF_UNIT, Instance, Model
from exogpu.verify.phases import Phases
from exogpu.verify.program import TASK, TASKS, Event, LoopKind, Program
from exogpu.verify.result import Query
from exogpu.verify.settled import settle
from exogpu.verify.skipped import mention
from exogpu.verify.walk import coordinates, decided

CAPS = (2, 4, 8, 16, 64)
"""Trip counts tried for a model, smallest first: small models unroll fast and read well."""

FEW = 12
"""Trip counts, all together, up to which a model is unrolled although it has products wrong: it may show a path."""

HEAVY = 2_000
"""Most formulas, lemmas and definitions included, with which a model is made smaller."""

CROWDED = 6_000
"""As many of a kernel in which coordinates of tasks decide what is counted end a search."""

Answer = Sat | Unsat | Unknown
Values = Mapping[str, int]


class Base:
    """What all sessions about one program start from: its sizes, their assumptions, and a solver engine.

    Sessions of one base share the engine, so a model may depend on the sessions before; a proof does not.
    """

    def __init__(self, program: Program) -> None:
        ctx = Context(sums=not program.sequential or bool(program.derived))
        self.model = Model(ctx, program)
        self.engine = Engine(ctx.api)
        self.facts = [self.model.assumptions, *ctx.new_facts()]


class Session:
    """Instances `x`, `y`, ... of events over one set of sizes, and what is known of them."""

    def __init__(self, program: Program, name: str, events: Mapping[str, Event]) -> None:
        self.program = program
        self.name = name
        base = program.memo.once(Base, lambda: Base(program))
        self._engine = base.engine
        self.ctx = base.model.ctx.copy()
        self.model = base.model.on(self.ctx)
        self.phases = Phases(self.model)
        either = not program.sequential  # without a sequential order each end may be the later one
        self.instances = {
            tag: self.model.fresh(event, tag, lanes=either or tag == "y") for tag, event in events.items()
        }
        self._asserted = base.facts.copy()
        self._told = 0
        self._level = 0
        self.add([i.domain for i in self.instances.values()])

    # -- assertions ----------------------------------------------------------------------------------------------

    def add(self, formulas: Sequence[Formula]) -> None:
        """Asserts formulas, and the definitions and product lemmas that they brought."""
        self._asserted += [*formulas, *self.ctx.new_facts()]

    @property
    def solver(self) -> Solver:
        """The solver, told everything; it is made only if somebody asks, since many questions fold to an answer."""
        solver = self._lazy_solver
        solver.add(self._asserted[self._told :])
        self._told = len(self._asserted)
        return solver

    @cached_property
    def _lazy_solver(self) -> Solver:
        return Solver(self._engine)

    @property
    def folded(self) -> bool:
        """Some asserted formula is plainly false."""
        return any(self.ctx.api.is_false(f) for f in self._asserted)

    def assume(self, name: str, formula: Formula) -> None:
        """Asserts a formula that an unsat core may name."""
        self.add([])  # the formula may have brought definitions
        self.solver.assume(name, formula)

    @property
    def heavy(self) -> bool:
        """So much is asserted that each of the many questions for a smaller model takes seconds."""
        return len(self._asserted) > HEAVY

    @property
    def crowded(self) -> bool:
        """So many places of the CTA's walk are mentioned that a question may take minutes."""
        return len(self._asserted) > CROWDED and bool(coordinates(self.program))

    def refine(self, values: Values) -> bool:
        """Adds facts on products and counts for a model that only their abstraction allows; False if none is new."""
        mentioned = [mention(self.model, x) for x in self.instances.values()]
        settled = settle(self.model, self.sizes(values)[TASKS])
        if not self.ctx.exact_products(values) and not any(mentioned) and not settled:
            return False
        self.add([])
        return True

    def far_fetched(self, values: Values) -> bool:
        """A model of many iterations that has products wrong: it says little, and costs much to unroll."""
        known = Valuation(values)
        large = sum(t.value(known) for t in self._trips) > FEW
        return large and not self.ctx.products_hold(values)

    # -- models --------------------------------------------------------------------------------------------------

    def check(self) -> Answer:
        """Decides; a model has the smallest trip counts of a coarse scale."""
        self.add([])
        if self.folded:
            return Unsat(frozenset())
        while True:
            answer = self._smallest()
            # the product abstraction can allow more tasks than the grid has
            if not isinstance(answer, Sat) or self._fits_grid(answer.model) or not self.refine(answer.model):
                return answer

    def _smallest(self) -> Answer:
        """Climbs the scale from where the last model was; a proof that does not use the cap is a proof."""
        unbounded: Answer | None = None
        for level in range(self._level, len(CAPS)):
            answer = self._capped(level)
            if isinstance(answer, Sat):
                self._level = level
                return answer
            if isinstance(answer, Unsat) and _cap(level) not in answer.core:
                return answer
            if unbounded is None:
                unbounded = self.solver.check(small_core=self.program.sequential)
                if not isinstance(unbounded, Sat):
                    return unbounded
        return self.solver.check() if unbounded is None else unbounded

    def _capped(self, level: int) -> Answer:
        """Decides with all trip counts at most `CAPS[level]`, and only one of them near that."""
        solver, cap = self.solver, CAPS[level]
        total = sum(self._trips, ZERO)
        each = [self.ctx.le(t, cap) for t in self._trips]
        solver.bound(_cap(level), self.ctx.api.conj((*each, self.ctx.le(total, cap + 2 * len(each) - 2))))
        return solver.check(trial=_cap(level), small_core=self.program.sequential)

    def _fits_grid(self, values: Values) -> bool:
        sizes = self.sizes(values)
        grid = prod(max(0, evaluate(t.hi, sizes) - evaluate(t.lo, sizes)) for t in self.program.tasks)
        return sizes[TASKS] <= grid

    def minimise(self, values: Values) -> Values:
        """A model that is minimal in tasks, then trip counts, sizes, and instance variables, in this order."""
        pinned: list[Formula] = []
        best = values
        for quantity in (*self._trips, *self._sizes(), *self._variables()):
            best = self._lower(quantity, pinned, best)
            pinned.append(self.ctx.le(quantity, quantity.value(Valuation(best))))
        if self._fits_grid(best):
            return best
        return self.minimise(values) if self.refine(best) else values

    def _lower(self, quantity: Poly, pinned: list[Formula], best: Values) -> Values:
        high = quantity.value(Valuation(best))
        low = 0
        while low < high:
            middle = (low + high) // 2
            trial = self.solver.check([*pinned, self.ctx.le(quantity, middle)], small_core=False)
            if isinstance(trial, Sat):
                best = trial.model
                high = quantity.value(Valuation(best))
            else:
                low = middle + 1
        return best

    @cached_property
    def _trips(self) -> list[Poly]:
        out = [self.model.sizes[TASKS]]
        seen: set[str] = set()
        for event in self.program.events:
            for loop in event.loops:
                if loop.kind is not LoopKind.SEQ or loop.var in seen:
                    continue
                seen.add(loop.var)
                try:
                    out.append(
                        to_poly(self.ctx, loop.hi, self.model.sizes) - to_poly(self.ctx, loop.lo, self.model.sizes)
                    )
                except KeyError:
                    continue  # bounds over other loop variables: not one quantity to keep small
        return [t for t in out if t.constant is None]

    def _sizes(self) -> list[Poly]:
        return [self.model.sizes[s] for s in self.program.sizes]

    def _variables(self) -> list[Poly]:
        out: list[Poly] = []
        for instance in self.instances.values():
            names = [loop.var for loop in instance.event.loops]
            names += [t.name for t in self.program.tasks]
            names += [LANE, WARP_OF_UNIT]
            out += [instance.env[n] for n in names if n in instance.env]
        return out

    # -- concrete side -------------------------------------------------------------------------------------------

    def concrete(self, tag: str, values: Values) -> Occurrence:
        """The instance `tag` in a model."""
        return locate(self.instances[tag].event, self._env(self.instances[tag], values))

    def sizes(self, values: Values) -> Env:
        """Size arguments, the CTA's task count and unknown numbers in a model."""
        known = Valuation(values)
        return {name: p.value(known) for name, p in self.model.sizes.items()} | self.ctx.functions.table(known)

    def unroll(self, values: Values, ctas: frozenset[int] | None = None) -> Unrolling:
        """The program at a model's sizes; with `ctas`, only the part of these that paths between the instances take."""
        part = Part(frozenset(i.event.id for i in self.instances.values()), ctas) if ctas is not None else None
        return Unrolling(self.program, self.sizes(values), self.tasks(values), part)

    def tasks(self, values: Values) -> dict[int, Env]:
        """The coordinates of those tasks of the walk that a model decides, by their places in it."""
        out: dict[int, Env] = {}
        for instance in self.instances.values():
            env = self._env(instance, values)
            if TASK in env:
                out[env[TASK]] = {t.name: env[t.name] for t in self.program.tasks}
        return decided(self.program, self.sizes(values), out)

    def _env(self, instance: Instance, values: Values) -> dict[str, int]:
        return {name: p.value(Valuation(values)) for name, p in instance.env.items()}

    def record(self, answer: str) -> Query:
        """The query as it stands, for the certificate."""
        if self.folded:
            return Query(self.name, answer, 0, Script(tuple(self._asserted)), self._named())
        return Query(self.name, answer, self.solver.rlimit, self.solver.script(), self._named())

    def _named(self) -> tuple[str, ...]:
        """The quantities that the query is about, as a reader knows them."""
        out = [*self.program.sizes, "number of tasks"]
        for tag, instance in self.instances.items():
            for name, value in instance.env.items():
                if name not in self.model.sizes and value.constant is None:
                    known = "CTA" if name.startswith("cta.") else name.lstrip("$")
                    out.append(f"{known} of {tag}")
        return tuple(out)


def _cap(level: int) -> str:
    return f"cap{CAPS[level]}"


class Valuation(dict[str, int]):
    """A model; a symbol that the solver left out may have any value, so 0."""

    def __missing__(self, name: str) -> int:
        return 0
