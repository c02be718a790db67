"""setmaxnreg: the registers of every CTA suffice.

A warp waits in an increase until others have given back enough. When all decreases of its CTA have happened it gets its
registers, if what the warps have in the end is no more than what they were launched with; so it waits for nothing else.
That it does not wait for ever is shown with all waits (`rank`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.tree import Body, Skeleton
from exogpu.source import Span
from exogpu.verify.result import Obligation, Status
from exogpu.verify.skeleton.settle import obligation
from exogpu.verify.skeleton.walk import nested

Problem = tuple[Span, str]


def registers(skeleton: Skeleton) -> Obligation:
    """Whole warpgroups change their registers once, and what some give back is enough for the others (PTX ISA,
    setmaxnreg)."""
    base = obligation("registers", "setmaxnreg.pool", "the registers of every CTA suffice", skeleton.span)
    launched = skeleton.registers
    if launched is None:
        return replace(base, status=Status.UNKNOWN, reason="it is not said how many registers a launch gives")
    problem = next((p for b in skeleton.bodies if (p := _changed(b, launched))), None)
    if problem:
        return replace(base, status=Status.UNKNOWN, span=problem[0], reason=problem[1])
    for cta in range(skeleton.cluster):
        roles = [b for b in skeleton.bodies if cta in b.role.ctas]
        warps = {id(b): -(-b.role.threads // WARP) for b in roles}
        wanted = sum(warps[id(b)] * _last(b, launched) for b in roles)
        if wanted > sum(warps.values()) * launched:
            return replace(base, status=Status.UNKNOWN, reason=f"CTA {cta} has too few registers")
    return base


def _changed(body: Body, launched: int) -> Problem | None:
    """Why a role does not change its registers once, whole warpgroup by whole warpgroup."""
    changes = _changes(body)
    if not changes:
        return None
    change = changes[0]
    if len(changes) > 1:
        return changes[1].span, "registers are changed more than once"
    before = takewhile(lambda s: s is not change, body.stmts)
    if change not in body.stmts or any(isinstance(s, op.Exit) for s, _ in nested((*before,))):
        return change.span, "registers are changed in a loop, under a condition, or where some threads have ended"
    if body.role.first % WARPGROUP or body.role.threads % WARPGROUP:
        return change.span, "registers are changed by a part of a warpgroup"
    more, less = change.registers > launched, change.registers < launched
    wrong = more != change.increases and (more or less)
    return (change.span, "registers are changed in the wrong direction") if wrong else None


def _changes(body: Body) -> list[op.SetMaxnreg]:
    return [s for s, _ in nested(body.stmts) if isinstance(s, op.SetMaxnreg)]


def _last(body: Body, launched: int) -> int:
    return next((s.registers for s in _changes(body)), launched)
