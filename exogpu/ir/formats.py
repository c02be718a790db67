"""Which scalar types hold every value of another one, so that a store does not change it."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class _Format:
    """A floating-point format: bits of the significand, largest and smallest exponent of normal numbers, and whether a
    store leaves infinities alone."""

    precision: int
    largest: int
    smallest: int
    infinite: bool = True

    @property
    def finest(self) -> int:
        """The exponent of the smallest positive number."""
        return self.smallest - self.precision + 1


_FORMATS = {
    Scalar.F64: _Format(53, 1023, -1022),
    Scalar.F32: _Format(24, 127, -126),
    Scalar.TF32: _Format(11, 127, -126),
    Scalar.BF16: _Format(8, 127, -126),
    Scalar.F16: _Format(11, 15, -14),
    Scalar.E5M2: _Format(3, 15, -14, infinite=False),
    Scalar.E4M3: _Format(4, 8, -6, infinite=False),
}
_INTEGERS = {Scalar.I32: (-(2**31), 2**31 - 1), Scalar.I8: (-128, 127), Scalar.U8: (0, 255)}


def contains(wide: Scalar, narrow: Scalar) -> bool:
    """Whether a store to the first type keeps every number of the second, infinities included. Elements of arguments
    are numbers of their type (`exogpu.ir.interp.arguments`): an e5m2 tensor holds no infinity."""
    match _INTEGERS.get(narrow), _INTEGERS.get(wide):
        case (least, most), (low, high):
            return low <= least and most <= high
        case (least, most), None:
            return max(-least, most) <= 1 << _FORMATS[wide].precision
        case None, None:
            a, b = _FORMATS[wide], _FORMATS[narrow]
            fits = a.precision >= b.precision and a.largest >= b.largest and a.finest <= b.finest
            return fits and (a.infinite or not b.infinite)
        case _:
            return False
