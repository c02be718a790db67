"""Where what a schedule makes stands in reports: at the call that made it.

What a source line wrote keeps its place however it is changed. What a step makes has no place yet, and gets that of the
step.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from types import FrameType
from typing import TypeVar

from exogpu.ir.proc import Arg, BarrierDecl, Launch, NamedBarrier, Proc, Require, RoleDecl
from exogpu.ir.stmt import Assign, BarrierRef, Block, InstrCall, Operand, Stmt, Window
from exogpu.ir.value import Value
from exogpu.ir.walk import children, map_value, walk, with_blocks
from exogpu.source import NOWHERE, Span

PACKAGE = __name__.rpartition(".")[0]

Declared = Arg | Require | Launch | RoleDecl | BarrierDecl | NamedBarrier
Node = TypeVar("Node", bound=Stmt | Value | Window | BarrierRef | Declared)


def caller() -> Span:
    """The call in the code of the user, whatever is no part of this package, that led here."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _ours(frame):
        frame = frame.f_back
    code = frame.f_code
    line, end_line, col, end_col = next(islice(code.co_positions(), frame.f_lasti // 2, None))
    here = line or frame.f_lineno
    ends = end_line or here
    file = code.co_filename
    return Span(file, here, _column(file, here, col or 0), ends, _column(file, ends, end_col or 0))


def _column(file: str, line: int, byte: int) -> int:
    """The column in characters of a byte of a line, which Python counts."""
    return len(linecache.getline(file, line).encode()[:byte].decode())


def _ours(frame: FrameType) -> bool:
    return f"{frame.f_globals.get('__name__')}.".startswith(f"{PACKAGE}.")


def placed(before: Proc, after: Proc, at: Span) -> Proc:
    """The procedure `after` with a place for everything that has none; what `before` has already stays as it is."""
    old = {id(stmt) for stmt in walk(before.body)}
    return replace(
        after,
        args=_at(after.args, at),
        requires=_at(after.requires, at),
        block=_here(replace(after.block, roles=_at(after.block.roles, at)), at),
        barriers=_at(after.barriers, at),
        named=_at(after.named, at),
        body=_block(after.body, old, at),
    )


def _block(block: Block, old: set[int], at: Span) -> Block:
    return tuple(stmt if id(stmt) in old else _stmt(stmt, old, at) for stmt in block)


def _stmt(stmt: Stmt, old: set[int], at: Span) -> Stmt:
    here = _here(stmt, at)
    match here:
        case Assign():
            return replace(here, rhs=map_value(here.rhs, lambda value: _here(value, at)))
        case InstrCall():
            return replace(here, operands=tuple((name, _operand(operand, at)) for name, operand in here.operands))
        case _:
            return with_blocks(here, tuple(_block(inner, old, at) for inner in children(here)))


def _operand(operand: Operand, at: Span) -> Operand:
    return _here(operand, at) if isinstance(operand, Window | BarrierRef) else operand


def _at(nodes: Iterable[Node], at: Span) -> tuple[Node, ...]:
    return tuple(_here(node, at) for node in nodes)


def _here(node: Node, at: Span) -> Node:
    return replace(node, span=at) if node.span == NOWHERE else node
