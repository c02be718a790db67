"""What is known wherever a statement is executed: preconditions, ranges of sizes and loops, conditions around it."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.index import Cond, Var
from exogpu.ir.preconditions import known_sizes
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import For, If, Stmt
from exogpu.ir.terms import negated, within
from exogpu.ir.walk import children, index_names, substitute_cond
from exogpu.schedule.paths import Path


def known(proc: Proc, path: Path) -> tuple[Cond, ...]:
    """What holds whenever the statement (or a statement of the block) at `path` is executed."""
    return (*known_sizes(proc), *(fact for stmt, branch in around(proc, path) for fact in _inside(stmt, branch)))


def around(proc: Proc, path: Path) -> Iterator[tuple[Stmt, int]]:
    """The statements around a path, outermost first, each with the number of its block that the path is in."""
    body = proc.body
    for n, branch in zip(path[::2], path[1::2], strict=False):
        stmt = body[n]
        yield stmt, branch
        body = children(stmt)[branch]


def _inside(stmt: Stmt, branch: int) -> Iterator[Cond]:
    match stmt:
        case For(var=var, lo=lo, hi=hi):
            yield within(Var(var), lo, hi)
        case If(cond=cond):
            yield cond if branch == 0 else negated(cond)
        case _:
            return


def primed(name: str) -> Var:
    """The variable of another execution."""
    return Var(f"{name}'")


def again(facts: tuple[Cond, ...], names: tuple[str, ...]) -> tuple[Cond, ...]:
    """What is known of another execution, in which these variables have other values."""
    env = {name: primed(name) for name in names}
    return tuple(substitute_cond(c, env) for c in facts if index_names(c) & set(names))
