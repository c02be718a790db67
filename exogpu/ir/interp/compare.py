"""How far results are from a reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.ir.interp.arguments import written_tensors
from exogpu.ir.proc import Proc


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The difference of one tensor from its reference.

    `relative`: Frobenius norm of the difference over that of the reference (over 1 if the reference is 0);
    infinite where only one of the two is NaN, or an infinity is met by another value. `index`: the element that is
    farthest off (None in an empty tensor), where `got` stands instead of `want`.
    """

    tensor: str
    relative: float
    index: tuple[int, ...] | None
    got: float
    want: float

    def __str__(self) -> str:
        if self.index is None:
            return f"{self.tensor}: empty"
        if self.relative == 0:
            return f"{self.tensor}: equal"
        place = ", ".join(map(str, self.index))
        return f"{self.tensor}: relative error {self.relative:.3g}, worst at [{place}]: {self.got:g}, not {self.want:g}"


def compare(proc: Proc, got: Mapping[str, Any], reference: Mapping[str, Any]) -> tuple[Mismatch, ...]:
    """One `Mismatch` for each tensor that `proc` writes, in the order of the signature."""
    return tuple(_mismatch(name, np.asarray(got[name]), np.asarray(reference[name])) for name in written_tensors(proc))


def _mismatch(name: str, got: NDArray[Any], want: NDArray[Any]) -> Mismatch:
    a, b = got.astype(np.float64), want.astype(np.float64)
    if a.size == 0:
        return Mismatch(name, 0.0, None, 0.0, 0.0)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        off = np.where(same, 0.0, np.abs(a - b))
    off = np.where(np.isfinite(off), off, np.inf)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(off)), off.shape))
    scale = float(np.linalg.norm(b[np.isfinite(b)])) or 1.0
    return Mismatch(name, float(np.linalg.norm(off.reshape(-1))) / scale, index, float(a[index]), float(b[index]))
