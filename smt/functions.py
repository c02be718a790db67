"""Functions of which a query knows little: unknown numbers, and how often a condition held before an iteration.

Both become one symbol for each argument, with lemmas between every two: equal arguments have equal values, and between
two iterations a count grows by at least the first one's own and at most by their distance. All are consequences of
what the functions are, so an unsat answer is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from exogpu.smt.poly import Poly
from exogpu.smt.terms import Formula

if TYPE_CHECKING:
    from exogpu.smt.context import Context

Arguments = tuple[Poly, ...]


def applied(name: str, arguments: tuple[int, ...]) -> str:
    """The name of an unknown number at these arguments."""
    return f"{name}({','.join(map(str, arguments))})"


@dataclass(frozen=True, slots=True)
class Plain:
    """One unknown number is not 0 (or `wanted` is false: it is) in an iteration, which is one of its arguments."""

    name: str
    before: Arguments
    after: Arguments
    wanted: bool

    def at(self, iteration: int, values: Mapping[str, int]) -> str:
        """The unknown number of an iteration in a model, as `applied`."""
        before, after = (tuple(a.value(values) for a in args) for args in (self.before, self.after))
        return applied(self.name, (*before, iteration, *after))


@dataclass(slots=True)
class Functions:
    """The applications that one family of queries mentions; `plain` are the counts of iterations in which one unknown
    number is not 0, or is."""

    unknown: dict[tuple[str, Arguments], Poly] = field(default_factory=dict)
    counts: dict[tuple[Hashable, Poly], Poly] = field(default_factory=dict)
    plain: dict[Hashable, Plain] = field(default_factory=dict)

    def copy(self) -> Functions:
        """Applications that are added to the copy are not in this one."""
        return Functions(self.unknown.copy(), self.counts.copy(), self.plain.copy())

    def table(self, values: Mapping[str, int]) -> dict[str, int]:
        """The unknown numbers in a model, under `applied`; where only a count is known, some that make it up."""
        out = {
            applied(name, tuple(a.value(values) for a in args)): value.value(values)
            for (name, args), value in self.unknown.items()
        }
        for key, plain in self.plain.items():
            found = {(at.value(values), n.value(values)) for (k, at), n in self.counts.items() if k == key}
            for (p, before), (q, after) in pairwise(sorted({(0, 0), *found})):
                missing = after - before
                names = [plain.at(k, values) for k in range(p, q)]
                free = [name for name in names if name not in out]
                missing -= sum((out[name] != 0) == plain.wanted for name in names if name in out)
                for n, name in enumerate(free):
                    out[name] = int((n < missing) == plain.wanted)
        return out

    def apply(self, ctx: Context, name: str, args: Arguments, below: int | None) -> Poly:
        """The unknown number in 0 .. below - 1 (without `below`, any) that depends on `args` alone."""
        if (name, args) not in self.unknown:
            value = ctx.fresh(f"{name}#{len(self.unknown)}", None if below is None else 0, below)
            for (other, theirs), known in self.unknown.items():
                if other == name:
                    same = ctx.api.conj(ctx.eq(p, q) for p, q in zip(args, theirs, strict=True))
                    ctx.definitions.append(ctx.api.implies(same, ctx.eq(value, known)))
            self.unknown[name, args] = value
        return self.unknown[name, args]

    def count(
        self,
        ctx: Context,
        key: Hashable,
        at: Poly,
        holds: Callable[[Poly], Formula],
        plain: Plain | None = None,
    ) -> Poly:
        """How many v in 0 .. at - 1 satisfy `holds`, which `key` stands for; below 0, minus how many in at .. -1, so
        that differences count what lies between. `plain`: what `holds` says, if known."""
        if plain is not None:
            self.plain[key] = plain
        if (key, at) not in self.counts:
            value = ctx.fresh(f"count#{len(self.counts)}")
            self.counts[key, at] = value
            behind = ctx.api.conj((ctx.le(at, 0), ctx.between(at, value, 1)))
            ahead = ctx.api.conj((ctx.ge(at, 0), ctx.between(0, value, at + 1)))
            ctx.definitions.append(ctx.api.disj((behind, ahead)))
            for (other, there), known in list(self.counts.items()):
                if other == key and there != at:
                    ctx.definitions += [
                        self._grows(ctx, holds(there), there, known, at, value),
                        self._grows(ctx, holds(at), at, value, there, known),
                        ctx.api.implies(ctx.eq(at, there), ctx.eq(value, known)),
                    ]
        return self.counts[key, at]

    @staticmethod
    def _grows(ctx: Context, holds: Formula, p: Poly, before: Poly, q: Poly, after: Poly) -> Formula:
        """From iteration p to a later one, q."""
        grown, apart = after - before, q - p
        counted = ctx.api.conj((holds, ctx.ge(grown, 1), ctx.le(grown, apart)))
        skipped = ctx.api.conj((ctx.api.negate(holds), ctx.ge(grown, 0), ctx.lt(grown, apart)))
        return ctx.api.implies(ctx.lt(p, q), ctx.api.disj((counted, skipped)))
