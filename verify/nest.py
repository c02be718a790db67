"""The loops around a statement, walked at concrete sizes: compiled once, since the explicit engine walks them often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var
from exogpu.ir.walk import index_names
from exogpu.verify.program import TASK, Event, Program

MOST_ITERATIONS = 400_000
"""Most iterations of the loops around a statement that are walked, also of those in which it is not executed."""

Env = Mapping[str, int]
Number = Callable[[Env], int]
Truth = Callable[[Env], bool]


class TooLarge(Exception):
    """The sizes of a candidate are beyond what is worth executing."""


@dataclass(frozen=True, slots=True)
class Nest:
    """An event's loops, outermost first, the conditions that are decided after each of them, its first thread, its
    place in the sequential order (numbers, and names of loop variables), the variables of its loops over CTAs, and its
    derived variables; conditions on those come last."""

    loops: tuple[tuple[str, Number, Number], ...]
    guards: tuple[tuple[Truth, ...], ...]
    first: Number
    place: tuple[int | str, ...]
    over_ctas: frozenset[str]
    derived: tuple[tuple[str, Number], ...] = ()

    def environments(
        self, sizes: Env, tasks: Mapping[int, Env], ctas: frozenset[int] | None = None
    ) -> Iterator[dict[str, int]]:
        """The values of all variables at every execution, in loops over CTAs by `ctas` only if given; `tasks` gives the
        coordinates of each task by ordinal."""
        env = dict(sizes)
        if not self.loops:
            self._derive(env)
        if all(g(env) for g in self.guards[0]):
            yield from self._inside(0, env, tasks, ctas, count(1))

    def _inside(
        self, depth: int, env: dict[str, int], tasks: Mapping[int, Env], ctas: frozenset[int] | None, done: count[int]
    ) -> Iterator[dict[str, int]]:
        if depth == len(self.loops):
            yield env.copy()
            return
        var, lo, hi = self.loops[depth]
        guards = self.guards[depth + 1]
        values: Iterable[int] = range(lo(env), hi(env))
        if ctas is not None and var in self.over_ctas:
            values = [cta for cta in values if cta in ctas]
        for value in values:
            if next(done) > MOST_ITERATIONS:
                raise TooLarge(f"more than {MOST_ITERATIONS} iterations")
            env[var] = value
            if var == TASK:
                env.update(tasks[value])
            if depth + 1 == len(self.loops):
                self._derive(env)
            if all(g(env) for g in guards):
                yield from self._inside(depth + 1, env, tasks, ctas, done)

    def _derive(self, env: dict[str, int]) -> None:
        for name, value in self.derived:
            env[name] = value(env)

    def key(self, env: Env) -> tuple[int, ...]:
        """The place of one execution; places compare as tuples."""
        return tuple([part if isinstance(part, int) else env[part] for part in self.place])


def nest(program: Program, event: Event, derived: tuple[tuple[str, Number], ...]) -> Nest:
    """The compiled loops of an event; `derived` are the variables whose values follow from those of the loops."""
    tasks = {t.name for t in program.tasks}
    bound: set[str] = set()
    depths = {name: len(event.loops) for name, _ in derived}
    for depth, loop in enumerate(event.loops, 1):
        bound = {loop.var, *(tasks if loop.var == TASK else ())}
        depths.update(dict.fromkeys(bound, depth))
    guards: list[list[Truth]] = [[] for _ in range(len(event.loops) + 1)]
    for guard in event.guards:
        guards[max((depths.get(n, 0) for n in index_names(guard)), default=0)].append(truth(guard))
    place: list[int | str] = []
    for step in event.path:
        place += [step.position] if step.loop is None else [step.position, step.loop.var]
    return Nest(
        tuple((loop.var, number(loop.lo), number(loop.hi)) for loop in event.loops),
        tuple(map(tuple, guards)),
        number(event.first),
        tuple(place),
        frozenset(loop.var for loop in event.loops if program.over_ctas(loop)),
        derived,
    )


def number(e: Index) -> Number:
    """An index expression as a Python function of its variables."""
    function: Number = eval(f"lambda env: {_index(e)}")
    return function


def truth(c: Cond) -> Truth:
    """A condition as a Python function of its variables."""
    function: Truth = eval(f"lambda env: {_cond(c)}")
    return function


def _index(e: Index) -> str:
    match e:
        case Var(name):
            return f"env[{name!r}]"
        case Int(value):
            return f"({value})"
        case Bin("ceildiv", left, right):
            return f"(-(-{_index(left)} // {_index(right)}))"
        case Bin("min" | "max" as op, left, right):
            return f"{op}({_index(left)}, {_index(right)})"
        case Bin(op, left, right):
            return f"({_index(left)} {op} {_index(right)})"


def _cond(c: Cond) -> str:
    match c:
        case Bool(value):
            return str(value)
        case Not(arg):
            return f"(not {_cond(arg)})"
        case BoolOp(op, args):
            return f"({f' {op} '.join(map(_cond, args))})" if args else str(op == "and")
        case Cmp(op, left, right):
            return f"({_index(left)} {op} {_index(right)})"
