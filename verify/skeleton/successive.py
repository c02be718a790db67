"""Lives of mbarriers that the text tells apart: one that ends, and behind it another in its place, of other roles or
with another count.

Each life becomes an array of its own, in the same place; that the one is over when the next begins is shown with their
cells. To which life a statement belongs is read off executions; if it is another one, some use turns out not to come
while its mbarrier exists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Mbarriers, Object
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.ir.skeleton.walk import Path, every_statement, placed, replaced
from exogpu.verify.skeleton.seen import seen

ON_MBARRIERS = op.Init | op.Inval | op.Arrive | op.Expect | op.CopyArrive | op.Await | op.TmaLoad | op.StAsync


def one_by_one(skeleton: Skeleton) -> Skeleton:
    """The skeleton with an array for each life, for those arrays of which each statement belongs to one."""
    lives = _lives(skeleton, {s.barrier.name for s in every_statement(skeleton) if isinstance(s, op.Inval)})
    names: dict[Path, str] = {}
    objects: list[Object] = []
    for item in skeleton.objects:
        objects.append(item)
        if not isinstance(item, Mbarriers) or item.name not in lives:
            continue
        for n, life in enumerate(sorted(set(lives[item.name].values()))[1:], 2):
            name = f"{item.name}#{n}"
            objects.append(replace(item, name=name, count=None, overlay=item.overlay or item.name))
            names |= {path: name for path, its in lives[item.name].items() if its == life}
    if not names:
        return skeleton
    renamed = {
        path: replace(stmt, barrier=replace(stmt.barrier, name=names[path]))
        for path, stmt in placed(skeleton)
        if isinstance(stmt, ON_MBARRIERS) and path in names
    }
    return replace(replaced(skeleton, renamed), objects=tuple(objects))


def _lives(skeleton: Skeleton, ending: set[str]) -> Mapping[str, Mapping[Path, int]]:
    """For each array with several lives the one that each statement belongs to, where all are seen to have one."""
    found: dict[str, dict[Path, set[int]]] = {}
    for path, stmt in placed(skeleton) if ending else ():
        if isinstance(stmt, ON_MBARRIERS) and stmt.barrier.name in ending:
            found.setdefault(stmt.barrier.name, {})[path] = set()
    for observations in seen(skeleton) if found else ():
        for o in observations:
            if o.barrier in found:
                found[o.barrier][o.path].add(o.life)
        if all(lives for paths in found.values() for lives in paths.values()):
            break
    known = {b: {p: next(iter(n)) for p, n in paths.items() if len(n) == 1} for b, paths in found.items()}
    return {b: its for b, its in known.items() if len(its) == len(found[b]) and len(set(its.values())) > 1}
