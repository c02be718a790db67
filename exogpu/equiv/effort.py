"""How long the interpreter would take for a procedure, about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exogpu.ir.interp.dependence import Order
from exogpu.ir.interp.plan import Guard, Loop, Node, plan
from exogpu.ir.proc import Proc

ITERATION = 1000
"""What one iteration of a loop that runs in order costs besides: as many elements are handled at once in that time."""


def effort(proc: Proc, sizes: Mapping[str, int]) -> int:
    """The elements that a run handles at these sizes, and the iterations that it runs in order, in elements."""
    return _block(plan(proc, sizes))


def _block(nodes: Iterable[Node]) -> int:
    return sum(map(_node, nodes))


def _node(node: Node) -> int:
    match node:
        case Loop(trips=trips, order=order, body=body):
            return trips * (_block(body) + (ITERATION if order is Order.SERIAL else 0))
        case Guard(_, then, orelse):
            return _block(then) + _block(orelse)
        case _:
            return 1
