"""One application of an operator: what it may look at, prove and edit.

An operator is a function of a `Work` and its own arguments, decorated with `@operator`. It finds its statements, has
its side condition proved (`prove`, `commute`), and replaces statements (`splice`). Whatever it cannot prove raises
`Refused`; then nothing has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Concatenate, ParamSpec

from exogpu.diagnostics import InternalError
from exogpu.ir.buffers import buffers_of, reassociable, types_of
from exogpu.ir.index import Cmp, Cond, Index, Int, Var
from exogpu.ir.instr import BufferInfo
from exogpu.ir.proc import Proc, SizeArg
from exogpu.ir.stmt import Alloc, Block, For, If
from exogpu.ir.substitute import declared, rename
from exogpu.ir.terms import both, either, within
from exogpu.ir.types import Scalar
from exogpu.ir.uses import barriers, elements
from exogpu.ir.walk import index_names, walk
from exogpu.ir.wellformed import affine, check_meaning
from exogpu.schedule.cover import covers
from exogpu.schedule.cursor import Cursor, Gap, Where
from exogpu.schedule.effects import Access, Does, effects
from exogpu.schedule.errors import Refused, limit
from exogpu.schedule.expr import words
from exogpu.schedule.facts import again, around, known, primed
from exogpu.schedule.origin import caller, placed
from exogpu.schedule.paths import Edit, Moves, Path, block_at, spliced
from exogpu.schedule.proving import Proved, Refuted, decide, implied
from exogpu.schedule.schedule import Obligation, Schedule, Step, rebound
from exogpu.schedule.signature import called_with, check_arguments, plain
from exogpu.schedule.told import told
from exogpu.source import NOWHERE, Span

P = ParamSpec("P")


@dataclass(slots=True)
class Work:
    """The procedure that an operator rewrites, and what it has proved so far."""

    schedule: Schedule
    proc: Proc
    obligations: list[Obligation] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    labels: list[tuple[str, Path, int]] = field(default_factory=list)
    reassociated: bool = False

    # -- looking ---------------------------------------------------------------------------------------------------

    @property
    def buffers(self) -> dict[str, BufferInfo]:
        """Every tensor and allocation, by name."""
        return buffers_of(self.proc)

    @property
    def types(self) -> dict[str, Scalar]:
        """The types of all tensors, allocations and data scalars."""
        return types_of(self.proc)

    def find(self, where: Where) -> Cursor:
        """The statements that the operator is asked to change, before any `splice`."""
        return self.schedule.find(where)

    def loop(self, where: Where) -> tuple[For, Path]:
        """A loop, and its path."""
        at = self.find(where)
        if not isinstance(at.stmt, For):
            raise Refused("schedule.pattern", f"`{at}` is not a loop", at.stmt.span)
        return at.stmt, at.path

    def conditional(self, where: Where) -> tuple[If, Path]:
        """An `if`, and its path."""
        at = self.find(where)
        if not isinstance(at.stmt, If):
            raise Refused("schedule.pattern", f"`{at}` is not an `if`", at.stmt.span)
        return at.stmt, at.path

    def gap(self, where: Gap) -> tuple[Path, int]:
        """The block of a place between statements, and the statement that comes after the place."""
        return replace(where, at=self.find(where.at)).place

    def known(self, path: Path) -> tuple[Cond, ...]:
        """What holds wherever the statement at a path is executed."""
        return known(self.proc, path)

    def twice(self, path: Path, names: tuple[str, ...]) -> tuple[Cond, ...]:
        """What holds of two executions of the statement at a path that differ in these variables, primed in one."""
        facts = self.known(path)
        return (*facts, *again(facts, names))

    def in_scope(self, e: Index | Cond, path: Path, own: Iterable[str] = ()) -> None:
        """Refuses an expression that uses what is not declared at a path, and is not one of the names `own`."""
        sizes = {a.name for a in self.proc.args if isinstance(a, SizeArg)}
        loops = {stmt.var for stmt, _ in around(self.proc, path) if isinstance(stmt, For)}
        for name in sorted(index_names(e) - sizes - loops - {*own}):
            raise Refused("schedule.expression", f"no size or loop variable `{name}` is in scope there")
        if not affine(e):
            raise Refused(
                "schedule.expression", f"a factor or divisor in `{words(e)}` is not a literal, or not positive"
            )

    def ends(self, at: Cursor) -> None:
        """Refuses to put statements into another one that allocate what statements after them use."""
        allocated = {stmt.name: stmt.span for stmt in at.block if isinstance(stmt, Alloc)}
        later = block_at(self.proc.body, at.path[:-1])[at.path[-1] + at.count :]
        for name in sorted(allocated.keys() & self.names_in(later)):
            raise limit(f"`{name}` is used after these statements", allocated[name], f"lift `{name}` out first")

    def has_barriers(self, block: Block) -> None:
        """Refuses statements that name a barrier which is not declared."""
        known = {*(b.name for b in self.proc.barriers), *(b.name for b in self.proc.named)}
        for stmt in walk(block):
            for name, span in barriers(stmt):
                if name not in known:
                    raise limit(f"there is no barrier `{name}`", span, "declare it with `mbarrier` or `named_barrier`")

    def names_in(self, block: Block) -> frozenset[str]:
        """The buffers that the statements of a block use."""
        return frozenset(name for stmt in walk(block) for name, _, _ in elements(stmt))

    def effects(self, block: Block) -> tuple[Access, ...]:
        """The accesses of a block to memory that it does not allocate itself."""
        return effects(block, self.buffers)

    # -- names -----------------------------------------------------------------------------------------------------

    def fresh(self, name: str, taken: Iterable[str] = (), free: Iterable[str] = ()) -> str:
        """A name that nothing has yet: the wanted one, if it is free. The names `free` are about to go."""
        used = {*(self._names() - {*free}), *taken}
        root, _, number = name.rpartition("_")
        stem = root if number.isdigit() and root in used else name
        candidate, n = name, 0
        while candidate in used:
            n += 1
            candidate = f"{stem}_{n}"
        return candidate

    def unused(self, name: str) -> str:
        """The name, which nothing may have yet: it is one that later steps use."""
        if name in self._names():
            raise limit(f"`{name}` is the name of something else")
        return name

    def _names(self) -> frozenset[str]:
        proc = self.proc
        others = (a.name for a in (*proc.args, *proc.barriers, *proc.named, *proc.block.roles))
        return frozenset((*others, *declared(proc.body)))

    def copy(self, block: Block, taken: Iterable[str] = ()) -> Block:
        """A copy of a block, to stand beside it: what it declares has other names, none of them `taken`."""
        used = {*taken}
        names: dict[str, str] = {}
        for name in declared(block):
            names[name] = self.fresh(name, used)
            used.add(names[name])
        return rename(block, names)

    # -- proving ---------------------------------------------------------------------------------------------------

    def implied(self, known: Sequence[Cond], goal: Cond, said: str | None = None) -> bool:
        """Whether the solver proves a condition, which is then noted, as `said`; an answer, not a side condition."""
        answer = implied(known, goal, self.schedule.prover)
        if answer is not None:
            self.note(said or goal, answer)
        return answer is not None

    def prove(self, text: str, given: Sequence[Cond], goal: Cond, failure: str, span: Span = NOWHERE) -> None:
        """Proves that `given` implies `goal`, which `text` says in words; Refused, saying `failure`, if it does not."""
        if self.implied(given, goal, text):
            return
        answer = decide(given, goal)
        match answer:
            case Proved():
                self.note(text, answer)
            case Refuted(example):
                raise Refused("schedule.condition", failure, span, counterexample=example)
            case _:
                notes = (answer.reason, f"to be proved: {text}")
                raise Refused("schedule.unknown", f"it is not known whether {text}", span, notes=notes)

    def note(self, said: str | Cond, answer: Proved) -> None:
        """Records something that was proved for this step."""
        self.obligations.append(Obligation(words(said), answer.seconds, answer.script.sha256))

    def apart(self, given: Sequence[Cond], first: Access, second: Access, failure: str) -> None:
        """Proves that two accesses to one buffer never meet in one element."""
        text = f"{first} and {second} are different elements"
        why = f"{failure}: one {first.does.value} what the other {second.does.value} in `{first.buffer}`"
        self.prove(text, (*given, *first.given, *second.given), distinct(first, second), why, second.span)

    def inside(self, given: Sequence[Cond], accesses: Sequence[Access], when: str) -> None:
        """Proves that accesses are in the bounds of their buffers."""
        for a in accesses:
            shape = self.buffers[a.buffer].shape
            bounds = (within(i, Int(0), n) for i, n in zip(a.index, shape, strict=True))
            failure = f"{when}, {a} can be out of bounds"
            self.prove(f"{a} is in bounds", (*given, *a.given), both(bounds), failure, a.span)

    def commute(self, given: Sequence[Cond], first: Sequence[Access], second: Sequence[Access], failure: str) -> None:
        """Proves that two groups of accesses can be exchanged: wherever two meet, both read or both add. `given` says
        which executions are exchanged; the variables of one group are primed apart from the other's."""
        for a in first:
            for b in second:
                if a.buffer != b.buffer or a.does is b.does is Does.READ:
                    continue
                if a.does is b.does is Does.ADD and reassociable(self.buffers[a.buffer].dtype, False):
                    self._sums(given, a, b)
                else:
                    self.apart(given, a, b, failure)

    def local(self, path: Path, loop: For, buffer: str, failure: str) -> None:
        """Proves that no iteration of the loop, whose body's first statement is at `path`, reads what an earlier one
        has written to the buffer: it reads what it has written before, or what none has written."""
        facts = (*self.twice(path, (loop.var,)), Cmp("<", Var(loop.var), primed(loop.var)))
        accesses = [a for a in self.effects(loop.body) if a.buffer == buffer]
        for later in accesses:
            if later.does is not Does.WRITE and not self.covered(path, later, accesses):
                for earlier in accesses:
                    if earlier.does is not Does.READ:
                        self.apart(facts, earlier, later.primed(loop.var), failure)

    def covered(self, path: Path, access: Access, accesses: Sequence[Access]) -> bool:
        """Proves, if it can, that one of the accesses always writes the element before `access` gets to it. They are
        the effects of the block in which the statement at `path` is."""
        known = self.known(path)
        for write in accesses:
            goal = covers(write, access)
            if goal is not None and self.implied((*known, *access.given), goal, f"{access} is written before"):
                return True
        return False

    def _sums(self, given: Sequence[Cond], a: Access, b: Access) -> None:
        """Two additions commute; unless they never meet or are exact, the sum is taken in another order."""
        if self.buffers[a.buffer].dtype.is_float and not self.reassociated:
            self.reassociated = implied((*given, *a.given, *b.given), distinct(a, b), self.schedule.prover) is None

    # -- editing ---------------------------------------------------------------------------------------------------

    def splice(self, path: Path, count: int, new: Block, moves: Moves) -> None:
        """Replaces `count` statements, the first of which is at `path`. `moves` tells where the old statements are in
        the new ones, for cursors."""
        block, lo = path[:-1], path[-1]
        body = spliced(self.proc.body, block, lo, lo + count, new)
        self.proc = replace(self.proc, body=body)
        self.edits.append(Edit(block, lo, lo + count, len(new), tuple(moves.items())))

    def forward(self, path: Path) -> Path:
        """Where a path of the unchanged procedure is now."""
        for edit in self.edits:
            moved = edit.forward(path)
            if moved is None:
                raise InternalError("an operator follows a statement that it has removed")
            path = moved
        return path


def distinct(first: Access, second: Access) -> Cond:
    """The condition that two accesses to one buffer touch different elements."""
    return either(Cmp("!=", a, b) for a, b in zip(first.index, second.index, strict=True))


def operator(rewrite: Callable[Concatenate[Work, P], None]) -> Callable[Concatenate[Schedule, P], Schedule]:
    """An operator of schedules from a function that rewrites a `Work`."""

    @wraps(rewrite)
    def apply(schedule: Schedule, /, *args: P.args, **keywords: P.kwargs) -> Schedule:
        if not isinstance(schedule, Schedule):
            text = f"`{rewrite.__name__}` changes a schedule, and is given a {type(schedule).__name__}"
            raise Refused("schedule.argument", text, help="start one with `schedule(procedure)`")
        place, named = caller(), {name: plain(value) for name, value in keywords.items()}
        try:
            return _applied(rewrite, place, schedule, *map(plain, args), **named)
        except Refused as refused:
            refused.asked_at(place)
            raise

    return called_with(apply, rewrite, Schedule)


def _applied(
    rewrite: Callable[Concatenate[Work, P], None], place: Span, schedule: Schedule, *args: P.args, **keywords: P.kwargs
) -> Schedule:
    """The schedule with a step more, which is called at a place."""
    work = Work(schedule, schedule.proc)
    check_arguments(rewrite, work, *args, **keywords)
    arguments = (
        *(told(schedule, a) for a in args),
        *(f"{n}={told(schedule, a)}" for n, a in keywords.items()),
    )
    rewrite(work, *args, **keywords)
    proc = placed(schedule.proc, work.proc, place)
    _check(schedule.proc, proc, rewrite.__name__)

    def again(fresh: Schedule) -> Schedule:
        given = [rebound(a, fresh) for a in args]
        return _applied(rewrite, place, fresh, *given, **{name: rebound(a, fresh) for name, a in keywords.items()})

    step = Step(
        rewrite.__name__,
        arguments,
        tuple(work.obligations),
        work.reassociated,
        proc,
        tuple(work.edits),
        tuple(work.labels),
        again,
    )
    return replace(schedule, steps=(*schedule.steps, step))


def _check(before: Proc, after: Proc, name: str) -> None:
    """The result means something: whatever does not was asked for, except for names, which operators choose."""
    problems = check_meaning(after)
    old = {(d.code, d.message) for d in check_meaning(before)} if problems else set()
    for found in problems:
        if (found.code, found.message) in old:
            continue
        if found.code in ("lang.scope", "lang.duplicate_name", "lang.rank"):
            raise InternalError(f"`{name}` made a procedure that is not well-formed: {found.message}")
        raise Refused(
            "schedule.limit", f"the result is not well-formed: {found.message}", found.span, notes=found.notes
        )
