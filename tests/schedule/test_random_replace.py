"""Random blocks that are almost what an instruction does: whatever is replaced computes the same, and something is."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from exogpu.ir.index import Bin, Cmp, Cond, Index, Int, Var
from exogpu.ir.instr import Buffers, Footprint, Instr, Mode, Param, Proxy
from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.proc import UNSCHEDULED, Proc, SizeArg, TensorArg
from exogpu.ir.stmt import Alloc, Assign, For, If, InstrCall, Seq, Stmt
from exogpu.ir.types import Rmem, Scalar
from exogpu.ir.value import Arith, Num, Read, Select, Value
from exogpu.isa.build import add, assign, nest, zero_filled
from exogpu.schedule import Refused, replace, schedule
from tests.schedule.programs import OPERATORS
from tests.schedule.test_random import somewhere

SIZE = 8
ARGS = (SizeArg("N"), TensorArg("x", Scalar.I32, (Var("N"),)), TensorArg("y", Scalar.I32, (Int(SIZE),)))


def _fill(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    dst, src = call.window("dst"), call.window("src")
    return nest(dst.shape, lambda e: assign(dst, e, zero_filled(src, e, buffers[src.buffer])))


def _sum(call: InstrCall, buffers: Buffers) -> tuple[Stmt, ...]:
    """Each element of `dst` gets the sum of the products of `src` with itself, in order."""
    dst, src = call.window("dst"), call.window("src")

    def product(e: tuple[Index, ...]) -> Stmt:
        return add(dst, e[:1], Arith("*", zero_filled(src, e[1:], buffers[src.buffer]), Num(2.0)))

    return nest((*dst.shape, *src.shape), product)


def _rules(call: InstrCall, buffers: Buffers) -> tuple[str, ...]:
    shapes = call.window("dst").shape, call.window("src").shape
    return () if shapes == ((SIZE,), (SIZE,)) else (f"the windows have {SIZE} elements, not {shapes}",)


def instruction(name: str) -> Instr:
    return Instr(
        name,
        (Param("dst", "window", 1), Param("src", "window", 1)),
        1,
        (Footprint("dst", Mode.WRITE, Proxy.GENERIC), Footprint("src", Mode.READ, Proxy.GENERIC)),
        contract=_rules,
        meaning=_fill if name == "fill" else _sum,
    )


def plus(e: Index, n: int) -> Index:
    return e if n == 0 else Bin("+", e, Int(n))


def loop(var: str, hi: int, *body: Stmt) -> For:
    return For(var, Int(0), Int(hi), Seq(), body)


@st.composite
def blocks(draw: st.DrawFn, sums: bool) -> Stmt:
    """Loops that fill or add to `t` from `x`, from `8 * o` on, in one of several orders; seldom something else."""
    variables = draw(st.sampled_from((("e",), ("a", "b"), ("b", "a"))))
    within: Index = Var("e") if variables == ("e",) else Bin("+", Bin("*", Int(4), Var("a")), Var("b"))
    if draw(st.integers(0, 3)) == 0:
        within = Bin("-", Int(SIZE - 1), within)
    off = draw(st.sampled_from((0, 0, 0, 0, 1)))
    start = Bin("*", Int(SIZE), Var("o"))
    index = plus(Bin("+", start, within), off)
    edge = plus(Bin("+", start, within), draw(st.sampled_from((off, off, off, off + 1))))
    bound: Cond = Cmp(draw(st.sampled_from(("<", "<", "<", "<="))), edge, Var("N"))
    read: Value = Read("x", (index,))
    inside = Select(Cmp("<", index, Var("N")), read, Num(0.0))
    rest = Num(float(draw(st.sampled_from((0, 0, 0, 1)))))
    value: Value = draw(st.sampled_from((Select(bound, inside, rest), Select(bound, inside, rest), inside)))
    target: Index = Var("d") if sums else draw(st.sampled_from((within, within, within, Bin("%", within, Int(4)))))
    if sums:
        value = Arith("*", Num(2.0), value)
    stmt: Stmt = Assign("t", (target,), "+=" if sums else "=", value)
    if draw(st.integers(0, 5)) == 0:
        stmt = If(bound, (stmt,), ())
    trips = {"e": draw(st.sampled_from((SIZE, SIZE, SIZE - 1))), "a": 2, "b": 4}
    for var in variables:
        stmt = loop(var, trips[var], stmt)
    if sums and draw(st.integers(0, 4)) == 0:
        stmt = loop("again", 2, stmt)
    return loop("d", SIZE, stmt) if sums else stmt


@st.composite
def programs(draw: st.DrawFn, sums: bool) -> Proc:
    block = draw(blocks(sums))
    use = loop("u", SIZE, Assign("y", (Var("u"),), "+=", Arith("*", Read("t", (Var("u"),)), Num(3.0))))
    clear = loop("z", SIZE, Assign("t", (Var("z"),), "=", Num(float(draw(st.integers(0, 1))))))
    body = (Alloc("t", Scalar.I32, (SIZE,), Rmem()), clear, block, use)
    tasks = For("o", Int(0), Bin("ceildiv", Var("N"), Int(SIZE)), Seq(), body)
    return Proc("blocks", ARGS, (), UNSCHEDULED, (), (tasks,))


outcomes: Counter[tuple[str, str]] = Counter()

QUICK = settings(max_examples=40, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])


def tried(proc: Proc, name: str, data: st.DataObject) -> None:
    """Replaces the block, if that is accepted, and takes two random steps on the result."""
    s = schedule(proc)
    block = s.find("o").body()[2]
    try:
        s = replace(s, block, instruction(name))
    except Refused as refused:
        outcomes[name, refused.code] += 1
        return
    outcomes[name, "replaced"] += 1
    for _ in range(2):
        chosen = data.draw(st.sampled_from(sorted(OPERATORS)))
        s = somewhere(s, chosen, data.draw(st.integers(0, 99)), data.draw(st.integers(0, 11)))
    for n in (0, 1, 7, 8, 9, 20):
        args = random_inputs(proc, {"N": n}, 0)
        np.testing.assert_array_equal(interpret(s.proc, args)["y"], interpret(proc, args)["y"])


@QUICK
@given(programs(sums=False), st.data())
def fill_somewhere(proc: Proc, data: st.DataObject) -> None:
    tried(proc, "fill", data)


@QUICK
@given(programs(sums=True), st.data())
def sum_somewhere(proc: Proc, data: st.DataObject) -> None:
    tried(proc, "sum", data)


def test_blocks_that_are_replaced_keep_the_meaning() -> None:
    fill_somewhere()
    sum_somewhere()
    for name in ("fill", "sum"):
        assert outcomes[name, "replaced"] > 5
        assert outcomes[name, "schedule.limit"] + outcomes[name, "schedule.condition"] > 5
    assert {code for _, code in outcomes} <= {"replaced", "schedule.limit", "schedule.condition"}
