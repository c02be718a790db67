"""Sizes at which two procedures are run: all small ones, and some around the numbers that occur in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from math import prod
from random import Random

from exogpu.ir.computed import computed_by_cond, computed_by_value
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.interp import sequential
from exogpu.ir.proc import Proc, SizeArg, TensorArg
from exogpu.ir.stmt import Assign, For, If
from exogpu.ir.walk import walk

SMALL = (0, 1, 2, 3)
ODD = (5, 7, 8, 13, 16, 33)
MOST = 24
"""Most sizes that are tried."""
DRAWS = 4000
WORK = 2**18
"""Largest product of all sizes, and of the elements of a tensor."""


def candidates(a: Proc, b: Proc) -> Iterator[dict[str, int]]:
    """Sizes that both procedures allow, small ones first."""
    names = [arg.name for arg in a.args if isinstance(arg, SizeArg)]
    if not names:
        yield {}
        return
    small = (dict(zip(names, values, strict=True)) for values in product(SMALL, repeat=len(names)))
    first = sorted((s for s in small if _allowed(a, b, s)), key=_volume)
    yield from first[: MOST // 2]
    numbers = sorted(_around(a) | _around(b) | set(SMALL) | set(ODD))
    random = Random(0)
    drawn = ({name: random.choice(numbers) for name in names} for _ in range(DRAWS))
    fresh = {tuple(s.values()): s for s in drawn if s not in first and _allowed(a, b, s)}
    yield from sorted(islice(fresh.values(), MOST // 2), key=_volume)


def _volume(sizes: Mapping[str, int]) -> int:
    return prod(1 + n for n in sizes.values())


def _allowed(a: Proc, b: Proc, sizes: Mapping[str, int]) -> bool:
    if not all(holds(r.cond, sizes) for r in (*a.requires, *b.requires)):
        return False
    tensors = [prod(evaluate(e, sizes) for e in arg.shape) for arg in a.args if isinstance(arg, TensorArg)]
    return all(0 <= n <= WORK for n in (*tensors, _volume(sizes)))


def _around(proc: Proc) -> set[int]:
    """Numbers next to those in the expressions of a procedure, and to their doubles."""
    found = {n for e in _expressions(proc) for n in _literals(e) if 1 < n <= 512}
    return {n + d for n in found for d in (-1, 0, 1)} | {2 * n + 1 for n in found}


def _expressions(proc: Proc) -> Iterator[Index]:
    for stmt in walk(sequential(proc)):
        match stmt:
            case Assign(index=index, rhs=rhs):
                yield from index
                yield from (e for e, _ in computed_by_value(rhs))
            case For(lo=lo, hi=hi):
                yield from (lo, hi)
            case If(cond=cond):
                yield from (e for e, _ in computed_by_cond(cond))
            case _:
                pass
    for require in proc.requires:
        yield from (e for e, _ in computed_by_cond(require.cond))


def _literals(e: Index) -> Iterator[int]:
    match e:
        case Int(value):
            yield value
        case Bin(_, left, right):
            yield from _literals(left)
            yield from _literals(right)
        case Var():
            return
