"""Whether an edit left the sequential program alone: both programs are run on the same inputs at small sizes."""

from __future__ import annotations

import numpy as np

from exogpu.ir.interp import interpret, random_inputs, written_tensors
from exogpu.ir.proc import Proc
from exogpu.verify.initialised import affordable
from exogpu.verify.lower import lower
from exogpu.verify.small import small_sizes


def same_results(one: Proc, other: Proc) -> bool:
    """No written tensor differs at the sizes tried. Both programs are in bounds and depend on no unwritten memory."""
    return all(_agree(one, other, sizes) for sizes in small_sizes(lower(one)) if affordable(one, sizes))


def _agree(one: Proc, other: Proc, sizes: dict[str, int]) -> bool:
    inputs = random_inputs(one, sizes, 0)
    left, right = interpret(one, inputs), interpret(other, inputs)
    names = {*written_tensors(one), *written_tensors(other)}
    return all(np.array_equal(left[name], right[name], equal_nan=True) for name in names)
