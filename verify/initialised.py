"""Results that depend on memory which nothing has written.

Not a proof: the sequential program is run at a few small sizes with two different contents of fresh buffers. Where an
output differs, the program itself is undefined, and no ordering can make it right. Finding nothing shows nothing, so
the obligation appears only when it is refuted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exogpu.ir.evaluate import evaluate
from exogpu.ir.interp import InterpError, interpret, random_inputs, written_tensors
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import For, Stmt, Threads
from exogpu.ir.walk import children
from exogpu.smt.solver import Sat
from exogpu.verify.program import Program
from exogpu.verify.result import Counterexample, Obligation, Status
from exogpu.verify.session import Session
from exogpu.verify.text import HELP

FILLS = (1, 3)
"""Two contents of fresh memory; both are exact in every type."""
SMALLEST = (1, 5)
"""Sizes tried: the smallest that the preconditions allow with every size at least this."""
MOST_ITERATIONS = 200_000
"""Most iterations of loops that are worth running."""
MOST_ELEMENTS = 2_000_000
"""Largest tensor that is worth running."""


def uninitialised(proc: Proc, program: Program) -> Iterator[Obligation]:
    """One refuted obligation per tensor whose contents depend on unwritten memory."""
    reported: set[str] = set()
    for least in SMALLEST:
        sizes = small_sizes(program, least)
        if sizes is None or not affordable(proc, sizes):
            continue
        for tensor, index in _dependent(proc, sizes):
            if tensor not in reported:
                reported.add(tensor)
                yield _refuted(proc, tensor, index, sizes)


def small_sizes(program: Program, least: int) -> dict[str, int] | None:
    """The smallest sizes that the preconditions allow with every size at least `least`; None if there are none."""
    session = Session(program, "sizes", {})
    session.add([session.ctx.le(least, session.model.sizes[s]) for s in program.sizes])
    answer = session.check()
    if not isinstance(answer, Sat):
        return None
    found = session.sizes(session.minimise(answer.model))
    return {name: found[name] for name in program.sizes}


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
        a, b = one[name], other[name]
        differs = np.argwhere((a != b) & ~((a != a) & (b != b)))
        if len(differs):
            yield name, tuple(int(i) for i in differs[0])


def _refuted(proc: Proc, tensor: str, index: tuple[int, ...], sizes: dict[str, int]) -> Obligation:
    element = f"{tensor}[{', '.join(map(str, index))}]"
    replay = f"the sequential program, run with fresh memory holding {FILLS[0]} and again {FILLS[1]}, differs there"
    span = next(a.span for a in proc.args if a.name == tensor)
    return Obligation(
        name=f"uninit/{tensor}",
        rule="uninit",
        title=f"{tensor} does not depend on memory that nothing has written",
        status=Status.REFUTED,
        span=span,
        message=f"the contents of `{tensor}` depend on memory that nothing has written",
        label="depends on it",
        help=HELP["uninit"],
        counterexample=Counterexample(tuple(sizes.items()), (("element", element),), (), replay, minimal=False),
    )
