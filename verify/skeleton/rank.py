"""Progress: a rank of all waits and signals that grows along every thread and from every signal to the waits for it.

Take the blocked thread whose wait has the smallest rank. Something of the phase that it waits for is missing, and its
thread goes as far (`enough`), so that thread is blocked before: at a smaller rank. So nobody is blocked.

A rank compares like a place: a number for every statement among its siblings, plus the iteration, level by level. The
numbers of different roles are free, and CTAs and warpgroups may take turns; what all have to satisfy is learnt from
pairs that a choice gets wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

from exogpu.ir.collective import WARPGROUP
from exogpu.smt.context import Context
from exogpu.smt.poly import ZERO, Poly, lift, symbol
from exogpu.smt.solver import Engine, Sat, Solver
from exogpu.smt.terms import Formula
from exogpu.source import Span
from exogpu.verify.concrete import Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordering import Proved, Undecided
from exogpu.verify.phases import Phases, arrives, awaits, channels, executors
from exogpu.verify.program import AwaitAction, Barrier, Event, FenceAction, LoopKind, MeetAction, Program
from exogpu.verify.result import Obligation, Query, Status
from exogpu.verify.session import Valuation
from exogpu.verify.single import Found, Property, hold
from exogpu.verify.skeleton.flows import Flow
from exogpu.verify.skeleton.obligations import Facts, enough, joins

ITERATION = 1000
"""What an iteration is worth; statements of one body lie closer together."""
FARTHEST = 12 * ITERATION
TURN = ITERATION // 8
"""What a CTA or a warpgroup is worth, at most: there are no more than 8 of one in the other."""
ROUNDS = 40

Item = tuple[str | int, ...]
"""A statement or a loop that contains some: its role, then the positions down to it."""
Place = tuple[int, int]
"""A CTA, and a warpgroup in it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A signal, and a wait that it may complete."""

    signal: Event
    wait: Event


@dataclass
class Ranking:
    """What the numbers of all items have to satisfy, and numbers that do as far as is known."""

    program: Program
    edges: tuple[Edge, ...]
    ctx: Context = field(default_factory=Context)
    facts: list[Formula] = field(default_factory=list)
    chosen: dict[Item, tuple[int, int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        blocks: dict[Item, list[Item]] = {}
        for item in self._items():
            blocks.setdefault(item[:-1], []).append(item)
        for parent, items in blocks.items():
            self.facts += [self.ctx.between(-FARTHEST, number(i), FARTHEST) for i in items]
            self.facts += [self.ctx.between(-TURN, w, TURN) for i in items for w in weights(i)]
            for one, other in combinations(sorted(items, key=lambda i: int(i[-1])), 2):
                for place in self._corners(self._items()[one] & self._items()[other]):
                    first, second = at(one, place), at(other, place)
                    self.facts.append(self.ctx.lt(first, second))
                    if len(parent) > 1:
                        self.facts.append(self.ctx.lt(second, first + ITERATION))

    def _corners(self, threads: frozenset[int]) -> Iterator[Place]:
        """The outermost places that some threads have."""
        places = [self._place(t) for t in threads]
        ctas, groups = ({f(place[n] for place in places) for f in (min, max)} if places else () for n in (0, 1))
        yield from product(ctas, groups)

    def _place(self, thread: int) -> Place:
        cta, inside = divmod(thread, self.program.threads)
        return cta, inside // WARPGROUP

    def solve(self) -> bool:
        """Chooses numbers; False if there are none."""
        solver = Solver(Engine(self.ctx.api))
        solver.add(self.facts)
        answer = solver.check()
        if not isinstance(answer, Sat):
            return False
        values = Valuation(answer.model)
        for item in self._items():
            of_cta, of_group = (w.value(values) for w in weights(item))
            self.chosen[item] = (number(item).value(values), of_cta, of_group)
        return True

    def _items(self) -> dict[Item, frozenset[int]]:
        """Every item with the threads that execute something of it that may wait, if only for other lanes, or be waited
        for."""
        return self.program.memo.once(Ranking, self._found_items)

    def _found_items(self) -> dict[Item, frozenset[int]]:
        waiting = AwaitAction | FenceAction | MeetAction
        acting = [e for e in self.program.events if e.aligned or isinstance(e.action, waiting)]
        acting += [e for edge in self.edges for e in (edge.signal, edge.wait)]
        out: dict[Item, frozenset[int]] = {}
        for event in dict.fromkeys(acting):
            for item, _ in levels(event):
                out[item] = out.get(item, frozenset()) | executors(self.program, event)
        return out

    def learn(self, signal: Occurrence, wait: Occurrence) -> None:
        """The signal of one execution comes before the wait of another."""
        one, other = ([*self._learnt(o)] for o in (signal, wait))
        self.facts.append(_less(self.ctx, one, other))

    def _learnt(self, o: Occurrence) -> Iterator[Poly]:
        place = self._place(o.first)
        for item, v in levels(o.event):
            yield at(item, place) + (o.env[v] * ITERATION if v else 0)

    def wrong(self, edge: Edge) -> Property:
        """No signal has a rank that is not less than that of a wait which it completes."""

        def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
            signal, wait = xs
            ctx, phase = model.ctx, phases.phase(wait)
            met = ctx.api.conj((phases.same_cta(signal, wait), ctx.ge(phase, 0), ctx.eq(phases.phase(signal), phase)))
            grows = _less(ctx, [*self._rank(signal, phases)], [*self._rank(wait, phases)])
            return ctx.api.conj((met, ctx.api.negate(grows)))

        return Property(f"rank/{edge.signal.id}-{edge.wait.id}", (edge.signal, edge.wait), bad, None)

    def _rank(self, x: Instance, phases: Phases) -> Iterator[Poly]:
        cta, group = phases.own_cta(x), self._group(x, phases)
        for item, v in levels(x.event):
            chosen, of_cta, of_group = self.chosen[item]
            yield cta * of_cta + group * of_group + chosen + (x[v] * ITERATION if v else ZERO)

    def _group(self, x: Instance, phases: Phases) -> Poly:
        """The warpgroup of the instance's threads in their CTA."""
        found = {self._place(t)[1] for t in executors(self.program, x.event)}
        if len(found) == 1:
            return lift(found.pop())
        here = x.threads.first - phases.own_cta(x) * self.program.threads
        return phases.model.ctx.floordiv(here, WARPGROUP)


def number(item: Item) -> Poly:
    """The number of an item as a symbol."""
    return symbol("rank." + ".".join(map(str, item)))


def weights(item: Item) -> tuple[Poly, Poly]:
    """How much later an item is in the next CTA, and in the next warpgroup, as symbols: they may take turns."""
    name = ".".join(map(str, item))
    return symbol(f"cta.{name}"), symbol(f"group.{name}")


def at(item: Item, place: Place) -> Poly:
    """The number of an item in a CTA and a warpgroup, as symbols."""
    of_cta, of_group = weights(item)
    return number(item) + of_cta * place[0] + of_group * place[1]


def levels(event: Event) -> Iterator[tuple[Item, str | None]]:
    """The items around an event, each with the variable of the loop that it is directly in."""
    item: Item = (event.role,)
    variable: str | None = None
    for step in event.path:
        item = (*item, step.position)
        yield item, variable
        if step.loop is None or step.loop.kind is not LoopKind.SEQ:
            return
        variable = step.loop.var


def _less(ctx: Context, one: Sequence[Poly], other: Sequence[Poly]) -> Formula:
    if not one or not other:
        return ctx.api.literal(False)
    deeper = ctx.api.conj((ctx.eq(one[0], other[0]), _less(ctx, one[1:], other[1:])))
    return ctx.api.disj((ctx.lt(one[0], other[0]), deeper))


# -- the obligation ----------------------------------------------------------------------------------------------------


def progress(program: Program, facts: Facts) -> Obligation:
    """Every wait of every barrier returns."""
    title = "every thread that waits is woken"
    base = Obligation("progress", "deadlock.cycle", title, Status.PROVED, program.span)
    queries: list[Query] = []
    edges: list[Edge] = []
    for barrier in program.barriers.values():
        if barrier.flag and not facts.flows[barrier.name]:
            # that the value is stored at all is shown with the flag
            pairs = product(arrives(program, barrier.name), awaits(program, barrier.name))
            edges += (Edge(signal, wait) for signal, wait in pairs)
    for barrier, wait, flow in _waited(program, facts):
        edges += (Edge(s, wait) for s in flow.statements)
        missing = enough(barrier, flow, wait, 0)
        match hold(program, missing):
            case Proved(_, query):
                queries.append(query)
            case Undecided(reason):
                return _unknown(base, wait.span, f"the phases that line {wait.span.line} waits for: {reason}")
            case Found():
                line = flow.statements[0].span.line
                return _unknown(base, wait.span, f"line {line} is executed too rarely for line {wait.span.line}")
    return _ranked(program, base, Ranking(program, tuple(edges)), queries)


def _unknown(base: Obligation, span: Span, reason: str) -> Obligation:
    return replace(base, status=Status.UNKNOWN, span=span, reason=reason)


def _waited(program: Program, facts: Facts) -> Iterator[tuple[Barrier, Event, Flow]]:
    """Every wait with everything that makes up the phases of its barrier."""
    for barrier in program.barriers.values():
        for wait in awaits(program, barrier.name):
            meant = {cta for _, cta in channels(program, wait)}
            flows = joins(program, barrier) if barrier.named else facts.flows[barrier.name]
            yield from ((barrier, wait, f) for f in flows if f.ctas & meant)


def _ranked(program: Program, base: Obligation, ranking: Ranking, queries: list[Query]) -> Obligation:
    done: dict[Edge, Query] = {}
    for _ in range(ROUNDS):
        if not ranking.solve():
            return replace(base, status=Status.UNKNOWN, reason="no rank grows from every signal to every wait for it")
        done.clear()
        for edge in ranking.edges:
            match hold(program, ranking.wrong(edge)):
                case Proved(_, query):
                    done[edge] = query
                case Undecided(reason):
                    return _unknown(base, edge.wait.span, reason)
                case Found(_, (signal, wait)):
                    ranking.learn(signal, wait)
        if len(done) == len(ranking.edges):
            return replace(base, queries=(*queries, *done.values()))
    return replace(base, status=Status.UNKNOWN, reason=f"no rank after {ROUNDS} attempts")
