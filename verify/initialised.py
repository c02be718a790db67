"""Results that depend on memory which nothing has written.

Not a proof: the sequential program is run at a few small sizes with two different contents of fresh buffers. Where an
output differs, the program itself is undefined, and no ordering can make it right. Finding nothing shows nothing, so
the obligation appears only when it is refuted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exogpu.diagnostics import Label
from exogpu.ir.evaluate import evaluate
from exogpu.ir.interp import InterpError, interpret, random_inputs, written_tensors
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, For, Stmt, Threads
from exogpu.ir.walk import children, walk
from exogpu.source import Span
from exogpu.verify.program import Program
from exogpu.verify.result import Counterexample, Obligation, Status
from exogpu.verify.small import small_sizes
from exogpu.verify.text import HELP

FILLS = (1, 3)
"""Two contents of fresh memory; both are exact in every type."""
MOST_ITERATIONS = 200_000
"""Most iterations of loops that are worth running."""
MOST_ELEMENTS = 2_000_000
"""Largest tensor that is worth running."""


def uninitialised(proc: Proc, program: Program) -> Iterator[Obligation]:
    """One refuted obligation per tensor whose contents depend on unwritten memory."""
    reported: set[str] = set()
    for sizes in small_sizes(program):
        if not affordable(proc, sizes):
            continue
        for tensor, index in _dependent(proc, sizes):
            if tensor not in reported:
                reported.add(tensor)
                yield _refuted(proc, tensor, index, sizes, _culprit(proc, sizes, tensor))


def affordable(proc: Proc, sizes: dict[str, int]) -> bool:
    """The sequential program is small enough to be run at these sizes."""
    if _iterations(proc.body, sizes) > MOST_ITERATIONS:
        return False
    arrays = (a for a in random_inputs(proc, sizes, 0).values() if isinstance(a, np.ndarray))
    return all(a.size <= MOST_ELEMENTS for a in arrays)


def _iterations(block: tuple[Stmt, ...], env: dict[str, int]) -> int:
    """Iterations of loops that run in order, about: a loop whose bounds vary counts as in its first iteration."""
    total = 0
    for stmt in block:
        inner = env
        trips = 1
        if isinstance(stmt, For):
            lo, hi = evaluate(stmt.lo, env), evaluate(stmt.hi, env)
            inner = {**env, stmt.var: lo}
            trips = 1 if isinstance(stmt.mode, Threads) else max(0, hi - lo)
        total += trips + trips * sum(_iterations(b, inner) for b in children(stmt) if trips)
    return total


def _dependent(proc: Proc, sizes: dict[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Written tensors that differ between the two fills, with the first differing element."""
    args = random_inputs(proc, sizes, 0)
    try:
        one, other = (interpret(proc, args, fill=fill) for fill in FILLS)
    except InterpError:
        return  # an access out of bounds: `bounds` reports it
    for name in written_tensors(proc):
        differs = _differing(one[name], other[name])
        if len(differs):
            yield name, tuple(int(i) for i in differs[0])


def _differing(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The indices of elements that differ, two NaN being alike."""
    return np.argwhere((a != b) & ~((a != a) & (b != b)))


@dataclass(slots=True)
class _Reads:
    """What a run reads of some buffers: which, where, and a digest of the values."""

    names: tuple[str, ...]
    seen: list[tuple[str, Span, bytes]] = field(default_factory=list)

    def __call__(self, name: str, span: Span, values: NDArray[Any]) -> None:
        if name in self.names:
            self.seen.append((name, span, sha256(values.tobytes()).digest()))


def _culprit(proc: Proc, sizes: dict[str, int], tensor: str) -> tuple[str, Span]:
    """The buffer whose unwritten elements matter to a tensor, alone if one alone does, and their first read: before it
    nothing differs between two runs but what fresh memory holds."""
    args = random_inputs(proc, sizes, 0)
    names = tuple(s.name for s in walk(proc.body) if isinstance(s, Alloc))
    reference = interpret(proc, args, fill=FILLS[0])[tensor]

    def matters(name: str) -> bool:
        return len(_differing(reference, interpret(proc, args, fill=FILLS[0], fills={name: FILLS[1]})[tensor])) > 0

    alone = next((name for name in names if matters(name)), None)
    guilty = names if alone is None else (alone,)
    one, other = _Reads(guilty), _Reads(guilty)
    interpret(proc, args, fill=FILLS[0], watch=one)
    interpret(proc, args, fill=FILLS[0], fills=dict.fromkeys(guilty, FILLS[1]), watch=other)
    name, span, _ = next(a for a, b in zip(one.seen, other.seen, strict=True) if a != b)
    return name, span


def _refuted(
    proc: Proc, tensor: str, index: tuple[int, ...], sizes: dict[str, int], culprit: tuple[str, Span]
) -> Obligation:
    buffer, read = culprit
    element = f"{tensor}[{', '.join(map(str, index))}]"
    replay = f"the sequential program, run with fresh memory holding {FILLS[0]} and again {FILLS[1]}, differs there"
    born = next(s.span for s in walk(proc.body) if isinstance(s, Alloc) and s.name == buffer)
    return Obligation(
        name=f"uninit/{tensor}",
        rule="uninit",
        title=f"{tensor} does not depend on memory that nothing has written",
        status=Status.REFUTED,
        span=read,
        message=f"the contents of `{tensor}` depend on elements of `{buffer}` that nothing has written",
        label="reads what nothing has written",
        labels=(Label(born, "holds nothing in particular"),),
        help=HELP["uninit"],
        counterexample=Counterexample(tuple(sizes.items()), (("element", element),), (), replay, minimal=False),
    )
