"""Memory of mbarriers: nothing else touches it as long as they exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations, product

from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Mode, Proxy
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.smt.poly import Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import FenceKind, Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases
from exogpu.verify.pieces import Piece
from exogpu.verify.program import Access, Event, Program
from exogpu.verify.races import concrete_box
from exogpu.verify.result import Obligation, Status
from exogpu.verify.single import Property
from exogpu.verify.skeleton.aliasing import one_place
from exogpu.verify.skeleton.lives import Lives, in_ctas
from exogpu.verify.skeleton.rounds import life_at, life_of, rounds
from exogpu.verify.skeleton.settle import any_of, obligation, settle, with_more

Way = list[Goal | Property]


def cells(program: Program, skeleton: Skeleton, lives: Mapping[str, Lives]) -> Iterator[Piece]:
    """The obligations of mbarriers inside shared memory."""
    arrays = [o for o in skeleton.objects if isinstance(o, Mbarriers)]
    for one, other in combinations(arrays, 2):
        if one.in_common(other):
            yield Piece(1, partial(one_place, one=one, other=other, lives=lives))
    placed = [o for o in arrays if o.overlay is not None]
    for item, event in product(placed, program.events):
        mine = tuple(found for name, found in lives.items() if name.partition("[")[0] == item.name)
        for n, access in enumerate(event.accesses):
            if access.buffer == item.overlay:
                yield Piece(1, partial(_clear, item=item, use=Use(event, access, item), n=n, lives=mine))


@dataclass(frozen=True, slots=True)
class Use:
    """An access of the object that an mbarrier array lies in."""

    event: Event
    access: Access
    item: Mbarriers

    def touches(self, model: Model, x: Instance) -> Formula:
        """It reaches from before the array's end to behind its beginning, row by row."""
        box = [(lo, lo + (extent - 1)) for lo, extent in model.box(x, self.access)]
        low, high = self._ends(model.program, box)
        found = self.item.cells
        return model.ctx.api.conj((model.ctx.lt(low, found.stop), model.ctx.le(found.start, high)))

    def touches_at(self, program: Program, x: Occurrence) -> bool:
        """The same at concrete sizes."""
        box = [(lift(dim.start), lift(dim.stop - 1)) for dim in concrete_box(x, self.access)]
        low, high = (end.value({}) for end in self._ends(program, box))
        found = self.item.cells
        return low < found.stop and found.start <= high

    def _ends(self, program: Program, box: list[tuple[Poly, Poly]]) -> tuple[Poly, Poly]:
        buffer = program.buffers[self.access.buffer]
        shape = [evaluate(e, {}) for e in buffer.shape][buffer.per_cta :]
        low, high, stride = lift(0), lift(0), 1
        for (first, last), extent in zip(reversed(box[buffer.per_cta :]), reversed(shape), strict=True):
            low, high, stride = low + first * stride, high + last * stride, stride * extent
        return low, high


def _clear(program: Program, item: Mbarriers, use: Use, n: int, lives: tuple[Lives, ...]) -> Iterator[Obligation]:
    """No access touches the cells as long as there are mbarriers in them."""
    event = use.event

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        return use.touches(model, xs[0])

    title = f"{event.label} (line {event.span.line}) leaves the mbarriers of {item.name} alone"
    base = obligation(f"cells/{item.name}/{event.id}.{n}", "mbar.alias", title, use.access.span)
    shown = settle(program, base, [Property(base.name, (event,), bad, None)])
    if shown.status is not Status.PROVED and sum(one.barrier.ring for one in lives) == len(item.cells):
        fence = FenceKind.SHARED if use.access.proxy is Proxy.ASYNC else None
        others = [any_of(program, base, _unused(program, one, use, Needs(fence=fence))) for one in lives]
        shown = next((o for o in others if o.status is not Status.PROVED), reduce(with_more, others))
    yield shown


def _unused(program: Program, lives: Lives, use: Use, needs: Needs) -> list[Way]:
    """Ways to show that no life overlaps with a use: all lives are over or none has begun; or it happens between one of
    them and the next, where an iteration is a life."""
    if not lives.several:
        over, to_come = [*_over(program, lives, use, needs, None)], [*_to_come(lives, use, None)]
        return [over] if lives.declared else [over, to_come]
    if lives.rounds is None or rounds([use.event]) is None:
        return []
    # before the first initialisation there is already a life if the barrier is declared with a count
    return [
        [*_over(program, lives, use, needs, n), *_to_come(lives, use, n)] for n in ((0,) if lives.declared else (0, -1))
    ]


def _over(program: Program, lives: Lives, use: Use, needs: Needs, last: int | None) -> Iterator[Goal | Property]:
    """The life of the use's iteration has ended, or the `last` one relative to it, or any."""
    event, ring = use.event, lives.barrier.ring

    def missing(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        found = in_ctas(model, lives.invals, range(program.cluster))
        wanted = lift(ring) if last is None else (_life(event, xs[0], model) + (last + 1)) * ring
        short = model.ctx.api.disj(model.ctx.lt(total, wanted) for _, total in found)
        return model.ctx.api.conj((use.touches(model, xs[0]), short))

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        touches = use.touches(model, y)
        if last is None:
            return touches
        latest = model.ctx.eq(lives.life(x, phases), _life(event, y, model) + last)
        return model.ctx.api.conj((touches, latest))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        latest = last is None or lives.life_at(u, x) == _life_at(event, y) + last
        return latest and use.touches_at(program, y)

    name = f"cells/{lives.barrier.name}/{event.id}"
    yield Property(f"{name}/over", (event,), missing, None)
    for inval in lives.invals:
        yield Goal(f"{name}-{inval.id}", inval, event, condition, check, needs)


def _to_come(lives: Lives, use: Use, last: int | None) -> Iterator[Goal | Property]:
    """The next life has not begun."""
    event, needs = use.event, Needs(reads_only=use.access.mode is Mode.READ)

    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        touches = use.touches(model, x)
        if last is None:
            return touches
        following = model.ctx.eq(lives.life(y, phases), _life(event, x, model) + (last + 1))
        return model.ctx.api.conj((touches, following))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        following = last is None or lives.life_at(u, y) == _life_at(event, x) + last + 1
        return following and use.touches_at(u.program, x)

    for init in lives.inits:
        name = f"cells/{lives.barrier.name}/{event.id}+{init.id}"
        yield Goal(name, event, init, condition, check, needs)


def _life(event: Event, x: Instance, model: Model) -> Poly:
    return life_of(rounds([event]) or {}, x, model)


def _life_at(event: Event, x: Occurrence) -> int:
    return life_at(rounds([event]) or {}, x)
