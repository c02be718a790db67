"""Random small programs with symbolic bounds and simple indices, to which operators often apply, and random steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from exogpu.ir.index import Bin, Cmp, Cond, Index, Int, Var
from exogpu.ir.proc import UNSCHEDULED, Proc, Require, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, For, If, Seq, Stmt
from exogpu.ir.types import Rmem, Scalar
from exogpu.ir.value import Arith, FromIndex, Num, Read, Select, Value
from exogpu.schedule import (
    Cursor,
    Schedule,
    accumulate,
    bind,
    collapse,
    conjoin,
    cut,
    divide,
    drop_guard,
    eliminate,
    expand_dim,
    fission,
    fuse,
    hoist,
    inline,
    into_loop,
    join,
    lift_alloc,
    lift_scope,
    peel,
    reorder,
    run_ahead,
    separate,
    shift,
    simplify,
    sink_alloc,
    specialise,
    swap,
    unroll,
    var,
)
from exogpu.schedule.paths import Path
from exogpu.schedule.patterns import block_or_inside, statements
from tests.schedule.storage_choices import STORAGE, Apply

N = Var("N")
MOST = 5
ARGS = (
    SizeArg("N"),
    TensorArg("x", Scalar.I32, (Int(24),)),
    TensorArg("y", Scalar.I32, (Int(12), Int(12))),
    TensorArg("u", Scalar.BF16, (Int(24),)),
)
BUFFERS = {"x": (24,), "y": (12, 12), "u": (24,)}


@dataclass(frozen=True)
class Scope:
    """Loop variables, which are at most 5, buffers with their shapes, and numbers for new names."""

    variables: tuple[str, ...]
    buffers: dict[str, tuple[int, ...]]
    depth: int
    numbers: Iterator[int] = field(default_factory=itertools.count)


@st.composite
def indices(draw: st.DrawFn, scope: Scope) -> Index:
    """At least 0 and at most 11."""
    names = [Var(v) for v in (*scope.variables, "N")]
    a, b = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    forms: tuple[Index, ...] = (
        a,
        a,
        a,
        Bin("+", a, Int(draw(st.integers(1, 3)))),
        Bin("+", a, b),
        Bin("+", Bin("*", Int(2), a), Int(draw(st.integers(0, 1)))),
        Bin("-", Int(5), a),
        Bin("//", a, Int(2)),
        Bin("%", a, Int(2)),
        Int(draw(st.integers(0, 3))),
    )
    return draw(st.sampled_from(forms))


@st.composite
def conds(draw: st.DrawFn, scope: Scope) -> Cond:
    left, right = draw(indices(scope)), draw(indices(scope))
    return Cmp(draw(st.sampled_from(("<", "<=", "==", ">"))), left, right)


@st.composite
def values(draw: st.DrawFn, scope: Scope, narrow: bool) -> Value:
    names = sorted(n for n in scope.buffers if (n == "u") == narrow)

    def read() -> Value:
        name = draw(st.sampled_from(names))
        return Read(name, tuple(draw(indices(scope)) for _ in scope.buffers[name]))

    match draw(st.integers(0, 3)):
        case 0:
            return Num(float(draw(st.integers(-2, 2))))
        case 1:
            return Arith("+", read(), FromIndex(draw(indices(scope))))
        case _:
            return read()


@st.composite
def assigns(draw: st.DrawFn, scope: Scope) -> Stmt:
    name = draw(st.sampled_from(sorted(scope.buffers)))
    index = tuple(draw(indices(scope)) for _ in scope.buffers[name])
    return Assign(name, index, draw(st.sampled_from(("=", "+="))), draw(values(scope, name == "u")))


@st.composite
def loops(draw: st.DrawFn, scope: Scope) -> Stmt:
    var = f"v{next(scope.numbers)}"
    bounds: list[tuple[Index, Index]] = [(Int(0), N), (Int(0), Int(4)), (Int(1), N), (Int(2), Int(5)), (Int(0), Int(1))]
    bounds += [(Int(0), Var(v)) for v in scope.variables]
    lo, hi = draw(st.sampled_from(bounds))
    inner = replace(scope, variables=(*scope.variables, var), depth=scope.depth + 1)
    return For(var, lo, hi, Seq(), draw(blocks(inner)))


@st.composite
def blocks(draw: st.DrawFn, scope: Scope) -> tuple[Stmt, ...]:
    stmts: list[Stmt] = []
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 2, 3)))):
        kind = draw(st.sampled_from(("assign", "assign", "loop", "loop", "if", "alloc")))
        if kind == "loop" and scope.depth < 3:
            stmts.append(draw(loops(scope)))
        elif kind == "if" and scope.depth < 3:
            inner = replace(scope, depth=scope.depth + 1)
            then = draw(blocks(inner))
            match draw(st.sampled_from(("alone", "else", "nested"))):
                case "else":
                    stmts.append(If(draw(conds(scope)), then, draw(blocks(inner))))
                case "nested":
                    stmts.append(If(draw(conds(scope)), (If(draw(conds(scope)), then, ()),), ()))
                case _:
                    stmts.append(If(draw(conds(scope)), then, ()))
        elif kind == "alloc":
            name = f"t{next(scope.numbers)}"
            stmts.append(Alloc(name, Scalar.I32, (12,), Rmem()))
            scope = replace(scope, buffers={**scope.buffers, name: (12,)})
            if draw(st.booleans()):
                stmts.append(Assign(name, (draw(indices(scope)),), "=", draw(values(scope, False))))
        else:
            stmts.append(draw(assigns(scope)))
    return tuple(stmts)


@st.composite
def programs(draw: st.DrawFn) -> Proc:
    """A procedure of one or two loop nests."""
    scope = Scope((), BUFFERS, 0)
    body = tuple(draw(loops(scope)) for _ in range(draw(st.integers(1, 2))))
    return Proc("random", ARGS, (Require(Cmp("<=", N, Int(MOST))),), UNSCHEDULED, (), body)


def one_of_indices(*choices: Index) -> st.SearchStrategy[Index]:
    return st.sampled_from(choices)


@st.composite
def guarded_tiles(draw: st.DrawFn) -> Proc:
    """A tile that is filled up to an edge, summed under a guard, and stored under another."""
    i, k, a, j = (Var(v) for v in "ikaj")

    def edge(*parts: Index) -> Cond:
        left = draw(one_of_indices(*parts, Bin("+", parts[0], Int(1)), Bin("-", parts[0], Int(1))))
        end = draw(one_of_indices(N, N, Int(3)))
        return Cmp(draw(st.sampled_from(("<", "<", "<="))), left, end)

    def loop(var: str, hi: int, *body: Stmt) -> For:
        return For(var, Int(0), Int(hi), Seq(), body)

    rest = Num(float(draw(st.sampled_from((0, 0, 0, 1)))))
    at = draw(one_of_indices(i, Bin("+", i, k), Bin("-", Int(5), i), Bin("%", Bin("+", i, k), Int(3))))
    tile = Read("t", (at,))
    sums: tuple[Value, ...] = (tile, Arith("*", tile, tile), Arith("*", tile, Read("x", (i,))))
    added = draw(st.sampled_from(sums))
    stored = draw(one_of_indices(j, Int(0), Bin("//", j, Int(2))))
    store = Assign("y", (j, Int(0)), "=", Read("acc", (stored,)))
    body = (
        Alloc("t", Scalar.I32, (12,), Rmem()),
        Alloc("acc", Scalar.I32, (12,), Rmem()),
        loop("z", 12, Assign("acc", (Var("z"),), "=", Num(0.0))),
        loop("a", 12, Assign("t", (a,), "=", Select(edge(a), Read("x", (a,)), rest))),
        loop("k", 3, loop("i", 5, If(edge(i, Bin("+", i, k), k), (Assign("acc", (i,), "+=", added),), ()))),
        loop("j", 5, If(edge(j), (store,), ())),
    )
    return Proc("tiles", ARGS, (Require(Cmp("<=", N, Int(MOST))),), UNSCHEDULED, (), body)


def _there_and_back(s: Schedule, at: Cursor, n: int) -> Schedule:
    s = bind(s, at, "_", "b")
    return inline(s, s.forward(at).prev())


def _out_and_in(s: Schedule, at: Cursor, n: int) -> Schedule:
    s = lift_alloc(s, at)
    return sink_alloc(s, at)


def _separated(s: Schedule, at: Cursor, n: int) -> Schedule:
    """A buffer over the iterations of a loop, and then one for each of them."""
    trips = 1 + n % 4
    s = expand_dim(s, at, trips, n % trips)
    s = lift_alloc(s, at)
    return separate(s, at, tuple(f"b{n}_{i}" for i in range(trips)))


OPERATORS: dict[str, Apply] = {
    "divide": lambda s, at, n: divide(s, at, 1 + n % 3, tail="perfect"),
    "divide with a guard": lambda s, at, n: divide(s, at, 1 + n % 3, tail="guard"),
    "divide with a cut": lambda s, at, n: divide(s, at, 1 + n % 3, tail="cut"),
    "reorder": lambda s, at, n: reorder(s, at),
    "fission": lambda s, at, n: fission(s, at.after),
    "fuse": lambda s, at, n: fuse(s, at),
    "unroll": lambda s, at, n: unroll(s, at),
    "cut": lambda s, at, n: cut(s, at, n % 4),
    "cut and join": lambda s, at, n: join(cut(s, at, n % 4), at),
    "shift": lambda s, at, n: shift(s, at, n % 4),
    "collapse": lambda s, at, n: collapse(s, at),
    "swap": lambda s, at, n: swap(s, at),
    "lift a scope": lambda s, at, n: lift_scope(s, at),
    "specialise": lambda s, at, n: specialise(s, at, var("N") > n % 4),
    "lift an allocation": lambda s, at, n: lift_alloc(s, at, 1 + n % 2),
    "lift and sink an allocation": _out_and_in,
    "eliminate": lambda s, at, n: eliminate(s, at),
    "simplify": lambda s, at, n: simplify(s, at if n % 2 else None),
    "bind": lambda s, at, n: bind(s, at, ("_", "x[_]", "y[_]", "_ + _")[n % 4], "b"),
    "bind and inline": _there_and_back,
    "drop a guard": lambda s, at, n: drop_guard(s, at),
    "peel": lambda s, at, n: peel(s, at, "first" if n % 2 else "last"),
    "into a loop": lambda s, at, n: into_loop(s, at, "first" if n % 2 else "last"),
    "accumulate": lambda s, at, n: accumulate(s, at, "acc"),
    "inline": lambda s, at, n: inline(s, at),
    "hoist": lambda s, at, n: hoist(s, at),
    "run ahead": lambda s, at, n: run_ahead(s, at),
    "conjoin": lambda s, at, n: conjoin(s, at),
    "unroll and separate": _separated,
    **STORAGE,
}


def places(proc: Proc) -> list[Path]:
    """The paths of all statements."""
    return [path for path, _ in statements(block_or_inside(proc, ()))]
