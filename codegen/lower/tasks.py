"""Tasks: which one a CTA or cluster runs, decoded from its number, and the persistent walk."""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.codegen.cuda.tree import Apply, Binary, Declare, Expr, IntLit, Loop, Name, Node, Set
from exogpu.codegen.lower.index import Indices
from exogpu.codegen.lower.team import add, quotient
from exogpu.ir.index import Bin
from exogpu.ir.proc import Launch
from exogpu.ir.stmt import For

TASK = Name("task")
ORDINAL = Name("ordinal")
"""Which task of this CTA it is, from 0, in a persistent walk."""
BLOCK = Name("blockIdx.x")
GRID = Name("gridDim.x")


def task_loop(
    indices: Indices, block: Launch, loops: Sequence[For], body: tuple[Node, ...], numbered: bool
) -> list[Node]:
    """The body for the CTA's task or tasks; `loops` is the nest of task loops, outermost first. `numbered`: the body
    asks for the ordinal of the task."""
    counts = [Name(f"{loop.var}_tasks") for loop in loops]
    sizes = [indices.expr(Bin("-", loop.hi, loop.lo)) for loop in loops]
    head: list[Node] = [Declare("const int", name, size) for name, size in zip(counts, sizes, strict=True)]
    offsets = [indices.expr(loop.lo) for loop in loops]
    decoded = decode(TASK, [Name(loop.var, user=True) for loop in loops], counts, offsets, block.raster)
    first, step = (quotient(place, block.cluster) for place in (BLOCK, GRID))
    if not block.persistent:
        return [*head, Declare("const int", TASK, first), *decoded, *body]
    total: Expr = counts[0]
    for count in counts[1:]:
        total = Binary("*", total, count)
    tasks = Name("tasks")
    head.append(Declare("const int", tasks, total))
    if numbered:
        head.append(Declare("int", ORDINAL, IntLit(0)))
        body = (*body, Set(ORDINAL, "+=", IntLit(1)))
    return [*head, Loop(TASK, first, tasks, step, (*decoded, *body), 1)]


def decode(
    task: Name, names: Sequence[Name], counts: Sequence[Expr], offsets: Sequence[Expr], raster: int
) -> list[Node]:
    """Declarations of the task coordinates. With a raster group g > 1 the first coordinate runs fastest inside groups
    of g (the last group may be smaller), then the last coordinate, and so on; otherwise the order is row-major."""
    if raster == 1 or len(names) == 1:
        return _row_major(task, names, counts, offsets)
    group, first, height, inside, rest = (
        Name(f"{task.text}_{part}") for part in ("group", "first", "height", "inside", "rest")
    )
    size: Expr = Apply("min", (IntLit(raster), counts[0]))
    for count in counts[1:]:
        size = Binary("*", size, count)
    left = Binary("-", counts[0], first)
    return [
        Declare("const int", group, size),
        Declare("const int", first, Binary("*", Binary("/", task, group), IntLit(raster))),
        Declare("const int", height, Apply("min", (IntLit(raster), left))),
        Declare("const int", inside, Binary("%", task, group)),
        Declare("const int", names[0], add(Binary("+", first, Binary("%", inside, height)), offsets[0])),
        Declare("const int", rest, Binary("/", inside, height)),
        *_row_major(rest, names[1:], counts[1:], offsets[1:]),
    ]


def _row_major(task: Name, names: Sequence[Name], counts: Sequence[Expr], offsets: Sequence[Expr]) -> list[Node]:
    nodes: list[Node] = []
    left: Expr = task
    for i in range(len(names) - 1, 0, -1):
        nodes.append(Declare("const int", names[i], add(Binary("%", left, counts[i]), offsets[i])))
        quotient = Binary("/", left, counts[i])
        if i == 1:
            left = quotient
        else:
            nodes.append(Declare("const int", name := Name(f"{task.text}_{i}"), quotient))
            left = name
    return [*nodes, Declare("const int", names[0], add(left, offsets[0]))]
