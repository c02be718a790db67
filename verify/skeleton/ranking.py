"""Ranks of the waits and signals of a skeleton: their forms, what they have to satisfy, and a choice that does.

A rank compares like a place: a number for every statement among its siblings, plus the iteration, level by level. The
numbers of different roles are free, and CTAs and warpgroups may take turns. The outer levels of a role may be *flat*:
they are one number then, in which an iteration counts as much as all those of the loops in it, and which sizes shift.
So what stands before or behind a loop of one role can keep step with an iteration of another's.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.linear import literal
from exogpu.smt.context import Context
from exogpu.smt.poly import Poly, lift, symbol
from exogpu.smt.solver import Engine, Sat, Solver
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence
from exogpu.verify.flat import laps, multiple
from exogpu.verify.instance import Instance, Model
from exogpu.verify.ordinal import thread_guards
from exogpu.verify.phases import Phases, executors
from exogpu.verify.program import AwaitAction, Event, FenceAction, Loop, LoopKind, MeetAction, Program
from exogpu.verify.session import Valuation
from exogpu.verify.single import Property
from exogpu.verify.skeleton.leaving import joined_before

ITERATION = 1000
"""What an iteration is worth; statements of one body lie closer together."""
FARTHEST = 24 * ITERATION
TURN = ITERATION // 8
"""What a CTA or a warpgroup is worth, at most: there are no more than 8 of one in the other."""
MOST_SHIFT = 2
"""How many iterations a unit of a size is worth, at most."""

Item = tuple[str | int, ...]
"""A statement or a loop that contains some: its role, then the positions down to it."""
Place = tuple[int, int]
"""A CTA, and a warpgroup in it."""
Flat = Mapping[str, int]
"""How many loops deep each role is flat."""
Pace = Mapping[Item, int]
"""Outermost loops of which an iteration is worth several: those of a role that does every other tile."""


class Why(enum.Enum):
    """Why executions come one before the other: which those are."""

    COMPLETES = "a signal to a barrier is for the phase that is waited for"
    ENDS = "a thread ends that has not joined the generation that is waited for"
    GIVES_BACK = "registers are given back in the CTA of a warp that waits for more"


@dataclass(frozen=True, slots=True)
class Ordered:
    """Two events of which executions have growing ranks, as one comes before the other."""

    earlier: Event
    later: Event
    why: Why


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a rank: an item, and the loops of which iterations count in it, each with what one is worth."""

    item: Item
    loops: tuple[tuple[Loop, int], ...] = ()


@dataclass
class Ranking:
    """What the numbers of all items have to satisfy, and numbers that do as far as is known."""

    program: Program
    ordered: tuple[Ordered, ...]
    flat: Flat
    pace: Pace
    ctx: Context = field(default_factory=Context)
    facts: list[Formula] = field(default_factory=list)
    chosen: Valuation = field(default_factory=Valuation)
    solves: int = 0

    def __post_init__(self) -> None:
        for item in self.items:
            self.facts.append(self.ctx.between(-FARTHEST, number(item), FARTHEST))
            self.facts += [self.ctx.between(-TURN, w, TURN) for w in weights(item)]
            shifts = (shift(item, size) for size in self.program.sizes)
            self.facts += [self.ctx.between(-MOST_SHIFT, s, MOST_SHIFT + 1) for s in shifts]
        for parent, items in self.blocks.items():
            if len(parent) > 1 or not self._flat(parent):
                self._in_turn(parent, items)

    @cached_property
    def acting(self) -> Sequence[Event]:
        """What may wait, if only for other lanes, or be waited for."""
        waiting = AwaitAction | FenceAction | MeetAction
        found = [e for e in self.program.events if e.aligned or isinstance(e.action, waiting)]
        found += [e for pair in self.ordered for e in (pair.earlier, pair.later)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def items(self) -> Mapping[Item, frozenset[int]]:
        """Every item with the threads that execute something of it that acts."""
        out: dict[Item, frozenset[int]] = {}
        for event in self.acting:
            for item, _ in around(event):
                out[item] = out.get(item, frozenset()) | executors(self.program, event)
        return out

    @cached_property
    def loops(self) -> Mapping[Item, Loop]:
        """The items that are loops."""
        return {i: loop for e in self.program.events for i, loop in around(e) if loop is not None}

    @cached_property
    def blocks(self) -> Mapping[Item, Sequence[Item]]:
        """The items directly in each loop or role, in order."""
        out: dict[Item, list[Item]] = {}
        for item in sorted(self.items, key=lambda i: int(i[-1])):
            out.setdefault(item[:-1], []).append(item)
        return out

    # -- what follows from the text alone ------------------------------------------------------------------------

    def _flat(self, item: Item) -> bool:
        """The item is a role or a loop of which the next level is flat with its own."""
        return len(item) <= self.flat[str(item[0])] + (len(item) > 1) and (len(item) == 1 or item in self.loops)

    def _in_turn(self, parent: Item, items: Sequence[Item]) -> None:
        """Siblings come one after the other, and before the next iteration."""
        for (m, one), (n, other) in product(enumerate(items), repeat=2):
            if m == n or (m > n and len(parent) == 1):
                continue
            next_round = self.worth(parent) if m > n else 0
            for a, b in product(self._parts(one), self._parts(other)):
                for place in self._corners(self.items[a.item] & self.items[b.item]):
                    end, start = self._at(a, place, first=False), self._at(b, place, first=True)
                    self.facts.append(self.ctx.lt(end, start + next_round))

    def _parts(self, item: Item) -> Iterator[Level]:
        """The item, or all that is in it if it is flat and has iterations."""
        if not self._flat(item):
            yield Level(item)
            return
        loop = self.loops[item]
        first, end = literal(loop.lo), literal(loop.hi)
        if len(item) > 2 and first is not None and end is not None and first >= end:
            return
        for inner in self.blocks[item]:
            for part in self._parts(inner):
                yield Level(part.item, ((loop, self.worth(item)), *part.loops))

    def worth(self, item: Item) -> int:
        """What an iteration of a loop is worth."""
        inside = (i for i in self.blocks.get(item, ()) if self._flat(i))
        return max(ITERATION, sum(self._trips(i) * self.worth(i) for i in inside)) * self.pace.get(item, 1)

    def _trips(self, item: Item) -> int:
        lo, hi = literal(self.loops[item].lo), literal(self.loops[item].hi)
        assert lo is not None and hi is not None
        return max(0, hi - lo)

    def _at(self, part: Level, place: Place, *, first: bool) -> Poly:
        """The number of a part in the first or the last iteration of the flat loops that it is in."""
        out = at(part.item, place)
        for loop, worth in part.loops:
            value = literal(loop.lo if first else loop.hi)
            assert value is not None
            out = out + (value if first else value - 1) * worth
        return out

    def _corners(self, threads: frozenset[int]) -> Iterator[Place]:
        """The outermost places that some threads have."""
        places = [self._place(t) for t in threads]
        ctas, groups = ({f(place[n] for place in places) for f in (min, max)} if places else () for n in (0, 1))
        yield from product(ctas, groups)

    def _place(self, thread: int) -> Place:
        cta, inside = divmod(thread, self.program.threads)
        return cta, inside // WARPGROUP

    # -- what is shown and learnt --------------------------------------------------------------------------------

    def solve(self) -> bool:
        """Chooses numbers; False if there are none."""
        self.solves += 1
        solver = Solver(Engine(self.ctx.api))
        solver.add(self.facts)
        answer = solver.check()
        if isinstance(answer, Sat):
            self.chosen = Valuation(answer.model)
        return isinstance(answer, Sat)

    @cached_property
    def wanted(self) -> Sequence[Property]:
        """No execution that comes before another has a rank that is not less; and what is earlier in a role that is
        flat has none that is not less than that of what is later."""
        return (*(self._growing(pair) for pair in self.ordered), *self._order())

    def _growing(self, pair: Ordered) -> Property:
        def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
            x, y = xs
            return model.ctx.api.conj((*_meet(phases, pair.why, x, y), model.ctx.api.negate(self._grows(x, y, phases))))

        return Property(f"rank/{pair.earlier.id}-{pair.later.id}", (pair.earlier, pair.later), bad, None)

    def _order(self) -> Iterator[Property]:
        for role in (b for b in self.blocks if len(b) == 1 and self._flat(b)):
            for one, other in combinations(self.blocks[role], 2):
                for a, b in product(self._parts(one), self._parts(other)):
                    for x, y in product(self._whole(a.item), self._whole(b.item)):
                        if executors(self.program, x) & executors(self.program, y):
                            yield self._later(x, y)

    def _whole(self, item: Item) -> Iterator[Event]:
        """Statements of an item, by different threads or in other loops, as if executed in every iteration of these: a
        loop in the item may have none while others are executed."""
        inside = (e for e in self.acting if item in [i for i, _ in around(e)])
        found = {(executors(self.program, e), _sequential(e)): e for e in inside}
        for event in found.values():
            yield replace(event, guards=tuple(thread_guards(event)))

    def _later(self, one: Event, other: Event) -> Property:
        def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
            x, y = xs
            first, second = (next(self._rank(i, phases)) for i in xs)
            same = model.same_thread(x.threads, y.threads)
            return model.ctx.api.conj((same, model.before(x, y), model.ctx.ge(first, second)))

        return Property(f"rank/{one.id}<{other.id}", (one, other), bad, None)

    def _grows(self, x: Instance, y: Instance, phases: Phases) -> Formula:
        return _less(phases.model.ctx, [*self._rank(x, phases)], [*self._rank(y, phases)])

    def learn(self, earlier: Occurrence, later: Occurrence) -> None:
        """One execution comes before another."""
        self.facts.append(_less(self.ctx, [*self._learnt(earlier)], [*self._learnt(later)]))

    def rank_of(self, o: Occurrence) -> tuple[int, ...]:
        """The chosen rank of an execution."""
        return tuple(part.value(self.chosen) for part in self._learnt(o))

    def grows(self, earlier: Occurrence, later: Occurrence) -> bool:
        """The chosen ranks say that one execution comes before another."""
        pairs = zip(self.rank_of(earlier), self.rank_of(later), strict=False)
        return next((a < b for a, b in pairs if a != b), False)

    def _levels(self, event: Event) -> Iterator[Level]:
        """The levels of a statement's rank."""
        found = list(around(event))
        flat = min(self.flat[event.role], len(found) - 1)
        outer = [(loop, self.worth(item)) for item, loop in found[:flat] if loop is not None]
        yield Level(found[flat][0], tuple(outer))
        for (outer_item, loop), (item, _) in zip(found[flat:], found[flat + 1 :], strict=False):
            assert loop is not None
            yield Level(item, ((loop, ITERATION * self.pace.get(outer_item, 1)),))

    def _learnt(self, o: Occurrence) -> Iterator[Poly]:
        place = self._place(o.first)
        for n, level in enumerate(self._levels(o.event)):
            found = at(level.item, place) + sum(o.env[loop.var] * worth for loop, worth in level.loops)
            for size in self.program.sizes if n == 0 and self.flat[o.event.role] else ():
                found = found + shift(level.item, size) * (ITERATION * o.env[size])
            yield found

    def _rank(self, x: Instance, phases: Phases) -> Iterator[Poly]:
        cta, group = phases.own_cta(x), self._group(x, phases)
        for n, level in enumerate(self._levels(x.event)):
            chosen, of_cta, of_group = (p.value(self.chosen) for p in (number(level.item), *weights(level.item)))
            found = cta * of_cta + group * of_group + chosen
            for loop, worth in level.loops:
                found = found + x[loop.var] * worth
            for size in self.program.sizes if n == 0 and self.flat[x.event.role] else ():
                found = found + x[size] * (ITERATION * shift(level.item, size).value(self.chosen))
            yield found

    def _group(self, x: Instance, phases: Phases) -> Poly:
        """The warpgroup of the instance's threads in their CTA."""
        found = {self._place(t)[1] for t in executors(self.program, x.event)}
        if len(found) == 1:
            return lift(found.pop())
        here = x.threads.first - phases.own_cta(x) * self.program.threads
        return phases.model.ctx.floordiv(here, WARPGROUP)


def forms(program: Program) -> Iterator[tuple[Flat, Pace]]:
    """Ranks that are tried: none flat, all roles one loop deep, all as deep as inner loops have literal bounds; with
    iterations that are worth more where they take longer, and with all alike."""
    deepest = dict.fromkeys((e.role for e in program.events), 1)
    limits: dict[str, int] = {}
    for event in program.events:
        loops = [loop for _, loop in around(event) if loop is not None]
        symbolic = (n for n, loop in enumerate(loops) if n and None in (literal(loop.lo), literal(loop.hi)))
        deepest[event.role] = max(deepest[event.role], len(loops))
        limits[event.role] = min(next(symbolic, len(program.events)), limits.get(event.role, len(program.events)))
    most = {role: min(depth, limits[role]) for role, depth in deepest.items()}
    tried = (dict.fromkeys(most, 0), dict.fromkeys(most, 1), most)
    flat = [form for n, form in enumerate(tried) if form not in tried[:n]]
    found = paces(program)
    yield from product(flat, ((found, {}) if found else ({},)))


def paces(program: Program) -> Pace:
    """How many times as long as in the quickest role an iteration of each outermost loop takes, in steps of the loops
    in it, if that does not depend on sizes."""
    model = Model(Context(sums=True), program)
    lengths: dict[Item, Poly] = {}
    for event in program.events:
        found = laps(program, event)
        if found is not None and found.loops:
            lengths[(event.role, event.path[0].position)] = found.length(model)
    for unit in lengths.values():
        times = {item: multiple(length, unit) for item, length in lengths.items()}
        if all(times.values()):
            return {item: n for item, n in times.items() if n > 1}
    return {}


def number(item: Item) -> Poly:
    """The number of an item as a symbol."""
    return symbol("rank." + ".".join(map(str, item)))


def weights(item: Item) -> tuple[Poly, Poly]:
    """How much later an item is in the next CTA, and in the next warpgroup, as symbols: they may take turns."""
    name = ".".join(map(str, item))
    return symbol(f"cta.{name}"), symbol(f"group.{name}")


def shift(item: Item, size: str) -> Poly:
    """How many iterations later a role's outermost item is, and all that is flat with it, for a size that is one
    larger."""
    return symbol(f"shift.{size}." + ".".join(map(str, item[:2])))


def at(item: Item, place: Place) -> Poly:
    """The number of an item in a CTA and a warpgroup, as symbols."""
    of_cta, of_group = weights(item)
    return number(item) + of_cta * place[0] + of_group * place[1]


def around(event: Event) -> Iterator[tuple[Item, Loop | None]]:
    """The items that an event is in, outermost first: loops, and the last of them itself."""
    item: Item = (event.role,)
    for step in event.path:
        item = (*item, step.position)
        sequential = step.loop if step.loop is not None and step.loop.kind is LoopKind.SEQ else None
        yield item, sequential
        if sequential is None:
            return


def _meet(phases: Phases, why: Why, x: Instance, y: Instance) -> Iterator[Formula]:
    """Conditions under which one execution comes before another for this reason."""
    ctx = phases.model.ctx
    match why:
        case Why.COMPLETES:
            phase = phases.phase(y)
            yield from (phases.same_cta(x, y), ctx.ge(phase, 0), ctx.eq(phases.phase(x), phase))
        case Why.ENDS:
            yield ctx.eq(phases.own_cta(x), phases.own_cta(y))
            yield ctx.le(joined_before(phases, x, y), phases.phase(y))
        case Why.GIVES_BACK:
            yield ctx.eq(phases.own_cta(x), phases.own_cta(y))


def _sequential(event: Event) -> tuple[Loop, ...]:
    return tuple(loop for loop in event.loops if loop.kind is LoopKind.SEQ)


def _less(ctx: Context, one: Sequence[Poly], other: Sequence[Poly]) -> Formula:
    if not one or not other:
        return ctx.api.literal(False)
    ctx.compared(other[0] - one[0] - 1)
    deeper = ctx.api.conj((ctx.eq(one[0], other[0]), _less(ctx, one[1:], other[1:])))
    return ctx.api.disj((ctx.lt(one[0], other[0]), deeper))
