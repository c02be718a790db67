"""When a cp.async has landed for the threads that await an mbarrier (PTX ISA, cp.async.mbarrier.arrive).

Its thread's arrive can wait for it, or the phase can be held open until it has landed. Either covers all copies that
the thread has issued before, and publishes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.smt.index import to_poly
from exogpu.smt.poly import Poly, lift
from exogpu.smt.terms import Formula
from exogpu.verify.instance import LANE, Instance, Model
from exogpu.verify.phases import Phases, arrives, copies, executors, own_channels, signalled_by
from exogpu.verify.program import TASK, ArriveAction, AwaitAction, Event, Exec, LoopKind, TxOn


def landed(phases: Phases, x: Instance, node: Instance) -> Formula:
    """The await `node` returns only when the copy `x` has landed."""
    ctx = phases.model.ctx
    if not isinstance(node.event.action, AwaitAction):
        return ctx.api.literal(False)
    barrier = node.event.action.barrier
    ways = [*_by_arrive(phases, x, node, barrier), *_behind(phases, x, node, barrier)]
    return ctx.api.conj((ctx.eq(phases.own_cta(x), phases.own_cta(node)), ctx.api.disj(ways)))


def _by_arrive(phases: Phases, x: Instance, node: Instance, barrier: str) -> Iterator[Formula]:
    """All arrives of x's thread wait for its copies, and the next one is for the awaited phase or an earlier one. Units
    that take turns count arrives that are not theirs, so theirs may come later."""
    program = phases.program
    mine = signalled_by(program, own_channels(program, x.event), arrives(program, barrier))
    waiting = (isinstance(e.action, ArriveAction) and e.action.after_copies and e.selection is None for e in mine)
    if mine and all(waiting) and all(e.numbering is None for e in mine):
        yield phases.model.ctx.le(phases.next_arrive(x, barrier), phases.phase(node))


def _behind(phases: Phases, x: Instance, node: Instance, barrier: str) -> Iterator[Formula]:
    """A hold behind x, or an arrive that waits for copies, in the same iteration of its loops, is for the awaited phase
    or an earlier one in its slot."""
    program, ctx = phases.program, phases.model.ctx
    copying = executors(program, x.event)
    for statement in (*copies(program, barrier), *arrives(program, barrier)):
        if not _waits_for_copies(statement) or not copying <= executors(program, statement):
            continue
        behind = _same_iteration(phases.model, statement, x)
        if behind is not None:
            follows = (
                behind.domain,
                phases.model.before(x, behind),
                phases.model.same_thread(x.threads, behind.threads),
            )
            yield ctx.api.conj((*follows, phases.ends_after(behind, node, barrier)))


def _waits_for_copies(event: Event) -> bool:
    if isinstance(event.completion, TxOn):
        return event.completion.holds
    return isinstance(event.action, ArriveAction) and event.action.after_copies


def _same_iteration(model: Model, statement: Event, x: Instance) -> Instance | None:
    """The execution of a statement of one thread, by x's thread, in x's iteration of the loops around it."""
    env: dict[str, Poly] = dict(model.sizes)
    for loop in statement.loops:
        if loop.var in x.env:
            env[loop.var] = x.env[loop.var]
        elif loop.kind is LoopKind.THREADS:
            base = to_poly(model.ctx, loop.base, env) if loop.base is not None else lift(0)
            env[loop.var] = model.ctx.floordiv(x.threads.first - base, loop.unit)
        else:
            return None
    if TASK in env:
        env |= {t.name: x.env[t.name] for t in model.program.tasks}
    if statement.exec is Exec.EACH and statement.size > 1:
        env[LANE] = x.threads.first - to_poly(model.ctx, statement.first, env)
    return model.at(statement, env)
