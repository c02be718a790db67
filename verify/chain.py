"""Lifted chains: a concrete path made symbolic, and the formula that says when it orders two instances.

Each intermediate event becomes "the event of that statement in the iteration of x (or y) plus delta, or the first, or
the last"; the formula says that those iterations exist and that every edge holds. A chain is only ever a sufficient
reason, so lifting may guess: `verify.ordering` asks the solver whether the chains found so far cover everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.instr import Group
from exogpu.smt.index import to_poly
from exogpu.smt.poly import Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify import skipped
from exogpu.verify.axioms import in_order
from exogpu.verify.flat import Laps
from exogpu.verify.graph import Edge
from exogpu.verify.instance import LANE, WARP_OF_UNIT, Instance, Model, Span
from exogpu.verify.landing import landed
from exogpu.verify.needs import FenceKind, Needs, Side, covers_cluster
from exogpu.verify.nth import executions, nth
from exogpu.verify.ordinal import NoClosedForm
from exogpu.verify.phases import Phases
from exogpu.verify.pipeline import of_one_shape, tile
from exogpu.verify.program import (
    TASK,
    ArriveAction,
    AwaitAction,
    Event,
    Exec,
    InGroup,
    Loop,
    TxOn,
    WaitAction,
)


@dataclass(frozen=True, slots=True)
class Near:
    """The iteration of the anchor ("x" or "y") plus `delta`: of the same loop, or of its loop over `var`."""

    anchor: str
    delta: int
    var: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Of the iterations that unknown numbers let pass, the `distance`-th after the anchor's (before, if negative)."""

    anchor: str
    distance: int
    var: str


@dataclass(frozen=True, slots=True)
class Flat:
    """Of `mine`, nested loops counted as one, the iteration `distance` after the place of the anchor in its own."""

    anchor: str
    distance: int
    theirs: Laps
    mine: Laps


@dataclass(frozen=True, slots=True)
class First:
    """The first iteration plus `delta`."""

    delta: int


@dataclass(frozen=True, slots=True)
class Last:
    """The last iteration minus `delta`."""

    delta: int


@dataclass(frozen=True, slots=True)
class ThreadOf:
    """The iteration of a thread loop that the anchor's thread is in."""

    anchor: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A literal iteration of a thread loop."""

    value: int


@dataclass(frozen=True, slots=True)
class CtaOf:
    """The CTA of the anchor's thread."""

    anchor: str


@dataclass(frozen=True, slots=True)
class Meant:
    """The CTA on whose barrier the anchor completes or arrives."""

    anchor: str


Where = Near | Skipped | Flat | First | Last | ThreadOf | Fixed | CtaOf | Meant


@dataclass(frozen=True, slots=True)
class Link:
    """An intermediate event of a chain: iteration per loop, and its lane (an anchor's thread, or an offset).

    The anchor "next" is the link after this one, where both are steps of one thread. With `counted`, an anchor and a
    distance, its iterations are those of the execution whose number is so much more than the anchor's of its own.
    """

    event: Event
    where: tuple[tuple[str, Where], ...]
    lane: str | int
    counted: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class LiftedChain:
    """Links from x to y, the kinds of the edges between consecutive links, and the axioms that those may use."""

    links: tuple[Link, ...]
    edges: tuple[Edge, ...]
    axioms: frozenset[str]


# -- formulas ----------------------------------------------------------------------------------------------------------


class ChainFormula:
    """Builds the formula "this chain orders x before y"."""

    def __init__(self, model: Model, phases: Phases, x: Instance, y: Instance, needs: Needs) -> None:
        self.model = model
        self.ctx = model.ctx
        self.phases = phases
        self.x = x
        self.y = y
        self.needs = needs

    def formula(self, chain: LiftedChain) -> Formula:
        """The chain's events exist and all its edges hold by the axioms that it may use."""
        if not self.needs.temporal and any(link.event.exec is Exec.WARPS for link in chain.links):
            # a warp-collective operation joins its lanes in time but publishes nothing between them
            return self.ctx.api.literal(False)
        try:
            nodes = self._instances(chain.links)
        except (KeyError, NoClosedForm):
            # a guard or bound tests the coordinates of a task that is neither x's nor y's, or has no number
            return self.ctx.api.literal(False)
        parts: list[Formula] = [n.domain for n in nodes]
        if not nodes:
            return self.direct()
        parts.append(self._admissible(nodes, chain.axioms))
        parts.append(self._from_source(nodes[0], chain.axioms))
        for (a, b), edge in zip(pairwise(nodes), chain.edges, strict=True):
            parts.append(self._edge(edge, a, b, chain.axioms))
        parts.append(self._program_order(nodes[-1], self.y))
        return self.ctx.api.conj(parts)

    def direct(self) -> Formula:
        """x and y share a thread and x comes first: in-order x, or two operations of one wgmma pipeline."""
        x, y = self.x, self.y
        parts = [self._program_order(x, y)]
        if of_one_shape(x.event, y.event) and not self.needs.apart:
            tiles = ([to_poly(self.ctx, lo, i.env) for lo in tile(i.event)] for i in (x, y))
            parts += [self.ctx.eq(p, q) for p, q in zip(*tiles, strict=True)]
        elif x.event.completion is not None or self.needs.fence is not None or self.needs.woken:
            return self.ctx.api.literal(False)
        return self.ctx.api.conj(parts)

    def _admissible(self, nodes: list[Instance], allowed: frozenset[str]) -> Formula:
        """What every chain here relies on is allowed, and the fences stand where they have to."""
        if not self.needs.axioms <= allowed:
            return self.ctx.api.literal(False)
        parts: list[Formula] = []
        if self.needs.both_async and "L4" not in allowed:
            parts.append(self.ctx.eq(self.phases.own_cta(self.x), self.phases.own_cta(self.y)))
        kind = self.needs.fence
        fences = [n for n in nodes if kind is not None and kind.made_by(n.event.action)]
        parts += [self.ctx.api.disj(self._fences(n, side) for n in fences) for side in self.needs.sides(allowed)]
        return self.ctx.api.conj(parts)

    def _fences(self, node: Instance, side: Side) -> Formula:
        """The fence is executed there, and covers the memory or the registers."""
        ctx = self.ctx
        if self.needs.fence is FenceKind.REGISTER:
            return self.model.same_thread(node.threads, self.y.threads)
        here = self.phases.own_cta(node)
        match side:
            case Side.SOURCE:
                parts = [self.model.same_thread(self.x.threads, node.threads)]
            case Side.TARGET:
                parts = [ctx.eq(here, self.phases.own_cta(self.y))]
        if self.needs.home is not None and not covers_cluster(node.event.action):
            parts.append(ctx.eq(here, to_poly(ctx, self.needs.home, self.y.env)))
        return ctx.api.conj(parts)

    def _from_source(self, node: Instance, allowed: frozenset[str]) -> Formula:
        x = self.x
        match x.event.completion:
            case None if self.needs.woken:
                return self._wakes(x, node)
            case None:
                wakes = [self._signal(x, node, allowed)] if _same_barrier(x.event, node.event) else []
                return self.ctx.api.disj((self._program_order(x, node), *wakes))
            case InGroup(Group.COPY) if isinstance(node.event.action, AwaitAction):
                seen = self.needs.acquired(node.event.action)
                return landed(self.phases, x, node) if seen else self.ctx.api.literal(False)
            case InGroup() if FenceKind.REGISTER.made_by(node.event.action):
                fences = "F1" in allowed and self.needs.between_wgmmas(x.event)
                return self._program_order(x, node) if fences else self.ctx.api.literal(False)
            case InGroup():
                return self._group_wait(x, node, allowed)
            case TxOn():
                return self._completion(x, node)

    def _edge(self, edge: Edge, a: Instance, b: Instance, allowed: frozenset[str]) -> Formula:
        match edge:
            case Edge.SIGNAL:
                return self._signal(a, b, allowed)
            case Edge.COMPLETION if edge_axiom(a.event) not in allowed:
                return self.ctx.api.literal(False)
            case Edge.COMPLETION if isinstance(a.event.completion, InGroup):
                return self._group_wait(a, b, allowed)
            case Edge.COMPLETION:
                return self._completion(a, b)
            case Edge.PROGRAM_ORDER:
                return self._program_order(a, b)

    def _group_wait(self, a: Instance, b: Instance, allowed: frozenset[str]) -> Formula:
        """The wait returns only when a's group is done: in a's own thread, with L12 anywhere in its warpgroup."""
        wait = b.event.action
        if not isinstance(wait, WaitAction):
            return self.ctx.api.literal(False)
        done = self.ctx.le(self.phases.group(a) + (1 + wait.pending), self.phases.group(b, a.event))
        who = a.threads
        if wait.group is Group.WGMMA and "L12" in allowed:
            cta = self.phases.own_cta(a) * self.model.program.threads
            who = Span(cta + self.ctx.floordiv(who.first - cta, WARPGROUP) * WARPGROUP, WARPGROUP)
        return self.ctx.api.conj((done, self.model.same_thread(who, b.threads), self.model.before(a, b)))

    def _completion(self, a: Instance, b: Instance) -> Formula:
        """The await returns only when the copy is done: it waits for its phase, or a later one of the same mbarrier."""
        wait = b.event.action
        if not isinstance(a.event.completion, TxOn) or not isinstance(wait, AwaitAction):
            return self.ctx.api.literal(False)
        if not self.needs.acquired(wait):
            return self.ctx.api.literal(False)
        return self.ctx.api.conj((self.phases.same_cta(a, b), self.phases.ends_after(a, b, a.event.completion.barrier)))

    def _wakes(self, a: Instance, b: Instance) -> Formula:
        """The await returns only when the arrive itself has been performed."""
        if not isinstance(a.event.action, ArriveAction) or not _same_barrier(a.event, b.event):
            return self.ctx.api.literal(False)
        return self.ctx.api.conj((self.phases.same_cta(a, b), self.phases.ends_after(a, b, a.event.action.barrier)))

    def _signal(self, a: Instance, b: Instance, allowed: frozenset[str]) -> Formula:
        signal, wait = a.event.action, b.event.action
        if not isinstance(signal, ArriveAction) or not self.needs.through(signal, allowed):
            return self.ctx.api.literal(False)
        if not isinstance(wait, AwaitAction) or not self.needs.heard(wait, signal, allowed, abroad=False):
            return self.ctx.api.literal(False)
        parts = [self.phases.same_cta(a, b), self._reaches(a, b, signal, allowed)]
        if not self.needs.heard(wait, signal, allowed, abroad=True):
            parts.append(self.ctx.eq(self.phases.own_cta(a), self.phases.own_cta(b)))
        return self.ctx.api.conj(parts)

    def _reaches(self, a: Instance, b: Instance, signal: ArriveAction, allowed: frozenset[str]) -> Formula:
        """The awaited phase ends after the arrive, or after a later one of its thread that hands on as much: such a
        thread arrives for every phase."""
        each = self.phases.one_each(a.event, signal.barrier)
        if each and all(self.needs.through(later, allowed) and later.local <= signal.local for later in each):
            return self.ctx.le(self.phases.phase(a), self.phases.phase(b))
        return self.phases.ends_after(a, b, signal.barrier)

    def _program_order(self, a: Instance, b: Instance) -> Formula:
        return self.ctx.api.conj((self.model.same_thread(self._joined(a), self._joined(b)), self.model.before(a, b)))

    def _joined(self, a: Instance) -> Span:
        """The threads that come to the event and leave it together: in time, a whole warp if it is aligned, or those of
        its lanes that execute it."""
        if self.needs.temporal and a.event.aligned:
            if a.event.size < WARP:
                return Span(to_poly(self.ctx, a.event.first, a.env), a.event.size)
            return Span(self.ctx.floordiv(a.threads.first, WARP) * WARP, WARP)
        return a.threads

    def _instances(self, links: tuple[Link, ...]) -> list[Instance]:
        """From the last to the first, since a link may be named from the one after it."""
        anchors = {"x": self.x, "y": self.y}
        out: list[Instance] = []
        for link in reversed(links):
            anchors["next"] = self._instance(link, anchors)
            out.append(anchors["next"])
        return out[::-1]

    def _instance(self, link: Link, anchors: Mapping[str, Instance]) -> Instance:
        env: dict[str, Poly] = dict(self.model.sizes)
        loops = {loop.var: loop for loop in link.event.loops}
        for var, where in link.where:
            if isinstance(where, Skipped):
                here = anchors[where.anchor].env[where.var]
                env[var] = skipped.iteration(self.model, link.event, loops[var], here, where.distance)
                continue
            env[var] = self._iteration(loops[var], where, env, anchors)
            if var == TASK and isinstance(where, Near) and where.delta == 0:
                env.update({t.name: anchors[where.anchor].env[t.name] for t in self.model.program.tasks})
        first = to_poly(self.ctx, link.event.first, env)
        lane = anchors[link.lane].threads.first - first if isinstance(link.lane, str) else lift(link.lane)
        if link.event.exec is Exec.EACH and link.event.size > 1:
            env[LANE] = lane
        elif link.event.exec is Exec.WARPS:
            env[WARP_OF_UNIT] = self.ctx.floordiv(lane, WARP)
        if link.counted is not None:
            anchor, distance = link.counted
            wanted = executions(self.model, anchors[anchor]) + distance
            return nth(self.model, link.event, env, wanted, f"n{len(self.ctx.definitions)}")
        return self.model.at(link.event, env)

    def _iteration(self, loop: Loop, where: Where, env: Mapping[str, Poly], anchors: Mapping[str, Instance]) -> Poly:
        match where:
            case Near(anchor, delta, var):
                return anchors[anchor].env[var or loop.var] + delta
            case Skipped():
                raise TypeError("found by its count")
            case Flat(anchor, distance, theirs, mine):
                return mine.after(self.model, theirs, anchors[anchor], distance)[loop.var]
            case First(delta):
                return to_poly(self.ctx, loop.lo, env) + delta
            case Last(delta):
                return to_poly(self.ctx, loop.hi, env) - (1 + delta)
            case Fixed(value):
                return lift(value)
            case CtaOf(anchor):
                return self.phases.own_cta(anchors[anchor])
            case Meant(anchor):
                return self.phases.cta(anchors[anchor])
            case ThreadOf(anchor):
                base = to_poly(self.ctx, loop.base, env) if loop.base is not None else lift(0)
                return self.ctx.floordiv(anchors[anchor].threads.first - base, loop.unit)


def _same_barrier(a: Event, b: Event) -> bool:
    match a.action, b.action:
        case ArriveAction(sent), AwaitAction(awaited):
            return sent == awaited
        case _:
            return False


# -- axioms -----------------------------------------------------------------------------------------------------------


def axioms(chain: LiftedChain, x: Event, y: Event, needs: Needs) -> tuple[str, ...]:
    """Memory-model axioms that the chain's edges rely on."""
    used = set(needs.axioms)
    if needs.fence in (FenceKind.SHARED, FenceKind.GLOBAL) and not _fenced_by_source(chain, x, needs.fence):
        used.add("L1")
    used |= {edge_axiom(a.event) for a, edge in zip(chain.links, chain.edges, strict=False) if edge is Edge.COMPLETION}
    if isinstance(x.completion, InGroup) and x.completion.group is Group.WGMMA:
        used |= chain.axioms & {"L12"}
    if needs.between_wgmmas(x) and FenceKind.REGISTER.made_by(chain.links[0].event.action):
        used.add("F1")
    arrives = [link.event.action for link in chain.links if isinstance(link.event.action, ArriveAction)]
    if needs.abroad or (needs.overwrites and any(a.relaxed or a.local for a in arrives)):
        used |= chain.axioms & {"L4"}
    if not needs.temporal:
        used |= chain.axioms & {a.axiom for a in arrives}
    return in_order(used)


def edge_axiom(event: Event) -> str:
    """What lets the issue of an asynchronous operation precede, in time, its completion seen by another thread."""
    return "L12" if isinstance(event.completion, InGroup) else "L11"


def _fenced_by_source(chain: LiftedChain, x: Event, kind: FenceKind) -> bool:
    """The fence is executed by the thread of x, before the chain changes over to another thread."""
    if x.completion is not None and isinstance(chain.links[0].event.action, AwaitAction):
        return False  # others await that x has landed
    for link, edge in zip(chain.links, (*chain.edges, Edge.SIGNAL), strict=True):
        if kind.made_by(link.event.action):
            return True
        if edge is Edge.SIGNAL or link.event.exec is Exec.TOGETHER:
            return False
    return False
