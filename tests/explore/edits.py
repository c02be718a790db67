"""Random edits of skeletons: a statement left out, doubled or moved, a count, parity or depth changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from exogpu.ir.index import Bin, Int
from exogpu.ir.skeleton import operations as ops
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.ir.skeleton.tree import Block, Let, Skeleton, Stmt
from exogpu.ir.skeleton.walk import children, walk, with_blocks


def edited(skeleton: Skeleton, random: Random) -> Skeleton:
    """The skeleton with one edit."""
    if random.random() < 0.2:
        return _other_count(skeleton, random)
    number = random.randrange(len(skeleton.bodies))
    body = skeleton.bodies[number]
    statements = [s for s in walk(body.stmts) if not isinstance(s, Let)]
    if not statements:
        return skeleton
    target = random.choice(statements)
    if random.random() < 0.15:
        place = random.choice(statements)
        without = _rewritten(body.stmts, target, lambda s: ())
        block = body.stmts if place is target else _rewritten(without, place, lambda s: (target, s))
    else:
        block = _rewritten(body.stmts, target, _edit(target, random))
    bodies = (*skeleton.bodies[:number], replace(body, stmts=block), *skeleton.bodies[number + 1 :])
    return replace(skeleton, bodies=bodies)


def _other_count(skeleton: Skeleton, random: Random) -> Skeleton:
    counted = [o for o in skeleton.objects if isinstance(o, Mbarriers) and o.count]
    if not counted:
        return skeleton
    chosen = random.choice(counted)
    assert chosen.count is not None
    other = replace(chosen, count=max(1, chosen.count + random.choice((-1, 1, chosen.count))))
    return replace(skeleton, objects=tuple(other if o is chosen else o for o in skeleton.objects))


def _edit(stmt: Stmt, random: Random) -> Callable[[Stmt], Block]:
    if random.random() < 0.5:
        match stmt:
            case ops.Await():
                return lambda s: (replace(stmt, parity=Bin("+", stmt.parity, Int(1))),)
            case ops.Wait():
                return lambda s: (replace(stmt, pending=stmt.pending + 1),)
            case ops.TmaLoad():
                return lambda s: (replace(stmt, tx=Bin("+", stmt.tx, Int(16))),)
    return (lambda s: ()) if random.random() < 0.7 else (lambda s: (s, s))


def _rewritten(block: Block, target: Stmt, edit: Callable[[Stmt], Block]) -> Block:
    found: list[Stmt] = []
    for stmt in block:
        if stmt is target:
            found += edit(stmt)
        else:
            found.append(with_blocks(stmt, [_rewritten(inner, target, edit) for inner in children(stmt)]))
    return tuple(found)
