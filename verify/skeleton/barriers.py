"""The barriers of a skeleton: which barrier of the parallel program a statement means.

The elements of an mbarrier array that loop variables or counters choose from are a ring: one barrier with that many
slots, whose phases go round. All others are told apart, one barrier for each. A named barrier is one for each id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Bin, Cmp, Cond, Index, Int, Var
from exogpu.ir.linear import literal
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Flags, Mbarriers, Ref
from exogpu.ir.skeleton.tree import RANK, TID, For, Skeleton, Stmt
from exogpu.ir.skeleton.walk import every_statement, walk
from exogpu.ir.stmt import Point
from exogpu.ir.terms import reduced
from exogpu.ir.walk import conjuncts, index_names, substitute_cond, substitute_index
from exogpu.source import Span
from exogpu.verify.declared import CLUSTER_BARRIER
from exogpu.verify.instance import LANE
from exogpu.verify.iterations import MOST_RESIDUES, common_period
from exogpu.verify.program import Applied, AwaitAction, Barrier, Derived, Event
from exogpu.verify.skeleton.mentions import every_ref, refs_in_loops
from exogpu.verify.skeleton.place import Place
from exogpu.verify.skeleton.rings import Rings, by_thread, element, joined, names, shown, slot
from exogpu.verify.skeleton.unsupported import NotModelled, ToldApart

NAMED = "barrier "
"""Named barriers are called so, with their ids."""
IDS = 16
"""Named barriers of a CTA (PTX ISA, bar)."""
ONE_THING = (
    "name it by a number, by `tid` or `rank`, by the variable of a loop with constant bounds or, for a named barrier, "
    "by one variable modulo a number"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A barrier that some of a statement's threads mean, its slot, and their place; `inside`: what makes it one."""

    name: str
    slot: Index
    place: Place
    inside: tuple[Cond, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """What a signal stores in a flag or adds to it, or a wait waits for."""

    index: Index
    adds: bool = False


OWN_VALUE = "let one thread signal or spin for all, with a barrier between it and the others"


@dataclass
class Signals:
    """The barriers that statements have named so far, and what belongs to each."""

    skeleton: Skeleton
    barriers: dict[str, Barrier] = field(default_factory=dict)
    slots: dict[int, Index] = field(default_factory=dict)
    elements: dict[str, dict[range, None]] = field(default_factory=dict)
    weights: dict[int, int] = field(default_factory=dict)
    parities: dict[int, Index] = field(default_factory=dict)
    inits: dict[str, list[Event]] = field(default_factory=dict)
    invals: dict[str, list[Event]] = field(default_factory=dict)
    values: dict[int, Value] = field(default_factory=dict)
    seen: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    derived: dict[str, Derived] = field(default_factory=dict)
    classes: Mapping[str, tuple[frozenset[int], ...]] | None = None
    rings: Rings = field(default_factory=dict)
    ring_of: dict[str, range] = field(default_factory=dict)
    """The elements of its array that an mbarrier's slots are."""

    @cached_property
    def arrays(self) -> Mapping[str, Mbarriers]:
        """The mbarrier arrays by name."""
        return {o.name: o for o in self.skeleton.objects if isinstance(o, Mbarriers)}

    @cached_property
    def flags(self) -> Mapping[str, Flags]:
        """The arrays of flags by name."""
        return {o.name: o for o in self.skeleton.objects if isinstance(o, Flags)}

    @cached_property
    def turning(self) -> frozenset[str]:
        """Arrays whose last index some statement takes from a counter or a loop of which the iterations go round."""
        refs = [r for b in self.skeleton.bodies for r in refs_in_loops(b.stmts) if r[0].name in self.arrays]
        return frozenset(r.name for r, loops in refs if r.dims and not _listed(_indices(r)[-1], loops))

    @cached_property
    def naming(self) -> frozenset[str]:
        """Variables that tell barriers or CTAs apart; ids of named barriers that go round take few values anyway."""
        out = frozenset[str]()
        for ref in every_ref(self.skeleton):
            if ref.name in self.arrays:
                fixed = _indices(ref)[: -1 if ref.name in self.turning else None]
                out = out.union(*(index_names(e) for e in fixed))
            if ref.name in self.flags:
                out = out.union(*(index_names(e) for e in _indices(ref)))
            if ref.cta is not None:
                out |= index_names(ref.cta)
        for stmt in every_statement(self.skeleton):
            if isinstance(stmt, op.TmaLoad):
                out = out.union(*(index_names(c) for c in stmt.multicast or ()))
            if isinstance(stmt, op.BarSync) and not _few(stmt.id):
                out |= index_names(stmt.id)
        return out - {TID, RANK}

    @cached_property
    def ending(self) -> frozenset[str]:
        """mbarrier arrays that a statement invalidates."""
        return frozenset(s.barrier.name for s in every_statement(self.skeleton) if isinstance(s, op.Inval))

    @cached_property
    def successive(self) -> frozenset[str]:
        """mbarrier arrays that lie where others lie at other times."""
        found = self.arrays.values()
        return frozenset(a.name for a in found for b in found if a is not b and a.in_common(b))

    # -- mbarriers -----------------------------------------------------------------------------------------------

    def parts(self, ref: Ref, place: Place, read: Callable[[Index], Index]) -> Iterator[Part]:
        """The barriers that the threads of a place mean by a reference; threads that mean different slots are told
        apart."""
        array = self.arrays[ref.name]
        shape = array.shape or (1,)
        indices = tuple(read(e) for e in _indices(ref)) or (Int(0),)
        for these, piece in by_thread(indices, shape, place, self.derived):
            meant = element(these, shape, names(piece, self.derived))
            if not meant.found:
                raise NotModelled(f"`{ref.name}` has no such mbarrier", ref.span)
            self.elements.setdefault(ref.name, {})[meant.found] = None
            ring = next((r for r in self.rings.get(ref.name, ()) if set(meant.found) <= set(r)), meant.found)
            place_in_ring, fits = slot(meant.number, ring)
            name = shown(ref.name, array.shape, ring)
            self.ring_of[name] = ring
            self.barriers.setdefault(name, Barrier(name, len(ring), array.count or 0, array.span))
            piece = replace(piece, explicit=piece.explicit or TID in index_names(place_in_ring))
            yield from (Part(name, place_in_ring, p, (*meant.inside, *fits)) for p in self._apart(piece))

    def initialised(self, name: str, event: Event, count: int, span: Span) -> None:
        """A statement initialises a barrier with an arrival count."""
        barrier = self.barriers[name]
        array = self.arrays[name.partition("[")[0]]
        if array.count is not None and array.name not in self.ending:
            raise NotModelled(f"`{name}` is initialised before the roles start, and again", span)
        if barrier.count not in (0, count):
            raise NotModelled(f"`{name}` is initialised with different counts", span)
        self.barriers[name] = replace(barrier, count=count)
        self.inits.setdefault(name, []).append(event)

    def _apart(self, place: Place) -> Iterator[Place]:
        """A place as a whole or, in a second attempt, each CTA and each class of threads that signal alike."""
        seen = self.seen.setdefault(place.role.name, [])
        if place.who not in seen:
            seen.append(place.who)
        if self.classes is None:
            yield place
            return
        for cta in place.role.ctas:
            here = replace(place, role=replace(place.role, ctas=(cta,)))
            guards = [substitute_cond(g, {RANK: Int(cta), **self.of_cta(here)}) for g in place.guards]
            if any(not index_names(g) and not holds(g, {}) for g in guards):
                continue
            for group in self.classes[place.role.name]:
                who = tuple(t for t in place.who if t in group)
                if who:
                    yield replace(here, who=who, guards=tuple(guards))

    def arrived(self, name: str, event: Event, count: int) -> None:
        """An arrive statement makes `count` arrivals."""
        self.weights[event.id] = count

    def awaited(self, name: str, event: Event, parity: Index) -> None:
        """An await statement tests a parity."""
        self.parities[event.id] = parity

    def valued(self, event: Event, value: Value) -> None:
        """A signal stores a value or adds it, or a wait is for it."""
        if LANE in index_names(value.index):
            does = "spins for" if isinstance(event.action, AwaitAction) else "signals"
            raise ToldApart(f"each thread {does} a value of its own", event.span, OWN_VALUE)
        self.values[event.id] = value

    # -- others --------------------------------------------------------------------------------------------------

    def named(self, number: Index, count: int | None, place: Place, span: Span) -> Iterator[Part]:
        """The named barriers that the threads of a place mean by an id."""
        bodies = self.skeleton.bodies
        totals = {sum(-(-b.role.threads // WARP) for b in bodies if c in b.role.ctas) * WARP for c in place.role.ctas}
        if count is None and len(totals) > 1:
            raise NotModelled("all threads of a CTA are more in one CTA than in another", span)
        wanted = totals.pop() if count is None else count
        for (value,), part in _told_apart((reduced(number),), place, span, small=True):
            if not 0 <= value < IDS:
                raise NotModelled(f"there is no named barrier {value}", span)
            name = f"{NAMED}{value}"
            known = self.barriers.setdefault(name, Barrier(name, 1, wanted, span, named=True, whole=count is None))
            if known.count != wanted:
                raise NotModelled(f"named barrier {value} is used for {known.count} and for {wanted} threads", span)
            self.barriers[name] = replace(known, whole=known.whole and count is None)
            self.whole_warps(part, span)
            yield from (Part(name, Int(0), piece) for piece in self._apart(part))

    def of_cta(self, place: Place) -> Mapping[str, Index]:
        """If the threads of a place are of one CTA, its own unknown numbers for those that depend on the CTA."""
        if len(place.role.ctas) > 1:
            return {}
        cta = place.role.ctas[0]
        here: dict[str, Index] = {RANK: Int(cta)}
        for name, meaning in tuple(self.derived.items()):  # what an unknown number depends on comes before it
            if isinstance(meaning, Applied) and any(index_names(a) & here.keys() for a in meaning.args):
                here[name] = Var(f"{name}@{cta}")
                args = tuple(substitute_index(a, here) for a in meaning.args)
                self.derived[f"{name}@{cta}"] = replace(meaning, args=args)
        return {name: own for name, own in here.items() if name != RANK}

    def whole_warps(self, place: Place, span: Span) -> None:
        """Barriers count warps, and some instructions are executed by warps, so all lanes come together (PTX ISA, bar,
        wgmma.wait_group)."""
        here = set(place.who)
        warps = {t // WARP for t in place.who}
        if place.explicit or any(t not in here for t in range(place.role.threads) if t // WARP in warps):
            raise ToldApart("only some threads of a warp are here", span)

    def flag(self, ref: Ref, place: Place, read: Callable[[Index], Index]) -> Iterator[Part]:
        """The flags that the threads of a place mean by a reference."""
        indices = tuple(read(e) for e in _indices(ref))
        for numbers, part in _told_apart(indices, place, ref.span):
            if not _inside(numbers, self.flags[ref.name].shape):
                raise NotModelled(f"`{ref.name}` has no flag {', '.join(map(str, numbers))}", ref.span)
            name = ref.name + "".join(f"[{n}]" for n in numbers)
            self.barriers.setdefault(name, Barrier(name, 1, 1, ref.span, flag=True))
            yield from (Part(name, Int(0), piece) for piece in self._apart(part))

    def in_one_cta(self, ref: Ref) -> None:
        """Accesses of a flag at the scope of a CTA are all made in one: others race with them (PTX ISA, morally strong
        operations)."""
        users = (b for b in self.skeleton.bodies if any(_is_on(s, ref) for s in walk(b.stmts)))
        if len({cta for b in users for cta in b.role.ctas}) > 1:
            reason = f"`{ref.name}` is accessed at the scope of a CTA, and in several CTAs"
            raise NotModelled(reason, ref.span, 'leave `scope` out: it is "gpu" then')

    def cluster(self, place: Place, span: Span) -> Iterator[Part]:
        """The cluster's own barrier."""
        self.whole_warps(place, span)
        everybody = sum(b.role.threads * len(b.role.ctas) for b in self.skeleton.bodies)
        self.barriers.setdefault(CLUSTER_BARRIER, Barrier(CLUSTER_BARRIER, 1, everybody, span, named=True, split=True))
        yield from (Part(CLUSTER_BARRIER, Int(0), piece) for piece in self._apart(place))

    def found_rings(self) -> Rings:
        """The rings of all arrays, so far as statements have named their elements."""
        return {array: joined(found) for array, found in self.elements.items()}

    def told_apart(self) -> Mapping[str, tuple[frozenset[int], ...]]:
        """Per role, the classes of threads that no statement on a barrier tells apart."""
        out: dict[str, tuple[frozenset[int], ...]] = {}
        for role, groups in self.seen.items():
            members: dict[tuple[bool, ...], set[int]] = {}
            for t in sorted({t for g in groups for t in g}):
                members.setdefault(tuple(t in g for g in groups), set()).add(t)
            out[role] = tuple(frozenset(m) for m in members.values())
        return out


def _is_on(stmt: Stmt, flag: Ref) -> bool:
    return isinstance(stmt, op.Signal | op.Spin) and stmt.flag.name == flag.name


def _indices(ref: Ref) -> tuple[Index, ...]:
    if not all(isinstance(d, Point) for d in ref.dims):
        raise NotModelled(f"a statement means several of `{ref.name}` at once", ref.span)
    return tuple(d.index for d in ref.dims if isinstance(d, Point))


def _listed(e: Index, loops: Mapping[str, For]) -> bool:
    """An index that goes through its values one by one, so that each means a barrier of its own."""
    match e:
        case Var(name) if name in loops:
            return literal(loops[name].lo) is not None and literal(loops[name].hi) is not None
        case Bin("+" | "-", left, right):
            return _listed(left, loops) and _listed(right, loops)
        case _:
            return index_names(e) <= {TID, RANK}


def _inside(numbers: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return all(0 <= n < extent for n, extent in zip(numbers, shape, strict=False))


def _told_apart(
    indices: tuple[Index, ...], place: Place, span: Span, *, small: bool = False
) -> Iterator[tuple[tuple[int, ...], Place]]:
    """The values of index expressions, each with the threads that have it; `small`: those over one loop variable take
    few values, each in some iterations."""
    if not indices:
        yield (), place
        return
    first, rest = indices[0], indices[1:]
    names = index_names(first)
    constant = literal(first)
    if constant is not None:
        choices = [(constant, place)]
    elif names == {TID}:
        values = {t: evaluate(first, {TID: t}) for t in place.who}
        groups = {v: tuple(t for t in place.who if values[t] == v) for v in sorted(set(values.values()))}
        choices = [(v, replace(place, who=who)) for v, who in groups.items()]
    elif names == {RANK}:
        wanted = sorted({evaluate(first, {RANK: c}) for c in _let_in(place)})
        choices = [(v, _where(first, v, place)) for v in wanted]
    elif small and (few := _few(first)):
        choices = [(v, _where(first, v, place)) for v in few]
    else:
        raise ToldApart("which barrier is meant depends on more than one thing", span, ONE_THING)
    for value, part in choices:
        for others, inner in _told_apart(rest, part, span, small=small):
            yield (value, *others), inner


def _let_in(place: Place) -> Iterator[int]:
    """The CTAs that the conditions of a place do not keep out."""
    on_rank = [g for guard in place.guards for g in conjuncts(guard) if index_names(g) == {RANK}]
    yield from (c for c in place.role.ctas if all(holds(g, {RANK: c}) for g in on_rank))


def _few(e: Index) -> list[int]:
    """The values of an index that goes round with one variable; empty if it does not."""
    names = index_names(e)
    period = common_period(Cmp("==", e, Int(0)), next(iter(names))) if len(names) == 1 else None
    if period is None or period > MOST_RESIDUES:
        return []
    return sorted({evaluate(e, dict.fromkeys(names, v)) for v in range(period)})


def _where(index: Index, value: int, place: Place) -> Place:
    return replace(place, guards=(*place.guards, Cmp("==", index, Int(value))))
