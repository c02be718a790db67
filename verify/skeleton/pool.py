"""setmaxnreg: the registers of every CTA suffice, and who gives some back does not wait for who gets them.

A warp waits in an increase until others have given back enough. Suppose that all decreases happen. Then every increase
gets its registers, if what the warps have in the end is no more than what they were launched with; so nothing waits
longer than it would without registers, and that every such wait ends is shown elsewhere (deadlock.cycle).

That all decreases happen is shown by a beginning of every role, without increases, that contains its decrease. In it
threads wait for a barrier of the whole CTA or cluster only, and all others come to that barrier in their beginnings,
too. So what happens in the beginnings depends on nothing but them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.linear import literal
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.tree import Body, Skeleton, Stmt
from exogpu.source import Span
from exogpu.verify.result import Obligation, Status
from exogpu.verify.skeleton.settle import obligation
from exogpu.verify.skeleton.walk import nested

Problem = tuple[Span, str]

CLUSTER = -1
"""The cluster's barrier, among those of the CTAs by their numbers."""
WAITING = op.Await | op.BarSync | op.WarpSync | op.ClusterArrive | op.ClusterWait | op.Spin | op.Exit
"""What may keep a thread waiting for others, end it, or count at a barrier for whole CTAs."""


def registers(skeleton: Skeleton) -> Obligation:
    """Whole warpgroups change their registers once; what some give back is enough for the others, and not given back
    only when those have got theirs (PTX ISA, setmaxnreg)."""
    base = obligation("registers", "setmaxnreg.pool", "the registers of every CTA suffice", skeleton.span)
    launched = skeleton.registers
    if launched is None:
        return replace(base, status=Status.UNKNOWN, reason="it is not said how many registers a launch gives")
    problem = next((p for b in skeleton.bodies if (p := _changed(b, launched))), None) or _kept(skeleton)
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


# -- decreases do not depend on increases ------------------------------------------------------------------------------


def _kept(skeleton: Skeleton) -> Problem | None:
    """What may keep a decrease waiting for an increase; beginnings grow until none waits for more of another."""
    needed = Counter[int]()
    while True:
        more = Counter(needed)
        for body in skeleton.bodies:
            beginning, complete = _beginning(body, needed)
            problem = next((p for s in beginning for p in _dependent(s)), None)
            if problem:
                return problem
            if not complete:
                return body.role.span, "it does not come to a barrier that is passed before registers are given back"
            for barrier, times in _waited(beginning, body).items():
                more[barrier] = max(more[barrier], times)
        if more == needed:
            return None
        needed = more


def _beginning(body: Body, needed: Counter[int]) -> tuple[list[Stmt], bool]:
    """The shortest beginning of a role that contains its decrease and comes to each barrier as often as needed; whether
    there is one."""
    gives = any(not s.increases for s in _changes(body))
    left = Counter({b: needed[b] for b in (CLUSTER, *body.role.ctas)})
    out: list[Stmt] = []
    for stmt in body.stmts:
        if not gives and not +left:
            break
        out.append(stmt)
        gives = gives and not isinstance(stmt, op.SetMaxnreg)
        left.subtract(_met(stmt, body))
    return out, not gives and not +left


def _met(stmt: Stmt, body: Body) -> tuple[int, ...]:
    """The barriers for whole CTAs at which a statement counts."""
    if isinstance(stmt, op.ClusterArrive):
        return (CLUSTER,)
    return body.role.ctas if _whole(stmt) else ()


def _whole(stmt: Stmt) -> bool:
    return isinstance(stmt, op.BarSync) and stmt.count is None and stmt.waits and literal(stmt.id) == 0


def _waited(beginning: list[Stmt], body: Body) -> Counter[int]:
    """How often all others must have come to each barrier, for what a beginning waits for."""
    met = Counter(b for s in beginning for b in _met(s, body))
    waits = sum(isinstance(s, op.ClusterWait) for s in beginning)
    met[CLUSTER] = max(met[CLUSTER], waits) if waits else 0
    return met


def _dependent(stmt: Stmt) -> Iterator[Problem]:
    """What a beginning must not contain: waits for registers or for some threads only, or barriers in loops or under
    conditions."""
    for s, _ in nested((stmt,)):
        top = s is stmt
        match s:
            case op.SetMaxnreg(increases=True):
                yield s.span, "registers are waited for before a barrier that others pass before they give theirs back"
            case op.ClusterArrive() | op.ClusterWait() | op.WarpSync() if top:
                pass
            case op.BarSync() if (top and _whole(s)) or (not s.waits and literal(s.id) not in (None, 0)):
                pass
            case _ if isinstance(s, WAITING):
                yield s.span, "before registers are given back, this may wait for a thread that waits for registers"
