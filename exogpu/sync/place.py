"""Where statements go that concern what is inside a loop, but stand behind it."""

from __future__ import annotations

from exogpu.ir.stmt import For, Role, Stmt, Threads
from exogpu.ir.walk import children
from exogpu.sync.nodes import Node, is_serial
from exogpu.sync.plan import Plan, around, before, behind, same_header


def afterwards(found: list[Node], stmt: Stmt, wrappers: tuple[Stmt, ...], rank: int, *stmts: Stmt) -> Plan:
    """Statements behind another one, in copies of loops and roles: at the front of the next statement if that gives its
    body to the same role already."""
    home = next(n for n in found if n.stmt is stmt)
    at = next(n for n, s in enumerate(home.block) if s is stmt)
    following = home.block[at + 1] if at + 1 < len(home.block) else None
    entered = 0
    last_role = max((n for n, p in enumerate(wrappers) if isinstance(p, Role)), default=-1)
    while following is not None and entered <= last_role and same_threads(wrappers[entered], following):
        following = children(following)[0][0]
        entered += 1
    if following is not None and entered and entered == last_role + 1:
        return before(following, rank - 10, *around(wrappers[entered:], *stmts))
    return behind(stmt, rank, *around(wrappers, *stmts))


def wrappers_of(node: Node, outer: Stmt) -> tuple[Stmt, ...]:
    """The roles and loops over threads between an enclosing statement and a node."""
    return tuple(p for p in node.within(outer)[:-1] if not is_serial(p))


def same_threads(a: Stmt, b: Stmt) -> bool:
    """Both give their bodies to the same threads, whatever the loop variables are called."""
    match a, b:
        case For(), For():
            return isinstance(a.mode, Threads) and (a.lo, a.hi, a.mode) == (b.lo, b.hi, b.mode)
        case _:
            return same_header(a, b)
