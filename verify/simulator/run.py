"""The way in: a kernel at concrete sizes under several schedules, compared with the sequential interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import numpy as np

from exogpu.ir.buffers import types_of
from exogpu.ir.evaluate import evaluate
from exogpu.ir.interp import Arguments, InterpError, interpret, written_tensors
from exogpu.ir.interp.arguments import Prepared, prepare
from exogpu.ir.numeric import Array, storage_dtype
from exogpu.ir.proc import Proc, ScalarArg, SizeArg, TensorArg
from exogpu.ir.types import Gmem, Scalar, Smem
from exogpu.verify.simulator.barriers import Barriers
from exogpu.verify.simulator.clocks import Monitor, Shadow
from exogpu.verify.simulator.cluster import Cluster
from exogpu.verify.simulator.layout import places
from exogpu.verify.simulator.memory import Contents, Memory
from exogpu.verify.simulator.moves import Context
from exogpu.verify.simulator.outcome import Agrees, Outcome, Undefined, Violation, WrongValue
from exogpu.verify.simulator.schedule import BENTS, Scheduler
from exogpu.verify.simulator.trace import Trace
from exogpu.verify.simulator.walk import Walk, tasks_of

FILLS = (1, 3)
"""What fresh memory holds in the two sequential runs; results that differ between them have no meaning."""

MOST_WATCHED = 512
"""Threads of a run up to which unordered accesses are looked for."""
MOST_CELLS = 1 << 21
"""Elements times threads of a buffer up to which they are."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The sequential results, and which of their elements depend on nothing unwritten."""

    results: Mapping[str, Array]
    defined: Mapping[str, Array]


def integers(proc: Proc, sizes: Mapping[str, int], seed: int) -> dict[str, int | float | Array]:
    """Arguments of small integers: sums are exact in any order, and elements of f32 tensors are all different."""
    random = np.random.default_rng(seed)
    args: dict[str, int | float | Array] = {}
    for arg in proc.args:
        match arg:
            case SizeArg(name):
                args[name] = sizes[name]
            case ScalarArg(name):
                args[name] = int(random.integers(1, 5))
            case TensorArg(name, dtype, shape):
                extents = tuple(evaluate(e, sizes) for e in shape)
                count = int(np.prod(extents))
                if dtype in (Scalar.F32, Scalar.F64, Scalar.I32) and count < 2000:
                    values = random.permutation(count) + 1
                else:
                    values = random.integers(0 if dtype is Scalar.U8 else -3, 4, count)
                args[name] = values.reshape(extents).astype(storage_dtype(dtype))
    return args


def simulate(
    proc: Proc, sizes: Mapping[str, int], *, schedules: int = len(BENTS), seed: int = 0, watch: bool = True
) -> Outcome:
    """What the first of several schedules that goes wrong ends with, or Agrees. A CTA walks all tasks, or two share
    them, or each has its own, as the kernel and the schedule want it. With `watch`, unordered accesses end a run, too,
    and not only what they do to values."""
    args = integers(proc, sizes, seed)
    reference = _reference(proc, args)
    if isinstance(reference, Undefined):
        return reference
    traces: dict[tuple[int, ...], Trace] = {}
    tasks = tuple(tasks_of(proc, sizes))
    prepared = prepare(proc, args, precise=False)
    context = Context(places(proc, sizes), prepared.scalars, types_of(proc))
    for n in range(schedules):
        random = Random(f"{seed}/{n}")
        shares = _shares(proc, len(tasks), random)
        for share in shares:
            if share not in traces:
                traces[share] = Walk(proc, context, tuple(tasks[i] for i in share)).trace(sizes)
        wrong = _run(proc, context, prepared, [traces[s] for s in shares], n, random, reference, watch)
        if wrong is not None:
            return wrong
    return Agrees(schedules)


def _reference(proc: Proc, args: Arguments) -> Reference | Undefined:
    try:
        one, other = (interpret(proc, args, fill=fill) for fill in FILLS)
    except InterpError as error:
        return Undefined(str(error))
    names = written_tensors(proc)
    return Reference(one, {n: (one[n] == other[n]) | ((one[n] != one[n]) & (other[n] != other[n])) for n in names})


def _shares(proc: Proc, tasks: int, random: Random) -> list[tuple[int, ...]]:
    """Which tasks each CTA walks, in order."""
    if not tasks:
        return []
    if not proc.block.persistent:
        return [(n,) for n in range(tasks)]
    ctas = random.choice((1, 1, min(2, tasks)))
    return [tuple(range(c, tasks, ctas)) for c in range(ctas)]


def _run(
    proc: Proc,
    context: Context,
    prepared: Prepared,
    traces: list[Trace],
    number: int,
    random: Random,
    reference: Reference,
    watch: bool,
) -> Outcome | None:
    bent, threads = BENTS[number % len(BENTS)], proc.block.threads * proc.block.cluster
    total = threads * len(traces)
    monitor = Monitor(total, proc.block.threads, proc.block.cluster) if watch and 0 < total <= MOST_WATCHED else None
    tensors = {
        name: _watched(Contents.of(place, total, prepared.buffers[name].data.copy()), reference, total)
        for name, place in context.places.items()
        if isinstance(place.memory, Gmem)
    }
    clusters = [
        Cluster(
            trace,
            Memory(tensors | _local(context, threads, reference, total), n * threads, monitor),
            proc.block.threads,
            Barriers(proc, n * threads, monitor),
            random,
            bent.hold,
        )
        for n, trace in enumerate(traces)
    ]
    if clusters:
        try:
            with np.errstate(all="ignore"):
                Scheduler(clusters, bent, random).run()
        except Violation as violation:
            return violation.outcome
    return _compared(context, tensors, reference)


def _local(context: Context, threads: int, reference: Reference, total: int) -> dict[str, Contents]:
    local = (p for p in context.places.values() if not isinstance(p.memory, Gmem))
    found = {p.name: _watched(Contents.of(p, threads), reference, total) for p in local}
    first: dict[str, Contents] = {}
    for mark, contents in enumerate(found.values()):
        if contents.place.cells is not None:
            of_pool = first.setdefault(contents.place.cells.pool, contents)
            if of_pool is contents:
                contents.owner = np.full(contents.place.cells.size, -1)
            contents.owner, contents.shadow, contents.mark = of_pool.owner, of_pool.shadow, mark
    return found


def _watched(contents: Contents, reference: Reference, threads: int) -> Contents:
    """With an account of its accesses, if several threads can reach it, something writes it, and it is small."""
    place = contents.place
    written = isinstance(place.memory, Smem) or place.name in reference.defined
    if place.span == 0 and written and threads <= MOST_WATCHED and threads * place.total <= MOST_CELLS:
        contents.shadow = Shadow.of(place, threads)
    return contents


def _compared(context: Context, tensors: Mapping[str, Contents], reference: Reference) -> WrongValue | None:
    for name, defined in reference.defined.items():
        place = context.places[name]
        want = reference.results[name].astype(np.float64)
        got = tensors[name].data.reshape(place.shape).astype(np.float64)
        off = defined & ~np.isclose(got, want, rtol=1e-4, atol=1e-6, equal_nan=True)
        if off.any():
            index = tuple(int(i) for i in np.argwhere(off)[0])
            return WrongValue(name, index, float(got[index]), float(want[index]))
    return None
