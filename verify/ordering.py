"""Ordering for all sizes: counterexample-guided search for lifted chains.

Ask for two instances that satisfy a condition and that no chain found so far orders. If there are none, the chains
are a proof. Otherwise unroll the program at the model's sizes and look for a path: a path is lifted to new chains; no
path is a violation, made smaller and confirmed by the explicit engine.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product

from exogpu.ir.walk import index_names
from exogpu.smt.solver import Sat, Unknown, Unsat
from exogpu.smt.terms import Formula
from exogpu.verify.axioms import AVOIDABLE
from exogpu.verify.chain import ChainFormula, LiftedChain, axioms
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant, whole
from exogpu.verify.explain import describe, explain
from exogpu.verify.graph import Edge, PathNode, Search, shorten
from exogpu.verify.instance import Instance, Model
from exogpu.verify.lift import lift_path
from exogpu.verify.needs import Needs
from exogpu.verify.nest import TooLarge
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.phases import Phases
from exogpu.verify.program import TASKS, Event, InGroup, Program, TxOn
from exogpu.verify.result import Chain, Query
from exogpu.verify.session import Session, Values

PATIENCE = 6
"""Models examined before iterations are named by the number of the execution."""
ROUNDS = 60
"""Most models examined for one pair of statements."""

SMALLER = 3
"""Smaller candidates than one that is unordered that may turn out to be ordered."""

Condition = Callable[[Model, Phases, Instance, Instance], Formula]
Check = Callable[[Unrolling, Occurrence, Occurrence], bool]


@dataclass(frozen=True, slots=True)
class Goal:
    """Show: every x of `source` and y of `target` with `condition` are ordered x before y as `needs` says.

    `check` is the condition again, evaluated by the explicit engine on concrete instances. With `also`, x before y as
    that says will do as well; with `back`, y before x; with `others`, of the same source, x before the y of one of
    them. `inexact`: why the condition may hold where the check does not.
    """

    name: str
    source: Event
    target: Event
    condition: Condition
    check: Check
    needs: Needs
    back: Needs | None = None
    also: Needs | None = None
    others: tuple[Goal, ...] = ()
    inexact: str = "the encoding and the explicit engine disagree on a candidate pair"

    @property
    def ways(self) -> tuple[tuple[str, str, Needs], ...]:
        """Which end may come first, and as what."""
        ways = [("x", "y", self.needs), ("y", "x", self.back), ("x", "y", self.also)]
        ways += [("x", tag, needs) for tag, goal in self.others_by_tag.items() for needs in (goal.needs, goal.also)]
        return tuple((first, second, needs) for first, second, needs in ways if needs is not None)

    @property
    def others_by_tag(self) -> Mapping[str, Goal]:
        """The others, by what their ends are called."""
        return {f"y{n}": goal for n, goal in enumerate(self.others)}


@dataclass(frozen=True, slots=True)
class Proved:
    """Every instance is covered by a chain."""

    chains: tuple[Chain, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class Violated:
    """Two concrete instances that no path orders, confirmed by exhaustive search in the explicit engine; `minimal`: at
    the smallest sizes of a model."""

    unrolling: Unrolling
    x: Occurrence
    y: Occurrence
    minimal: bool = True


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither, with the reason; `exhausted`: the solver spent its budget, or the search its candidates."""

    reason: str
    exhausted: bool = False


@dataclass(frozen=True, slots=True)
class Impossible:
    """The condition is false by the statements' places alone: there is no such pair."""


Outcome = Proved | Violated | Undecided | Impossible


def decide(program: Program, goal: Goal) -> Outcome:
    """Proves or refutes a goal for all sizes; where the search is overtaxed, once more without what the solver has met
    before (other goals' chains, and the state in which it was left), with every candidate looked at, and executions
    counted from the start."""
    try:
        found = _ChainSearch(program, goal).run()
        if isinstance(found, Undecided) and found.exhausted:
            return _ChainSearch(replace(program), goal, thorough=True).run()
        return found
    except NoClosedForm as error:
        return Undecided(f"no closed form for an ordinal: {error}")
    except TooLarge as error:
        return Undecided(f"the candidate counterexample is too large to replay: {error}")


def _shape(goal: Goal) -> Hashable:
    """Goals that the same chains may prove: their statements stand in the same loops."""
    ends_of = (goal.source, goal.target, *(g.target for g in goal.others))
    loops = (tuple(loop.var for loop in e.loops) for e in ends_of)
    ends = (goal.source,) if goal.back is None else (goal.source, goal.target)
    return (_shape, goal.ways, *loops, *map(_completes_on, ends))


def _completes_on(event: Event) -> Hashable:
    match event.completion:
        case TxOn(barrier):
            return barrier
        case InGroup(group):
            return group
        case None:
            return None


@dataclass(frozen=True, slots=True)
class _Direction:
    """One of the two ends comes first: their tags, what the order has to do, and when a chain gives it."""

    first: str
    second: str
    needs: Needs
    formulas: ChainFormula


class _ChainSearch:
    def __init__(self, program: Program, goal: Goal, *, thorough: bool = False) -> None:
        self.goal = goal
        self.thorough = thorough
        self.targets = {"y": goal, **goal.others_by_tag}
        self.events = {"x": goal.source, **{tag: g.target for tag, g in self.targets.items()}}
        self.session = Session(program, goal.name, self.events)
        self.chains: dict[str, _Known] = {}
        self.rounds = 0
        self.smaller = 0
        x, model = self.session.instances["x"], self.session.model
        ends = [(g, self.session.instances[tag]) for tag, g in self.targets.items()]
        self.directions = tuple(_Direction(a, b, needs, self._formulas(a, b, needs)) for a, b, needs in goal.ways)
        self.conditions = [g.condition(model, self.session.phases, x, y) for g, y in ends]
        one_walk = [model.same_task(x, y) for _, y in ends]
        unordered = (self.session.ctx.api.negate(d.formulas.direct()) for d in self.directions)
        self.session.add([*one_walk, *self.conditions, *unordered])
        self.proven: list[tuple[int, LiftedChain]] = program.memo.once(_shape(goal), list)

    def _formulas(self, first: str, second: str, needs: Needs) -> ChainFormula:
        x, y = self.session.instances[first], self.session.instances[second]
        return ChainFormula(self.session.model, self.session.phases, self.session.model.whole(x), y, needs)

    def run(self) -> Outcome:
        if any(map(self.session.ctx.api.is_false, self.conditions)):
            return Impossible()
        for n, chain in self.proven:
            self._use(_Known(self.directions[n], chain))
        for self.rounds in range(ROUNDS):
            if self.session.crowded:
                return Undecided("too many cases of which tasks a CTA walks over")
            match self.session.check():
                case Unsat(core):
                    return self._proof(core)
                case Unknown(reason):
                    return Undecided(f"solver: {reason}", exhausted=True)
                case Sat(values):
                    outcome = self._examine(values)
                    if outcome is not None:
                        return outcome
        return Undecided(f"no proof and no counterexample after {ROUNDS} candidate pairs", exhausted=True)

    def _proof(self, core: frozenset[str]) -> Proved:
        used = [known for name, known in self.chains.items() if name in core]
        kept = [(self.directions.index(known.direction), known.chain) for known in used]
        self.proven += [c for c in kept if c not in self.proven]
        return Proved(tuple(map(self._told, used)), self.session.record("unsat"))

    def _told(self, known: _Known) -> Chain:
        chain, needs = known.chain, known.direction.needs
        source, target = self.events[known.direction.first], self.events[known.direction.second]
        return Chain(
            describe(chain, source, target),
            axioms(chain, source, target, needs),
            explain(self.session.program, chain, source, target, needs),
        )

    def _examine(self, values: Values) -> Outcome | None:
        """A violation, or None after new chains or product facts exclude the model."""
        if not self.thorough and self.session.far_fetched(values) and self.session.refine(values):
            return None
        try:
            return self._judge(values)
        except TooLarge:
            if self.session.refine(values):
                return None  # products of large numbers were wrong in this model
            return self._judge(self.session.minimise(values))

    def _judge(self, values: Values) -> Outcome | None:
        """Most pairs are ordered by what their own CTAs do, so a cluster is unrolled only if that finds no path."""
        ends = self._ends(values)
        for ctas in dict.fromkeys((self._concerned(ends), frozenset(range(self.session.program.cluster)))):
            unrolling = self.session.unroll(values, ctas)
            if not self._checked(unrolling, ends):
                return self._spurious(values)
            found = self._path(unrolling, ends)
            if found is not None:
                return self._learn(found, values)
        return self._violation(values)

    def _violation(self, values: Values) -> Outcome | None:
        """Minimises what is unordered; a smaller candidate that is not is learnt from instead, a few times."""
        if self._other_tasks_matter(values):
            if self.session.refine(values):
                return None
            return Undecided("whether the two are ordered depends on which other tasks the CTA walks")
        self.smaller += 1
        if self.smaller <= SMALLER and not self.session.heavy:
            return self._smallest(self.session.minimise(values))
        ends = self._ends(values)
        return Violated(self.session.unroll(values), ends["x"], ends["y"], minimal=False)

    def _smallest(self, values: Values) -> Outcome | None:
        ends = self._ends(values)
        unrolling = self.session.unroll(values)
        if not self._checked(unrolling, ends):
            return self._spurious(values)
        found = self._path(unrolling, ends)
        if found is not None:
            return self._learn(found, values)
        if self._other_tasks_matter(values):
            return None if self.session.refine(values) else Undecided("which other tasks the CTA walks is open")
        return Violated(unrolling, ends["x"], ends["y"])

    def _other_tasks_matter(self, values: Values) -> bool:
        """Some synchronisation is guarded by task coordinates, and the CTA walks tasks that a model leaves open."""
        if self.session.sizes(values)[TASKS] <= len(self.session.tasks(values)):
            return False
        names = {t.name for t in self.session.program.tasks}
        acting = [e for e in self.session.program.events if e.action]
        return any(index_names(t) & names for e in acting for t in (*e.guards, e.first))

    def _spurious(self, values: Values) -> Undecided | None:
        if self.session.refine(values):
            return None
        return Undecided(self.goal.inexact)

    def _ends(self, values: Values) -> dict[str, Occurrence]:
        return {tag: self.session.concrete(tag, values) for tag in self.events}

    def _checked(self, unrolling: Unrolling, ends: Mapping[str, Occurrence]) -> bool:
        """The conditions hold in the explicit engine."""
        return all(g.check(unrolling, ends["x"], ends[tag]) for tag, g in self.targets.items())

    def _concerned(self, ends: Mapping[str, Occurrence]) -> frozenset[int]:
        """The CTAs that execute the ends, and those whose barriers they mean."""
        program = self.session.program
        return frozenset(cta for o in ends.values() for cta in (o.first // program.threads, cta_meant(program, o)))

    def _learn(self, found: _Found, values: Values) -> Undecided | None:
        search, x, y = found.search, found.search.source, found.search.target
        path = shorten(search, found.path, y) if found.path else []
        # names by distance are easier for the solver; where they do not settle it soon, executions are counted, or
        # iterations of nested loops as those of one
        sizes = search.u.sizes if self.thorough or self.rounds > PATIENCE else None
        edges = [search.edge(a, b) or Edge.PROGRAM_ORDER for a, b in pairwise(path)]
        for lifted in lift_path(self.session.program, x, y, path, edges, search.axioms, sizes):
            new = [k for c in lifted if (k := _Known(found.direction, c)) not in self.chains.values()]
            if len(new) < len(lifted) and self.session.refine(values):
                return None  # a known chain orders the two, but the model has products wrong
            for known in new:
                self._use(known)
            if new:
                return None
        return Undecided(f"no chain explains why {x.event.label} precedes {y.event.label} in one case")

    def _use(self, known: _Known) -> None:
        """Excludes the pairs that a chain orders."""
        name = f"chain{len(self.chains)}"
        self.chains[name] = known
        self.session.assume(name, self.session.ctx.api.negate(known.direction.formulas.formula(known.chain)))

    def _path(self, unrolling: Unrolling, ends: Mapping[str, Occurrence]) -> _Found | None:
        """A path, if there is one, rather one without avoidable axioms (L1 concerns pairs that need a fence only)."""
        in_force = self.session.program.axioms
        attempts = [(True, False), (False, False), (False, True)]
        complete = len(unrolling.ctas) == self.session.program.cluster
        tried: set[tuple[_Direction, frozenset[str], bool]] = set()
        for (frugal, everybody), direction in product(attempts if complete else attempts[:1], self.directions):
            x, y, needs = whole(ends[direction.first]), ends[direction.second], direction.needs
            avoided = AVOIDABLE if needs.fence is not None else AVOIDABLE - {"L1"}
            allowed = in_force - avoided if frugal else in_force
            if (direction, allowed, everybody) in tried:
                continue
            tried.add((direction, allowed, everybody))
            search = Search(unrolling, x, needs, everybody=everybody, axioms=allowed)
            path = search.path_to(y)
            if path is not None:
                return _Found(direction, path, search)
        return None


@dataclass(frozen=True, slots=True)
class _Known:
    """A chain in one direction."""

    direction: _Direction
    chain: LiftedChain


@dataclass(frozen=True, slots=True)
class _Found:
    """A path of the explicit engine in one direction, and the search that found it."""

    direction: _Direction
    path: list[PathNode]
    search: Search
