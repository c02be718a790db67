"""The verifier's entry point for sync skeletons."""

from __future__ import annotations

import time
from collections.abc import Iterator

from exogpu.ir.skeleton.operations import Unsupported
from exogpu.ir.skeleton.tree import Elect, For, If, Skeleton, Stmt
from exogpu.verify.axioms import DEFAULT, Policy
from exogpu.verify.result import Report, Status


def verify_skeleton(skeleton: Skeleton, policy: Policy = DEFAULT, *, jobs: int = 1) -> Report:
    """The verdict on a skeleton: what has no model is UNSUPPORTED, and nothing else is proved yet."""
    started = time.perf_counter()
    features = sorted({s.feature for b in skeleton.bodies for s in _walk(b.stmts) if isinstance(s, Unsupported)})
    status, reason = Status.UNKNOWN, "not proved yet"
    if features:
        status, reason = Status.UNSUPPORTED, f"there is no model of {', '.join(features)}"
    return Report(skeleton.name, skeleton.span, status, (), "", time.perf_counter() - started, reason, policy)


def _walk(block: tuple[Stmt, ...]) -> Iterator[Stmt]:
    for stmt in block:
        yield stmt
        match stmt:
            case If(_, then, orelse):
                yield from _walk((*then, *orelse))
            case For(body=body) | Elect(body=body):
                yield from _walk(body)
            case _:
                pass
