"""Counterexamples in the user's words: actors, iterations, slots, phases, and the replayed interleaving."""

from __future__ import annotations

from collections.abc import Mapping

from exogpu.ir.collective import WARP
from exogpu.ir.instr import Mode
from exogpu.ir.types import Smem
from exogpu.verify.concrete import Env, Occurrence, Unrolling
from exogpu.verify.declared import CTA_ROLE
from exogpu.verify.endings import CutOff, Delay, Early, Ending, Finished, Reached, Stuck
from exogpu.verify.instance import LANE
from exogpu.verify.machine import Machine
from exogpu.verify.program import (
    TASK,
    TASKS,
    ArriveAction,
    AwaitAction,
    Exec,
    LoopKind,
    Program,
    TxOn,
)
from exogpu.verify.result import Counterexample, Step
from exogpu.verify.walk import coordinates, decided, is_named

STEPS = 24
"""Most steps shown; earlier ones are left out."""


def actor(program: Program, item: Occurrence, thread: int | None = None) -> str:
    """`role warp w` or `role warp w lane l`, counted from the CTA's first thread, after the CTA of a cluster."""
    cta, t = divmod(item.first if thread is None else thread, program.threads)
    role = "" if item.event.role == CTA_ROLE else f"{item.event.role} "
    warp = f"{f'CTA {cta} ' if program.cluster > 1 else ''}{role}warp {t // WARP}"
    if item.event.exec is Exec.WARPS or (item.event.exec is Exec.TOGETHER and item.width % WARP == 0):
        return warp
    return f"{warp} lane {t % WARP}"


def iteration(item: Occurrence) -> tuple[tuple[str, int], ...]:
    """Values of the sequential loops, the task first."""
    names = [loop.var for loop in item.event.loops if loop.kind is not LoopKind.THREADS]
    return tuple(("task" if n == TASK else n, item.env[n]) for n in names)


def place(program: Program, item: Occurrence) -> str:
    """`statement by actor, at k = 3`."""
    where = ", ".join(f"{n} = {v}" for n, v in iteration(item))
    return f"{item.event.label} (line {item.event.span.line}) by {actor(program, item)}" + (
        f", {where}" if where else ""
    )


def arguments(sizes: Env) -> tuple[tuple[str, int], ...]:
    """Size arguments and unknown numbers."""
    return tuple((n, v) for n, v in sizes.items() if n != TASKS)


def shown_sizes(program: Program, sizes: Env) -> tuple[tuple[str, int], ...]:
    """Size arguments, the number of tasks of the CTA, and which these are, if that is known: a model may also have
    values for places that are none of the walk."""
    walk = decided(program, sizes, {}) if coordinates(program) else {}
    tasks = ((f"{name} of task {place}", value) for place, task in sorted(walk.items()) for name, value in task.items())
    others = ((n, v) for n, v in arguments(sizes) if not is_named(program, n))
    return (*others, ("tasks of the CTA", sizes[TASKS]), *tasks)


def slots(u: Unrolling, item: Occurrence, only: str | None = None) -> tuple[tuple[str, str], ...]:
    """Ring slots (of the buffer `only`) and phases that an occurrence uses."""
    out: list[tuple[str, str]] = []
    for access in item.event.accesses:
        buffer = u.program.buffers[access.buffer]
        if (
            only in (None, buffer.name)
            and isinstance(buffer.memory, Smem)
            and buffer.memory.ring > 1
            and buffer.alloc is not None
        ):
            n = u.executions(buffer.alloc, item) - 1
            out.append((f"{buffer.name} of {item.event.label}", f"slot {n % buffer.memory.ring}, use {n}"))
    match item.event.action, item.event.completion:
        case (ArriveAction(name) | AwaitAction(name), _) | (_, TxOn(name)):
            phase, ring = u.number_at(item), u.program.barriers[name].ring
            where = f"phase {phase} of {name}, slot {phase % ring}, parity {phase // ring & 1}"
            where = f"generation {phase} of {name}" if u.program.barriers[name].named else where
            out.append((f"{item.event.label} (line {item.event.span.line})", where))
        case _:
            pass
    return tuple(out)


def race(
    u: Unrolling,
    x: Occurrence,
    y: Occurrence,
    *,
    common: tuple[str, str] | None = None,
    lacking: str | None = None,
    minimal: bool = True,
) -> Counterexample:
    """Two unordered occurrences: the machine is asked to perform y while x is outstanding.

    `common`: the buffer and the elements that both touch. `lacking`: some path orders the two, but none as this says
    ("through a fence"), which no interleaving shows.
    """
    facts = [("first", place(u.program, x)), ("second", place(u.program, y))]
    only = common[0] if common is not None else None
    facts += [*slots(u, x, only), *slots(u, y, only)]
    if common is not None:
        facts += [("elements", common[1]), ("effect", _effect(u, x, y, common[0]))]
    searched = "exhaustive search of the happens-before graph at these sizes finds no path"
    if lacking is not None:
        shown = (_step(u, x, "first access"), _step(u, y, "second access"))
        sizes = shown_sizes(u.program, u.sizes)
        return Counterexample(sizes, tuple(facts), shown, f"{searched} {lacking}", minimal)
    machine = Machine(u, Delay(x, y))
    ending = machine.run()
    steps = _steps(u, machine, {x.first} if y.event.exec is Exec.TOGETHER else {x.first, y.first})
    match ending:
        case Reached():
            steps = (*steps, _step(u, y, "is performed"), _step(u, x, "is still outstanding"))
            searched += "; the machine performs the second access before the first is done"
        case Early(index, thread, reason):
            steps = (*steps, _step(u, u.items[index], reason, thread))
            searched += "; the machine breaks the barrier's phases"
        case Stuck() | Finished() | CutOff():
            steps = (*steps, _step(u, x, "first access, unordered"), _step(u, y, "second access, unordered"))
    return Counterexample(shown_sizes(u.program, u.sizes), tuple(facts), steps, searched, minimal)


def _effect(u: Unrolling, x: Occurrence, y: Occurrence, name: str) -> str:
    """Which data the wrong order leaves behind."""
    alloc = u.program.buffers[name].alloc

    def use(item: Occurrence) -> str:
        if alloc is None:
            return item.event.label
        where = ", ".join(f"{n} = {v}" for n, v in iteration(item))
        return f"{item.event.label} ({where})" if where else item.event.label

    reads = [any(a.buffer == name and a.mode is Mode.READ for a in o.event.accesses) for o in (x, y)]
    writes = [any(a.buffer == name and a.mode is not Mode.READ for a in o.event.accesses) for o in (x, y)]
    if writes[0] and reads[1]:
        return f"{use(y)} can read what {name} held before {use(x)} wrote it"
    if reads[0] and writes[1]:
        return f"{use(x)} can read the data of {use(y)} instead of its own"
    return f"{name} can keep the data of {use(x)} where {use(y)} should be the last writer"


def run_to_failure(
    u: Unrolling, delay: Delay | None = None, eager: frozenset[int] = frozenset()
) -> tuple[Machine, Ending]:
    """Runs the machine, `eager` threads first; `Finished` or `CutOff`: this schedule shows nothing wrong."""
    machine = Machine(u, delay, eager)
    return machine, machine.run()


def failure(u: Unrolling, machine: Machine, ending: Stuck | Early, *, minimal: bool = True) -> Counterexample:
    """A deadlock or a broken phase that the machine ran into."""
    match ending:
        case Stuck(blocked):
            facts = tuple(
                (f"blocked {n}", f"{actor(u.program, u.items[i], t)} at line {u.items[i].event.span.line}: {why}")
                for n, (t, i, why) in enumerate(_one_per_statement(u, blocked))
            )
            threads = {t for t, _, _ in _one_per_statement(u, blocked)}
            replay = "the machine runs into a state in which no thread can move"
            extra: tuple[Step, ...] = tuple(
                _step(u, u.items[i], why, t) for t, i, why in _one_per_statement(u, blocked)
            )
        case Early(index, thread, reason):
            item = u.items[index]
            facts = (("where", place(u.program, item)), ("what", reason))
            threads = {thread}
            replay = "the machine's barriers leave the program's numbering of phases"
            extra = (_step(u, item, reason, thread),)
    steps = (*_steps(u, machine, threads), *extra)
    return Counterexample(shown_sizes(u.program, u.sizes), facts, steps, replay, minimal)


def single(program: Program, sizes: Env, items: tuple[Occurrence, ...], facts: Mapping[str, str]) -> Counterexample:
    """A statement instance that violates its own obligation, by direct evaluation."""
    shown = [(f"instance {n + 1}" if len(items) > 1 else "instance", _values(program, o)) for n, o in enumerate(items)]
    steps = tuple(Step(actor(program, o), o.event.span, _coordinates(program, o), o.event.label) for o in items)
    return Counterexample(
        shown_sizes(program, sizes),
        (*shown, *facts.items()),
        steps,
        "evaluated at these values without the solver",
        minimal=True,
    )


def _coordinates(program: Program, o: Occurrence) -> tuple[tuple[str, int], ...]:
    """The task by its coordinates, and the sequential loops."""
    task = tuple((t.name, o.env[t.name]) for t in program.tasks if t.name in o.env)
    return (*task, *((n, v) for n, v in iteration(o) if n != "task"))


def _values(program: Program, o: Occurrence) -> str:
    names = [loop.var for loop in o.event.loops if loop.var != TASK] + [t.name for t in program.tasks] + [LANE]
    values = ", ".join(f"{n.lstrip('$')} = {o.env[n]}" for n in names if n in o.env)
    return f"{o.event.label} (line {o.event.span.line})" + (f" with {values}" if values else "")


def _one_per_statement(u: Unrolling, blocked: tuple[tuple[int, int, str], ...]) -> list[tuple[int, int, str]]:
    seen: dict[tuple[int, str], tuple[int, int, str]] = {}
    for t, i, why in blocked:
        seen.setdefault((u.items[i].event.id, why), (t, i, why))
    return list(seen.values())


def _speaks_for(item: Occurrence, thread: int, threads: set[int], named: frozenset[int]) -> bool:
    """One of these threads, or the one that speaks for those of them that do not speak for themselves."""
    together = item.event.exec is Exec.TOGETHER
    silent = threads.intersection(item.threads) - (set() if together else named)
    return (thread in threads and not together) or (thread == item.first and bool(silent))


def _step(u: Unrolling, item: Occurrence, text: str, thread: int | None = None) -> Step:
    return Step(actor(u.program, item, thread), item.event.span, iteration(item), f"{item.event.label}: {text}")


def _steps(u: Unrolling, machine: Machine, threads: set[int]) -> tuple[Step, ...]:
    """The last steps of the run by these threads, and those that ended a phase of a barrier; where there is room, what
    else others did with barriers, the last of those who did the same."""
    told = [(n, m) for n, m in enumerate(machine.log) if "completes" not in m.note]
    main = [n for n, m in told if m.ends or _speaks_for(u.items[m.index], m.thread, threads, machine.named)]
    last = {(m.note, m.state[0][0]): n for n, m in told if m.state}
    rest = sorted(set(last.values()).difference(main))
    room = max(0, STEPS - len(main))
    kept = sorted([*main[-STEPS:], *(rest[-room:] if room else ())])
    out = []
    for moment in (machine.log[n] for n in kept):
        item = u.items[moment.index]
        out.append(
            Step(actor(u.program, item, moment.thread), item.event.span, iteration(item), moment.note, moment.state)
        )
    return tuple(out)
