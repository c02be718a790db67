"""Rings in mbarrier arrays.

The elements that an index can mean are a ring, through which phases go in turn; a single element is a ring of one.
Rings with a common element are one. Elements are numbered across all dimensions of an array, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import gcd, prod

from exogpu.ir.collective import plus
from exogpu.ir.evaluate import operate
from exogpu.ir.index import Bin, BoolOp, Cmp, Cond, Index, Int, Var
from exogpu.ir.linear import Linear, linear
from exogpu.ir.skeleton.tree import RANK, TID
from exogpu.ir.terms import total
from exogpu.ir.walk import index_names, substitute_index
from exogpu.verify.program import Applied, Counter, Derived, LoopKind
from exogpu.verify.skeleton.place import Place
from exogpu.verify.skeleton.progressions import Env, Progression, between, progression

Rings = Mapping[str, tuple[range, ...]]
"""The rings of each array."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array: its number, the numbers that this can be, and what makes its indices lie inside."""

    number: Index
    found: range
    inside: tuple[Cond, ...]


def element(indices: Sequence[Index], shape: Sequence[int], env: Env) -> Element:
    """The element with these indices."""
    number: Index = Int(0)
    inside: list[Cond] = []
    for n, (e, extent) in enumerate(zip(indices, shape, strict=True)):
        number = plus(number, _scaled(e, prod(shape[n + 1 :])))
        known = progression(e, env)
        if len(shape) > 1 and not (known is not None and known.inside(extent)):
            inside += [Cmp(">=", e, Int(0)), Cmp("<", e, Int(extent))]
    size = prod(shape)
    found = progression(number, env) or between(0, size - 1, 1)
    return Element(number, found.within(size), tuple(inside))


Indices = tuple[Index, ...]


def by_thread(
    indices: Indices, shape: Sequence[int], place: Place, derived: Mapping[str, Derived]
) -> Iterator[tuple[Indices, Place]]:
    """The same indices for each group of CTAs and of threads that can mean the same elements; without the thread where
    it makes no difference."""

    def found(some: Indices) -> range:
        return element(some, shape, names(place, derived)).found

    for these, ctas in _groups(RANK, place.role.ctas, indices, found):
        here = place if len(ctas) == len(place.role.ctas) else replace(place, guards=(*place.guards, _one_of(ctas)))
        for those, threads in _groups(TID, place.who, these, found):
            yield those, replace(here, who=threads)


def _groups(
    name: str, values: tuple[int, ...], indices: Indices, found: Callable[[Indices], range]
) -> Iterator[tuple[Indices, tuple[int, ...]]]:
    if not any(name in index_names(e) for e in indices):
        yield indices, values
        return
    known = {v: tuple(_folded(substitute_index(e, {name: Int(v)})) for e in indices) for v in values}
    groups: dict[range, list[int]] = {}
    for v in values:
        groups.setdefault(found(known[v]), []).append(v)
    for members in groups.values():
        alike = {known[v] for v in members}
        yield (alike.pop() if len(alike) == 1 else indices), tuple(members)


def _one_of(ctas: Sequence[int]) -> Cond:
    tests = tuple(Cmp("==", Var(RANK), Int(c)) for c in ctas)
    return tests[0] if len(tests) == 1 else BoolOp("or", tests)


def _folded(e: Index) -> Index:
    """Operations on literals done."""
    match e:
        case Bin(op, left, right):
            a, b = _folded(left), _folded(right)
            return Int(operate(op, a.value, b.value)) if isinstance(a, Int) and isinstance(b, Int) else Bin(op, a, b)
        case _:
            return e


def _scaled(e: Index, factor: int) -> Index:
    return e if factor == 1 else Bin("*", Int(factor), e)


def names(place: Place, derived: Mapping[str, Derived]) -> Env:
    """What the names at a place can stand for."""
    out: dict[str, Progression | None] = {name: _derived(found) for name, found in derived.items()}
    out[TID] = between(min(place.who, default=0), max(place.who, default=0), 1)
    out[RANK] = between(min(place.role.ctas), max(place.role.ctas), 1)
    for step in place.path:
        loop = step.loop
        if loop is not None and loop.kind is LoopKind.SEQ:
            lo, hi = progression(loop.lo, out), progression(loop.hi, out)
            last = None if hi is None or hi.hi is None else hi.hi - 1
            out[loop.var] = None if lo is None else between(lo.lo, last, 1)
    return out


def _derived(found: Derived) -> Progression | None:
    match found:
        case Counter(modulus=int(modulus)):
            return between(0, modulus - 1, 1)
        case Applied(below=int(below)):
            return between(0, below - 1, 1)
        case Counter() | Applied():
            return None


def slot(number: Index, ring: range) -> tuple[Index, tuple[Cond, ...]]:
    """The place of an element in its ring, and what makes it one of the ring."""
    if len(ring) == 1:
        return Int(0), (() if number == Int(ring.start) else (Cmp("==", number, Int(ring.start)),))
    terms = linear(number)
    start = terms.const - ring.start
    if all(c % ring.step == 0 for c in (start, *terms.terms.values())):
        return total(Linear({a: c // ring.step for a, c in terms.terms.items()}, start // ring.step)), ()
    place = Bin("//", plus(number, Int(-ring.start)), Int(ring.step))
    return place, (Cmp("==", plus(Bin("*", Int(ring.step), place), Int(ring.start)), number),)


def joined(found: Iterable[range]) -> tuple[range, ...]:
    """The rings that elements which are named together make up."""
    out: list[range] = []
    for one in found:
        while one:
            common = [r for r in out if not set(r).isdisjoint(one)]
            out = [r for r in out if r not in common]
            if not common:
                out.append(one)
                break
            one = reduce(_hull, common, one)
    return tuple(sorted(out, key=lambda r: (r.start, r.step)))


def _hull(one: range, other: range) -> range:
    step = gcd(one.step if len(one) > 1 else 0, other.step if len(other) > 1 else 0, one.start - other.start)
    return range(min(one.start, other.start), max(one[-1], other[-1]) + 1, step or 1)


def shown(array: str, shape: Sequence[int], ring: range) -> str:
    """The name of a ring."""
    rest = list(shape)
    while rest and len(ring) < prod(rest):
        inner = prod(rest[1:])
        row = ring.start // inner
        if row != ring[-1] // inner or (len(ring) == 1 and not rest[1:]):
            break
        array, ring, rest = (
            f"{array}[{row}]",
            range(ring.start - row * inner, ring.stop - row * inner, ring.step),
            rest[1:],
        )
    if len(ring) == prod(rest):
        return array
    if len(ring) == 1:
        return f"{array}[{ring.start}]"
    step = f":{ring.step}" if ring.step > 1 else ""
    return f"{array}[{ring.start}:{ring[-1] + 1}{step}]"
