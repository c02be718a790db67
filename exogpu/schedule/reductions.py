"""Sums in parts: a loop that adds becomes several that can run side by side, each with a sum of its own."""

from __future__ import annotations

from typing import Literal

from exogpu.ir.index import Var
from exogpu.ir.stmt import For
from exogpu.ir.types import Memory, Rmem
from exogpu.schedule.cursor import Where
from exogpu.schedule.dimensions import expand_dim
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.loops import divide, fission, reorder
from exogpu.schedule.schedule import Schedule
from exogpu.schedule.scopes import lift_alloc
from exogpu.schedule.signature import checked
from exogpu.schedule.stage import Edges, stage
from exogpu.schedule.windows import WindowLike

PRIVATE = Rmem()


@checked
def split_reduction(
    s: Schedule,
    loop: Where,
    parts: int,
    part: WindowLike,
    name: str,
    memory: Memory = PRIVATE,
    *,
    edges: Edges = "perfect",
    names: tuple[str, str] | None = None,
    sums: Literal["added", "kept"] = "added",
) -> Schedule:
    """Cuts a loop of n iterations that adds to a window into `parts` loops: loop p takes the iterations p, p + parts,
    p + 2 parts, ..., and sums them in the buffer `name`.

    Iterations must commute, and the statements do nothing but add to the window, in a type whose sums may be taken in
    another order: results are equal up to reassociation. `sums`: "added" adds each part's sum to the window at its end,
    which parts that run side by side do by atomics or TMA reductions; "kept" keeps the sums in `name[p]`, and a loop
    over the parts adds them up after all parts. `names`: those of the loop inside a part, and of the loop over parts.
    """
    cursor = s.find(loop)
    if not isinstance(cursor.stmt, For):
        raise Refused("schedule.pattern", f"`{cursor}` is not a loop", cursor.stmt.span)
    if parts < 1:
        raise limit(f"a sum has at least one part, not {parts}", cursor.stmt.span)
    inner, outer = names or (f"{cursor.stmt.var}o", f"{cursor.stmt.var}p")
    s = divide(s, cursor, parts, tail="guard", names=(inner, outer))
    steps = s.forward(cursor)
    across = steps.body()
    s = reorder(s, steps)
    s = stage(s, s.forward(steps), part, name, memory, edges=edges, before="zero")
    if sums == "kept":
        each = s.forward(across)
        assert isinstance(each.stmt, For)
        alloc = each.body()[0]
        s = expand_dim(s, alloc, parts, Var(each.stmt.var))
        s = lift_alloc(s, alloc)
        s = fission(s, s.find(f"{name}.store").before)
    return s
