"""mbarrier arrays in one place: all that one has there is over before the other begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from exogpu.ir.evaluate import evaluate
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.smt.poly import Poly
from exogpu.smt.terms import Formula
from exogpu.verify.concrete import Occurrence, Unrolling, cta_meant
from exogpu.verify.instance import Instance, Model
from exogpu.verify.needs import Needs
from exogpu.verify.ordering import Goal
from exogpu.verify.phases import Phases
from exogpu.verify.program import Event, Program
from exogpu.verify.result import Obligation
from exogpu.verify.single import Property
from exogpu.verify.skeleton.lives import Lives, in_ctas
from exogpu.verify.skeleton.settle import any_of, obligation

Part = Goal | Property


def one_place(program: Program, one: Mbarriers, other: Mbarriers, lives: Mapping[str, Lives]) -> Iterator[Obligation]:
    """The mbarriers of one array have ended when those of the other begin in their cells."""
    title = f"{one.name} and {other.name} do not have cells at the same time"
    base = obligation(f"cells/{one.name}/{other.name}", "mbar.alias", title, other.span)
    ways = (_succession(program, *pair, lives) for pair in ((one, other), (other, one)))
    yield any_of(program, base, [way for way in ways if way is not None])


def _succession(
    program: Program, first: Mbarriers, second: Mbarriers, lives: Mapping[str, Lives]
) -> Sequence[Part] | None:
    """What shows that the first array's mbarriers end before the second's begin; None if nothing can."""
    earlier, later = ([x for name, x in lives.items() if name.partition("[")[0] == a.name] for a in (first, second))
    common = set(first.in_common(second))
    ended = {first.offset + e for x in earlier if x.invals for e in x.elements}
    used = {first.offset + e for x in earlier for e in x.elements} if first.count is None else {*first.cells}
    if second.count is not None or any(x.several for x in (*earlier, *later)) or not used & common <= ended:
        return None
    shift = second.offset - first.offset
    return [p for x, y in product(earlier, later) for p in _before(program, x, y, shift)]


def _before(program: Program, earlier: Lives, later: Lives, shift: int) -> Iterator[Part]:
    """Every element that begins in the later ring, `shift` further on in the earlier one, has ended there."""
    if not {e + shift for e in later.elements} & {*earlier.elements}:
        return
    for init in later.inits:
        yield _ended(program, earlier, later, init, shift)
        yield from (_follows(earlier, later, inval, init, shift) for inval in earlier.invals)


def _ended(program: Program, earlier: Lives, later: Lives, init: Event, shift: int) -> Property:
    """There is an end of it: the slots of a ring end one after the other."""

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx, elements = model.ctx, earlier.elements
        number = _element(later, xs[0], model) + shift
        slot = ctx.floordiv(number - elements.start, elements.step)
        ended = in_ctas(model, earlier.invals, range(program.cluster))
        short = (ctx.api.conj((ctx.eq(phases.own_cta(xs[0]), cta), ctx.le(total, slot))) for cta, total in ended)
        return ctx.api.conj((ctx.between(elements.start, number, elements.stop), ctx.api.disj(short)))

    return Property(f"cells/{earlier.barrier.name}/{init.id}/ended", (init,), bad, None)


def _follows(earlier: Lives, later: Lives, inval: Event, init: Event, shift: int) -> Goal:
    def condition(model: Model, phases: Phases, x: Instance, y: Instance) -> Formula:
        ctx = model.ctx
        same = ctx.eq(_element(earlier, x, model), _element(later, y, model) + shift)
        return ctx.api.conj((ctx.eq(phases.own_cta(x), phases.own_cta(y)), same))

    def check(u: Unrolling, x: Occurrence, y: Occurrence) -> bool:
        same = _element_at(earlier, x) == _element_at(later, y) + shift
        return same and cta_meant(u.program, x) == cta_meant(u.program, y)

    return Goal(f"cells/{inval.id}-{init.id}", inval, init, condition, check, Needs())


def _element(lives: Lives, x: Instance, model: Model) -> Poly:
    """The element of its array that an instance begins or ends."""
    return lives.slot(x, model) * lives.elements.step + lives.elements.start


def _element_at(lives: Lives, x: Occurrence) -> int:
    return evaluate(lives.slots[x.event.id], x.env) * lives.elements.step + lives.elements.start
