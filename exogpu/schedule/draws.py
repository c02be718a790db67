"""What a data expression is worth, when what it reads is drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from exogpu.ir.interp.grid import Grid
from exogpu.ir.interp.values import Evaluator
from exogpu.ir.numeric import Array, convert
from exogpu.ir.print_expr import value_text
from exogpu.ir.types import Scalar
from exogpu.ir.value import Read, Value
from exogpu.ir.value_type import Types, computed

DRAWS = 4
"""Integers are drawn first, of which sums and products show no rounding."""
POINT = Grid((), {})


@dataclass(frozen=True, slots=True)
class Draw:
    """One choice for every element that there is; `types` are those of buffers and scalars."""

    types: Types
    number: int

    def stored(self, value: Value, to: Scalar) -> float:
        """What is stored of an expression whose indices are numbers."""
        with np.errstate(all="ignore"):
            found = Evaluator(self._element, self.types, precise=False).value(value, POINT, computed(to))
            return float(convert(found, to))

    def _element(self, read: Read, _: Grid) -> Array:
        dtype = self.types[read.buffer]
        random = Random(f"{self.number} {value_text(read)}")
        whole = not dtype.is_float or self.number < DRAWS // 2
        drawn = float(random.randint(0, 100)) if whole else random.gauss(0, 1)
        return convert(np.asarray(drawn), dtype)


def differ(a: Value, b: Value, types: Types, to: Scalar) -> bool:
    """Whether two values differ for some draw when they are stored. Both may be NaN."""
    draws = (Draw(types, n) for n in range(DRAWS))
    pairs = ((d.stored(a, to), d.stored(b, to)) for d in draws)
    return any(x != y and not (np.isnan(x) and np.isnan(y)) for x, y in pairs)
