"""Smaller programs that still show a disagreement: statements are taken out one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from exogpu.ir.proc import Proc, TensorArg
from exogpu.ir.stmt import Block, For, If, Role
from exogpu.ir.uses import barriers, elements
from exogpu.ir.walk import walk
from exogpu.ir.wellformed import check


def shrink(proc: Proc, still: Callable[[Proc], bool]) -> Proc:
    """A kernel from which no statement can be taken so that `still` holds; `still` holds for `proc`."""
    smaller = next((p for p in map(_tidy, _smaller(proc)) if not check(p) and still(p)), None)
    return proc if smaller is None else shrink(smaller, still)


def _smaller(proc: Proc) -> Iterator[Proc]:
    yield from (replace(proc, body=body) for body in _without_one(proc.body))


def _without_one(block: Block) -> Iterator[Block]:
    for n, stmt in enumerate(block):
        before, after = block[:n], block[n + 1 :]
        yield (*before, *after)
        match stmt:
            case For(body=body) | Role(body=body):
                yield from ((*before, replace(stmt, body=inner), *after) for inner in _without_one(body) if inner)
            case If(then=then, orelse=orelse):
                yield (*before, *then, *after)
                yield from ((*before, replace(stmt, then=t), *after) for t in _without_one(then) if t)
                yield from ((*before, replace(stmt, orelse=o), *after) for o in _without_one(orelse))
            case _:
                pass


def _tidy(proc: Proc) -> Proc:
    """Without barriers and tensors that nothing uses."""
    used = {name for stmt in walk(proc.body) for name, _ in barriers(stmt)}
    touched = {name for stmt in walk(proc.body) for name, _, _ in elements(stmt)}
    return replace(
        proc,
        barriers=tuple(b for b in proc.barriers if b.name in used),
        args=tuple(a for a in proc.args if not isinstance(a, TensorArg) or a.name in touched),
    )
