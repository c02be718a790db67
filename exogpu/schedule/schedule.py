"""Schedules: the procedure at hand, the one it started from, and every step between with what was proved for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import Any

from exogpu.diagnostics import BadInput
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.ir.substitute import declared
from exogpu.ir.wellformed import check
from exogpu.schedule.cursor import Cursor, Gap, Where, choose
from exogpu.schedule.errors import Refused
from exogpu.schedule.origin import caller
from exogpu.schedule.paths import Edit, Path
from exogpu.schedule.patterns import parse
from exogpu.schedule.proving import Prover
from exogpu.schedule.signature import check_arguments, checked


@dataclass(frozen=True, slots=True)
class Obligation:
    """A side condition that was proved, in words, and the seconds that it took; `query` is the SHA-256 of the query."""

    text: str
    seconds: float
    query: str


@dataclass(frozen=True, slots=True)
class Step:
    """One application of an operator. `reassociated`: additions to one element happen in another order afterwards, so
    results are equal up to reassociation. `labels`: names that it gave, with the place and the number of statements."""

    operator: str
    arguments: tuple[str, ...]
    obligations: tuple[Obligation, ...]
    reassociated: bool
    proc: Proc
    edits: tuple[Edit, ...]
    labels: tuple[tuple[str, Path, int], ...]
    again: Callable[[Schedule], Schedule]

    @property
    def call(self) -> str:
        """The operator and its arguments on one line."""
        return f"{self.operator}({', '.join(self.arguments)})"

    def __str__(self) -> str:
        return self.call

    @property
    def seconds(self) -> float:
        """Seconds that its proofs took."""
        return sum(o.seconds for o in self.obligations)


@dataclass(frozen=True, slots=True, repr=False)
class Schedule:
    """A procedure and how it was derived; `prover` proves what further steps need."""

    original: Proc
    steps: tuple[Step, ...] = ()
    prover: Prover = field(default_factory=Prover, compare=False)

    def __repr__(self) -> str:
        """Short, for interactive use: the fields of a long derivation are half a megabyte."""
        return f"<schedule of {self.proc.name}: {len(self.steps)} steps>"

    @property
    def proc(self) -> Proc:
        """The procedure after all steps; its annotations may not be complete yet."""
        return self.version(len(self.steps))

    @property
    def kernel(self) -> Proc:
        """The procedure as a kernel to verify and compile; BadInput with what it still lacks."""
        found = check(self.proc)
        if found:
            raise BadInput(found)
        return self.proc

    @property
    def reassociated(self) -> bool:
        """Results equal the original's up to reassociation of sums; else they are the same numbers (-0 is 0)."""
        return any(step.reassociated for step in self.steps)

    def version(self, n: int) -> Proc:
        """The procedure after n steps."""
        return self.original if n == 0 else self.steps[n - 1].proc

    @checked
    def find(self, where: Where) -> Cursor:
        """The statements that a label or a pattern names, or where a cursor's are now."""
        if isinstance(where, Cursor):
            return self.forward(where)
        for n, step in reversed([*enumerate(self.steps, 1)]):
            for name, path, count in step.labels:
                if name == where:
                    self._only_a_label(name)
                    return self.forward(Cursor(step.proc, n, path, count))
        return choose(self.proc, len(self.steps), parse(where))

    def _only_a_label(self, name: str) -> None:
        """Refuses a label that a later step has made the name of something else, too."""
        if name in declared(self.proc.body):
            found = choose(self.proc, len(self.steps), parse(name))
            help = f"for that write a whole statement as a pattern, as in `for {name} in _: _` or `{name}: _`"
            raise Refused(
                "schedule.pattern", f"`{name}` is a label, and the name of `{found}`", found.stmt.span, help=help
            )

    @checked
    def forward(self, cursor: Cursor) -> Cursor:
        """Where a cursor's statements are now, with what was put between them; Refused if they are gone, or no longer
        in one block."""
        if cursor.version > len(self.steps) or self.version(cursor.version) != cursor.proc:
            raise Refused("schedule.cursor", f"`{cursor}` belongs to another schedule", cursor.stmt.span)
        block, start = cursor.path[:-1], cursor.path[-1]
        paths: list[Path | None] = [(*block, n) for n in range(start, start + cursor.count)]
        for step in self.steps[cursor.version :]:
            paths = [_through(step.edits, path) for path in paths]
            if not _together(paths):
                text = f"what the cursor pointed at is gone since `{step.call}`"
                raise Refused("schedule.cursor", text, cursor.stmt.span, notes=(f"it was `{cursor}`",))
        depth = len(paths[0] or ())
        places = sorted(path[:depth] for path in paths if path is not None)
        return Cursor(self.proc, len(self.steps), places[0], places[-1][-1] - places[0][-1] + 1)

    def show(self) -> str:
        """The code as it is now."""
        return code(self.proc)

    def diff(self, other: Schedule) -> str:
        """The changes of the code from this schedule to another one."""
        old, new = self.show().splitlines(), other.show().splitlines()
        return "\n".join(unified_diff(old, new, self.proc.name, other.proc.name, lineterm="", n=2))

    @checked
    def replay(self, proc: Proc | None = None) -> Schedule:
        """The same steps applied and proved again, on the original or on another procedure."""
        fresh = Schedule(self.original if proc is None else proc)
        for step in self.steps:
            fresh = step.again(fresh)
        return fresh


def schedule(proc: Proc) -> Schedule:
    """The start of a schedule. What is derived stands in reports where its schedule starts; its statements stand where
    they were written, and those that a step made where that step is called."""
    check_arguments(schedule, proc)
    return Schedule(replace(proc, span=caller()))


def code(proc: Proc) -> str:
    """The text of a procedure, without imports."""
    text = to_source(proc)
    return text[text.index("\n@") + 1 :]


def rebound(argument: Any, fresh: Schedule) -> Any:
    """An argument of a replayed step: cursors point into the schedule at hand."""
    match argument:
        case Cursor():
            return replace(argument, proc=fresh.version(argument.version))
        case Gap():
            return replace(argument, at=rebound(argument.at, fresh))
        case tuple() | list():
            return tuple(rebound(a, fresh) for a in argument)
        case _:
            return argument


def _through(edits: tuple[Edit, ...], path: Path | None) -> Path | None:
    at = path
    for edit in edits:
        at = None if at is None else edit.forward(at)
    return at


def _together(paths: list[Path | None]) -> bool:
    """Whether statements are still in one block. The first and the last say how far it goes, so they must be in it
    themselves; others may have gone, or be inside a statement of it."""
    first, last = paths[0], paths[-1]
    if first is None or last is None or len(first) != len(last):
        return False
    return all(path is None or path[: len(first) - 1] == first[:-1] for path in paths)
