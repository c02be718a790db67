"""The events of a thread: executions of operations, with their operands as numbers."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.operations import Operation
from exogpu.ir.skeleton.tree import Elect
from exogpu.verify.explore.storage import Space

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an event whatever the others do."""

    rule: str
    message: str
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The cells of a reference, as cells of its space: one set for all threads of a class, or one for each."""

    ref: Ref
    space: Space
    cells: int | tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One execution of an operation, or of an election, at which lanes of a warp meet. `barriers`: the mbarriers or
    flags that it names, as (CTA, name, cell), the first of them in words `shown`; `number`: its parity, bytes, barrier
    id or flag value; `windows`: the memory that it names, what is written first."""

    op: Operation | Elect
    path: Path
    iteration: tuple[tuple[str, int], ...]
    barriers: tuple[tuple[int, str, int], ...] = ()
    shown: str = ""
    number: int = 0
    windows: tuple[Window, ...] = ()
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Events of a class of threads `lanes` (numbers inside the role); `exits`: by an exit statement."""

    lanes: tuple[int, ...]
    events: tuple[Event, ...]
    exits: bool
