"""Element-wise data movement: what an assignment, or one nest of an instruction's meaning, does for all its elements.

Positions and conditions never depend on data, so they are arrays made once; only the values are computed in a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exogpu.ir.arrays import Env, Numbers, Truths, cond, index, lanes, negated
from exogpu.ir.instr import Proxy
from exogpu.ir.interp.functions import NUMPY
from exogpu.ir.interp.values import arithmetic
from exogpu.ir.numeric import Array, compute_dtype, convert
from exogpu.ir.stmt import Assign
from exogpu.ir.types import Scalar
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.value_type import Types, computed, value_type
from exogpu.source import Span
from exogpu.verify.simulator.layout import Place


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """The element of a buffer that each lane reads; those outside `under` read nothing."""

    place: Place
    positions: Numbers
    under: Truths | None


Fetch = Callable[[Access], Array]
Pick = Callable[[Array], Array]
Compute = Callable[[Fetch, Pick], Array]
"""Values of some lanes: `Fetch` reads an access for them, `Pick` takes their entries of an array."""


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """`place[positions] = compute(...)` or `+=`, lane by lane; `threads` performs each lane. With `gathers` several
    lanes may add to one element, as one instruction's sums do; if it `commutes`, these are atomic. `proxies` are those
    of an instruction's buffers."""

    span: Span
    place: Place
    positions: Numbers
    threads: Numbers
    adds: bool
    gathers: bool
    compute: Compute
    proxies: Mapping[str, Proxy] = field(default_factory=dict)
    commutes: bool = False

    def proxy(self, place: Place) -> Proxy:
        """The proxy through which a buffer is accessed."""
        return self.proxies.get(place.name, Proxy.GENERIC)

    def __len__(self) -> int:
        return len(self.threads)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What names mean in a run: buffers, scalar arguments, and their element types."""

    places: Mapping[str, Place]
    scalars: Mapping[str, Array]
    types: Types


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Lanes: the variables of each and the thread that performs it; `slots` are the current ring slots of buffers."""

    env: Env
    threads: Numbers
    slots: Mapping[str, int] = field(default_factory=dict)

    def where(self, truth: bool | Truths) -> Frame:
        """The lanes for which a condition holds."""
        if isinstance(truth, bool):
            return self if truth else self.take(np.zeros(0, np.int64))
        return self if truth.all() else self.take(np.flatnonzero(truth))

    def take(self, which: Numbers) -> Frame:
        """The lanes of these numbers."""
        env = {n: v[which] if isinstance(v, np.ndarray) else v for n, v in self.env.items()}
        return Frame(env, self.threads[which], self.slots)


def positions(place: Place, at: tuple[Any, ...], frame: Frame, under: Truths | None = None) -> Numbers:
    """Flat positions of an element per lane; lanes outside `under` get position 0."""
    count = len(frame.threads)
    found = place.positions(
        [lanes(index(i, frame.env), count) for i in at], frame.slots.get(place.name, 0), frame.threads
    )
    return found if under is None else np.where(under, found, 0)


def move(stmt: Assign, frame: Frame, context: Context, *, gathers: bool) -> Move:
    """The movement of an assignment for all lanes of a frame."""
    place = context.places[stmt.buffer]
    whole = Arith("+", Read(stmt.buffer, stmt.index), stmt.rhs) if stmt.op == "+=" else stmt.rhs
    kind = value_type(whole, context.types) or computed(place.dtype)
    compute = _Compiler(frame, context).widened(stmt.rhs, kind, None)
    return Move(stmt.span, place, positions(place, stmt.index, frame), frame.threads, stmt.op == "+=", gathers, compute)


@dataclass(frozen=True, slots=True, eq=False)
class _Compiler:
    """Turns data expressions into functions of the values read."""

    frame: Frame
    context: Context

    def widened(self, v: Value, kind: Scalar, under: Truths | None) -> Compute:
        """The value converted to the type of the operation."""
        inner, dtype = self.value(v, kind, under), compute_dtype(kind)
        return lambda fetch, pick: inner(fetch, pick).astype(dtype, copy=False)

    def value(self, v: Value, expected: Scalar, under: Truths | None) -> Compute:
        kind = value_type(v, self.context.types) or expected
        match v:
            case Read(buffer, at):
                return self.read(buffer, at, under)
            case Num(number):
                constant = np.asarray(number, compute_dtype(kind))
                return lambda fetch, pick: constant
            case FromIndex(e):
                numbers = lanes(index(e, self.frame.env), len(self.frame.threads)).astype(compute_dtype(kind))
                return lambda fetch, pick: pick(numbers)
            case Arith(op, left, right):
                a, b = self.widened(left, kind, under), self.widened(right, kind, under)
                return lambda fetch, pick: arithmetic(op, a(fetch, pick), b(fetch, pick))
            case Neg(arg):
                one = self.value(arg, kind, under)
                return lambda fetch, pick: -one(fetch, pick)
            case Cast(to, arg):
                raw = self.value(arg, Scalar.F64, under)
                return lambda fetch, pick: convert(raw(fetch, pick), to)
            case Call(name, args):
                parts, fn = [self.widened(a, kind, under) for a in args], NUMPY[name]
                return lambda fetch, pick: fn(*(p(fetch, pick) for p in parts))
            case Select():
                return self.select(v, kind, under)

    def read(self, buffer: str, at: tuple[Any, ...], under: Truths | None) -> Compute:
        if not at and buffer in self.context.scalars:
            scalar = self.context.scalars[buffer]
            return lambda fetch, pick: scalar
        place = self.context.places[buffer]
        access = Access(place, positions(place, at, self.frame, under), under)
        return lambda fetch, pick: fetch(access)

    def select(self, v: Select, kind: Scalar, under: Truths | None) -> Compute:
        found = cond(v.cond, self.frame.env)
        truth = np.broadcast_to(np.asarray(found), (len(self.frame.threads),))
        if truth.all() or not truth.any():
            return self.widened(v.then if truth.all() else v.orelse, kind, under)
        rest = np.asarray(negated(truth))
        yes = self.widened(v.then, kind, truth if under is None else truth & under)
        no = self.widened(v.orelse, kind, rest if under is None else rest & under)
        return lambda fetch, pick: np.where(pick(truth), yes(fetch, pick), no(fetch, pick))
