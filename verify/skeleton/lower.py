"""Skeletons to the parallel program: the control of every role; `operations` has what single statements become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from exogpu.ir.evaluate import holds
from exogpu.ir.index import Bin, BoolOp, Cond, Index, Int, Not, Var
from exogpu.ir.linear import literal
from exogpu.ir.skeleton.operations import Check, Exit, MemoryFence
from exogpu.ir.skeleton.tree import RANK, TID, Elect, For, If, Let, RoleDecl, Skeleton, Step, Stmt, Unknown
from exogpu.ir.skeleton.walk import expressions, walk
from exogpu.ir.walk import conjuncts, index_names, substitute_cond, substitute_index
from exogpu.verify.program import Applied, Counter, Derived, Loop, LoopKind
from exogpu.verify.skeleton.closed import added, closed, entered
from exogpu.verify.skeleton.counting import starts, turns
from exogpu.verify.skeleton.division import folded, folded_cond, parts
from exogpu.verify.skeleton.election import any_will_do
from exogpu.verify.skeleton.fenced import after, published
from exogpu.verify.skeleton.operations import Operations
from exogpu.verify.skeleton.place import Numbers, Place
from exogpu.verify.skeleton.reading import Fences, Reading
from exogpu.verify.skeleton.unsupported import NotModelled, ToldApart

MOST_UNROLLED = 16
"""Most iterations of a loop with literal bounds that is unrolled, where its variable names a barrier."""
ONE_PLACE = "write what it stands for where it is used, such as (r - 1) % S for the slot of the step before"
FLATTEN = 'flatten the loops: one over all steps, with `if pred("last", i):` around what is done at the end of a tile'
SAME_TRIPS = "let all threads of the role make the same trips, and test inside who has something to do"


@dataclass
class Walk:
    """The walk through the roles: what it has collected so far."""

    skeleton: Skeleton
    emit: Operations
    divided: bool = False
    derived: dict[str, Derived] = field(default_factory=dict)
    rounds: dict[str, list[str]] = field(default_factory=dict)
    blocks: int = 0
    closed: frozenset[str] = frozenset()
    unknowns: dict[str, Unknown] = field(default_factory=dict)
    holders: dict[str, Place] = field(default_factory=dict)
    users: dict[str, frozenset[int]] = field(default_factory=dict)
    steps: list[tuple[str, Place, Step]] = field(default_factory=list)

    def run(self) -> None:
        """Walks every body."""
        self.unknowns = dict(self.skeleton.unknowns)
        numbers = Numbers()
        for body in self.skeleton.bodies:
            whole = [(body.role, tuple(range(body.role.threads)))]
            for n, (role, who) in enumerate(parts(self.skeleton, body) if self.divided else whole):
                names: dict[str, Index] = {RANK: Int(role.ctas[0])} if len(role.ctas) == 1 else {}
                place = Place((), (), numbers, role, who, names, divided=self.divided)
                self.closed = closed(self.skeleton, body.stmts)
                for counter in self._counters(f"{role.name}/{n}" if self.divided else role.name, role, body.stmts):
                    place = counter(place)
                self.block(body.stmts, place)
        self._alike()

    # -- counters ------------------------------------------------------------------------------------------------

    def _counters(self, owner: str, role: RoleDecl, stmts: tuple[Stmt, ...]) -> Iterator[_Naming]:
        """The role's counters, each a variable that follows from how often it was stepped."""
        found = {start.name: start for start in starts(self.skeleton, stmts, role.span, self.closed)}
        for name, start in found.items():
            variable = f"{owner}.{name}"
            counter = Counter(start.value, (), start.modulus, start.depth)
            if start.round is not None:
                turning = found[start.round]
                if turning.depth != start.depth or turning.modulus is None:
                    raise NotModelled(f"the counters `{name}` and `{start.round}` do not start together", role.span)
                counter = replace(counter, divisor=turning.modulus, ahead=turning.value)
                self.rounds.setdefault(f"{owner}.{start.round}", []).append(variable)
            self.derived[variable] = counter
            yield _Naming(name, variable)

    def _counted(self, role: RoleDecl) -> set[str]:
        """The names of a role's counters that do not follow from the variables of loops."""
        (body,) = (b for b in self.skeleton.bodies if b.role.name == role.name)
        return {s.name for s in walk(body.stmts) if isinstance(s, Step)} - self.closed

    def step(self, stmt: Step, place: Place) -> None:
        """Steps are events of which counters count the executions."""
        meaning = place.names[stmt.name]
        if not isinstance(meaning, Var):
            raise ToldApart(f"the counter `{stmt.name}` differs between threads", stmt.span)
        variables = (meaning.name, *self.rounds.get(meaning.name, ()))
        if any(isinstance(self.derived.get(n), Counter) for n in self._conditions(place)):
            raise NotModelled(f"the counter `{stmt.name}` is stepped where a counter is tested", stmt.span)
        self.steps += ((v, place, stmt) for v in variables)
        event = self.emit.tick(stmt, place)
        for variable in variables:
            counter = self.derived[variable]
            if isinstance(counter, Counter):
                self.derived[variable] = replace(counter, steps=(*counter.steps, (event.id, stmt.by)))

    def _conditions(self, place: Place) -> frozenset[str]:
        """What the execution of a place depends on."""
        bounds = (e for s in place.path if s.loop is not None for e in (s.loop.lo, s.loop.hi))
        return frozenset[str]().union(*(self._names(e) for e in (*place.guards, *bounds)))

    def _alike(self) -> None:
        """All threads that make use of a counter execute all of its steps; raises if not."""
        for counter, place, stmt in self.steps:
            holder, users = self.holders.get(counter), self.users.get(counter, frozenset())
            alike = holder is not None and users <= {*place.who} and not place.explicit
            if (
                holder is None
                or not alike
                or any(RANK in self._names(g) for g in place.guards if g not in holder.guards)
            ):
                raise ToldApart(f"the counter `{stmt.name}` differs between threads", stmt.span)

    # -- control -------------------------------------------------------------------------------------------------

    def block(self, stmts: tuple[Stmt, ...], place: Place) -> Place | None:
        """The statements of a block, each where the ones before leave off; the place behind them, if there is one."""
        self.blocks += 1
        place = replace(place, block=self.blocks)
        for n, stmt in enumerate(stmts):
            read = Reading(partial(self.expr, place=place), partial(self.cond, place=place))
            match stmt:
                case Let():
                    place = self.let(stmt, place)
                    self._constant(stmt, stmts[n + 1 :], place)
                case Step() if stmt.name in self.closed:
                    place = place.naming(stmt.name, added(place.names[stmt.name], stmt.by))
                case Step():
                    self.step(stmt, place)
                case For():
                    place = self.loop(stmt, place)
                case If() if turns(stmts[n - 1] if n else None, stmt):
                    pass  # it is counted with the step before
                case If():
                    behind = self.branch(stmt, place)
                    if behind is None:
                        return None
                    place = behind
                case Elect():
                    place = self.elect(stmt, place)
                case Exit():
                    self.emit.exit(stmt, place)
                    return None
                case _:
                    self._operation(stmt, stmts[n + 1 : n + 2], place, read)
            fence = after(stmt, place, self.skeleton, read)
            some = fence is not None and fence.where is not None and TID in self._names(fence.where)
            place = replace(place, fenced=None if some else fence)  # of some threads nothing is made of it
        return place

    def _operation(self, stmt: Stmt, following: tuple[Stmt, ...], place: Place, read: Reading) -> None:
        """What is no control, with the fences right before and behind it. Unknown numbers are known before those of one
        CTA are asked for."""
        for name in sorted(frozenset[str]().union(*map(index_names, expressions(stmt)))):
            self._meanings(Var(name), place)
        acquired = next((s.scope for s in following if isinstance(s, MemoryFence)), None)
        for where, fence in published(stmt, self._checked(stmt, place)):
            self.emit.operation(stmt, where, read, Fences(fence, acquired))

    def _checked(self, stmt: Stmt, place: Place) -> Place:
        """The place of a statement. A check is for all threads that may be elected; they are told apart if it is of an
        unknown number of each."""
        if not isinstance(stmt, Check):
            return place
        named = index_names(self.cond(stmt.cond, place)) - {TID}
        explicit = place.explicit or any(TID in self._names(Var(n)) for n in named)
        return replace(place, who=place.eligible or place.who, explicit=explicit)

    def let(self, stmt: Let, place: Place) -> Place:
        """A name for an expression, or the start of a counter."""
        known = place.names.get(stmt.name)
        if isinstance(known, Var) and isinstance(self.derived.get(known.name), Counter):
            self.holders[known.name] = place
            return place
        if known is not None and place.given.get(stmt.name) != place.block:
            raise NotModelled(f"`{stmt.name}` gets a value in more than one place", stmt.span, ONE_PLACE)
        return place.naming(stmt.name, self.expr(stmt.value, place))

    def _constant(self, stmt: Let, rest: tuple[Stmt, ...], place: Place) -> None:
        """A name stands for its expression, so that must not change as long as it is known."""
        counters = self._names(place.names[stmt.name]) & self.derived.keys()
        stepped = {s.name for s in walk(rest) if isinstance(s, Step)} - {stmt.name}
        if any(isinstance(m := place.names.get(s), Var) and m.name in counters for s in stepped):
            raise NotModelled(f"`{stmt.name}` keeps the value of a counter that is stepped", stmt.span)

    def elect(self, stmt: Elect, place: Place) -> Place:
        """The lanes of each warp meet, then one thread of each unit goes on alone."""
        chosen, body = elected(place), stmt.body
        if any(t % place.role.unit for t in chosen):
            raise NotModelled("an election without the first lane of a unit", stmt.span)
        self.emit.meet(stmt, place)
        if stmt.any:
            any_will_do(self.skeleton, next(b for b in self.skeleton.bodies if b.role.name == place.role.name), stmt)
            place = replace(place, eligible=place.who)
        return replace(self._after(body, place, self.inside(chosen, place, body)), eligible=())

    def inside(self, who: tuple[int, ...], place: Place, body: tuple[Stmt, ...]) -> tuple[int, ...]:
        """A body by some of the threads."""
        if who:
            self.block(body, replace(place, who=who))
        return who

    def _after(self, body: tuple[Stmt, ...], place: Place, who: tuple[int, ...]) -> Place:
        """Behind a body in which those threads may have ended."""
        if not any(isinstance(s, Exit) for s in walk(body)):
            return place
        if any(s.loop is not None for s in place.path) or not any(isinstance(s, Exit) for s in body):
            raise NotModelled("threads end inside a loop or a nested branch", body[0].span)
        return replace(place, who=tuple(t for t in place.who if t not in who))

    def branch(self, stmt: If, place: Place) -> Place | None:
        """A condition on the thread alone is decided here; others become guards."""
        test = self.cond(stmt.cond, place)
        names = self._names(test)
        if names <= {TID}:
            chosen = tuple(t for t in place.who if holds(test, {TID: t}))
            others = tuple(t for t in place.who if t not in chosen)
            place = self._after(stmt.then, place, self.inside(chosen, place, stmt.then))
            return self._after(stmt.orelse, place, self.inside(others, place, stmt.orelse))
        explicit = place.explicit or TID in names
        ending = any(isinstance(s, Exit) for s in walk((*stmt.then, *stmt.orelse)))
        if ending and any(s.loop is not None for s in place.path):
            raise NotModelled("threads end inside a loop", stmt.span)
        ways: list[tuple[Cond, ...]] = []
        for body, guard in ((stmt.then, test), (stmt.orelse, Not(test))):
            inside = replace(place, guards=(*place.guards, *conjuncts(guard)), explicit=explicit)
            end = self.block(body, inside)
            if end is not None and end.who != place.who:
                raise NotModelled("some threads end inside a nested branch", stmt.span)
            ways += [] if end is None else [end.guards[len(place.guards) :]]
        if not ending or not ways:
            return place if ways else None
        alive = ways[0] if len(ways) == 1 else (BoolOp("or", tuple(BoolOp("and", way) for way in ways)),)
        return replace(place, guards=(*place.guards, *alive), explicit=explicit)

    def _names(self, e: Index | Cond) -> frozenset[str]:
        """What an expression depends on, also through unknown numbers."""
        out = index_names(e)
        for name in index_names(e):
            meaning = self.derived.get(name)
            if isinstance(meaning, Applied):
                out = out.union(*(self._names(a) for a in meaning.args))
        return out

    def loop(self, stmt: For, place: Place) -> Place:
        """A loop; what counters that follow from loop variables are in it, and behind it."""
        if any(isinstance(s, Exit) for s in walk(stmt.body)):
            raise NotModelled("threads end inside a loop or a nested branch", stmt.span)
        lo, hi = self.expr(stmt.lo, place), self.expr(stmt.hi, place)
        first, last = literal(lo), literal(hi)
        if first is not None and last is not None and self.emit.names_barrier(stmt):
            if last - first > MOST_UNROLLED:
                raise NotModelled(f"more than {MOST_UNROLLED} iterations name different barriers", stmt.span)
            if any(s.name in self._counted(place.role) for s in walk(stmt.body) if isinstance(s, Let)):
                raise NotModelled("a counter starts anew where iterations name different barriers", stmt.span)
            for value in range(first, last):
                inside = self._entered(stmt, place, Int(value))
                self.block(stmt.body, replace(inside, fenced=None).naming(stmt.var, Int(value)))
            return self._entered(stmt, place, Int(max(first, last)))
        if (self._names(lo) | self._names(hi)) & {TID, RANK}:
            raise ToldApart("the trip count of a loop depends on the thread", stmt.span, SAME_TRIPS)
        derived = [self.derived.get(n) for n in index_names(lo) | index_names(hi)]
        if any(isinstance(d, Applied) for d in derived):
            raise NotModelled("the trip count of a loop is an unknown number", stmt.span, FLATTEN)
        if derived != [None] * len(derived):  # executions are listed loop by loop, and count steps at the end
            raise NotModelled("the trip count of a loop follows from a counter", stmt.span, FLATTEN)
        self.block(stmt.body, self._entered(stmt, place, Var(stmt.var)).enter(Loop(stmt.var, lo, hi, LoopKind.SEQ)))
        return place if first is None or last is None else self._entered(stmt, place, Int(max(first, last)))

    def _entered(self, stmt: For, place: Place, at: Index) -> Place:
        """With the values of counters in this iteration of a loop."""
        for name in sorted(self.closed & place.names.keys()):
            place = place.naming(name, entered(place.names[name], stmt, name, at))
        return place

    # -- expressions ---------------------------------------------------------------------------------------------

    def expr(self, e: Index, place: Place) -> Index:
        """An expression with names replaced by what they stand for; unknown numbers become derived variables."""
        out = substitute_index(e, self._meanings(e, place))
        out = folded(out, place.eligible or place.who) if place.divided else out
        unknown = (self.derived.get(n) for n in index_names(out))
        if not place.explicit and any(TID in self._names(a) for m in unknown if isinstance(m, Applied) for a in m.args):
            raise ToldApart("an unknown number differs between threads", place.role.span)
        self._using(out, place)
        return out

    def cond(self, c: Cond, place: Place) -> Cond:
        """A condition, likewise."""
        out = substitute_cond(c, self._meanings(c, place))
        self._using(out, place)
        return folded_cond(out, place.eligible or place.who) if place.divided else out

    def _using(self, e: Index | Cond, place: Place) -> None:
        """The threads of a place make use of the counters that an expression names."""
        for name in self._names(e) & self.derived.keys():
            self.users[name] = self.users.get(name, frozenset()) | {*place.who}

    def _meanings(self, e: Index | Cond, place: Place) -> dict[str, Index]:
        out = dict(place.names)
        for name in index_names(e) & self.unknowns.keys():
            unknown = self.unknowns[name]
            args = tuple(self.expr(a, place) for a in unknown.args)
            shown = f"?{unknown.name}({', '.join(map(_shown, args))})"
            self.derived[shown] = Applied(unknown.name, args, unknown.below)
            out[name] = Var(shown)
        return out


@dataclass(frozen=True, slots=True)
class _Naming:
    """A counter's name, and the variable that it stands for."""

    name: str
    variable: str

    def __call__(self, place: Place) -> Place:
        return place.naming(self.name, Var(self.variable))


def elected(place: Place) -> tuple[int, ...]:
    """The first thread of each executing unit that is here at all."""
    unit = place.role.unit
    first: dict[int, int] = {}
    for t in place.who:
        first.setdefault(t // unit, t)
    return tuple(first.values())


def _shown(e: Index) -> str:
    match e:
        case Var(name):
            return name
        case Int(value):
            return str(value)
        case Bin(op, left, right):
            return f"({_shown(left)} {op} {_shown(right)})"
