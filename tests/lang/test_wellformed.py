"""The rules that scheduling passes rely on, broken in the IR itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from exogpu.ir.index import Bin, Bool, Cmp, Int, Var
from exogpu.ir.instr import Instr, Param
from exogpu.ir.proc import UNSCHEDULED, BarrierDecl, Launch, Proc, RoleDecl, SizeArg, TensorArg
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Fence,
    For,
    If,
    IndexArg,
    InstrCall,
    Point,
    Range,
    Role,
    Seq,
    Stmt,
    Tasks,
    Threads,
    Unroll,
    Window,
)
from exogpu.ir.types import Gmem, Rmem, Scalar, Smem
from exogpu.ir.value import Num, Read, ScalarFn
from exogpu.ir.wellformed import check
from exogpu.isa import acc_store, vec_copy
from exogpu.kernels.gemm_bf16 import gemm_bf16
from exogpu.kernels.gemm_f32 import gemm_f32
from exogpu.source import Span

ZERO = Assign("X", (Var("b"),), "=", Num(0.0))
COPY = InstrCall(vec_copy, (("dst", Window("r", (Range(Int(0), 4),))), ("src", Window("X", (Range(Var("b"), 4),)))))
SCRATCH = Alloc("r", Scalar.F32, (4,), Rmem())


def proc(*inner: Stmt, block: Launch | None = None) -> Proc:
    """A procedure whose tasks consist of `inner`, in one thread."""
    work = For("t", Int(0), Int(1), Threads(1), inner)
    nest = For("b", Int(0), Var("N"), Tasks(), (work,))
    args = (SizeArg("N"), TensorArg("X", Scalar.F32, (Var("N"),)))
    return Proc("p", args, (), block or Launch(64), (BarrierDecl("done", 1, 1),), (nest,))


def codes(p: Proc) -> list[str]:
    return [d.code for d in check(p)]


def test_shipped_kernels_are_well_formed() -> None:
    assert check(gemm_bf16) == () and check(gemm_f32) == ()


def test_the_base_of_these_tests_is_well_formed() -> None:
    assert check(proc(SCRATCH, COPY, ZERO)) == ()


def operand(instr: Instr, *operands: tuple[str, object]) -> InstrCall:
    return InstrCall(instr, tuple(operands))  # type: ignore[arg-type]


IDENTITY = ScalarFn("f", ("x",), Read("x", ()))
WINDOWS = (("dst", Window("r", (Range(Int(0), 4),))), ("src", Window("X", (Range(Var("b"), 4),))))
TAKES = Instr("takes", (Param("n", "int"), Param("when", "cond", optional=True)), unit=1)


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (Assign("Z", (Var("b"),), "=", Num(0.0)), "lang.scope"),
        (Assign("X", (Var("z"),), "=", Num(0.0)), "lang.scope"),
        (Assign("X", (Var("b"),), "=", Read("Z", ())), "lang.scope"),
        (Arrive("full", None), "lang.scope"),
        (If(Cmp("<", Var("z"), Int(0)), (), ()), "lang.scope"),
        (For("i", Int(0), Var("i"), Seq(), ()), "lang.scope"),
        (Assign("X", (), "=", Num(0.0)), "lang.rank"),
        (Assign("X", (Bin("*", Var("b"), Var("N")),), "=", Num(0.0)), "lang.non_affine"),
        (Assign("X", (Bin("//", Var("b"), Int(0)),), "=", Num(0.0)), "lang.non_affine"),
        (For("b", Int(0), Int(4), Seq(), ()), "lang.duplicate_name"),
        (For("i", Int(0), Var("N"), Unroll(), ()), "lang.literal"),
        (For("i", Int(-1), Int(2), Threads(1), ()), "lang.literal"),
        (Alloc("g", Scalar.F32, (4,), Gmem()), "lang.memory"),
        (Alloc("s", Scalar.F32, (4,), Smem()), "lang.memory"),
        (Role("producer", ()), "lang.role"),
        (Fence(), "lang.fence"),
        (operand(vec_copy, WINDOWS[0]), "lang.arity"),
        (operand(vec_copy, *WINDOWS, WINDOWS[0]), "lang.arity"),
        (operand(vec_copy, WINDOWS[0], ("src", IndexArg(Int(0)))), "lang.type_mismatch"),
        (operand(vec_copy, WINDOWS[0], ("src", Window("X", (Point(Int(0)),)))), "lang.rank"),
        (operand(vec_copy, WINDOWS[0], ("src", Window("X", (Range(Int(0), 2),)))), "instr.contract"),
        (operand(TAKES, ("n", IndexArg(Var("b")))), "lang.type_mismatch"),
        (operand(TAKES, ("n", IndexArg(Int(-1)))), "lang.type_mismatch"),
        (operand(TAKES, ("n", IndexArg(Bool(True)))), "lang.type_mismatch"),
        (operand(TAKES, ("n", IndexArg(Int(1))), ("when", IndexArg(Int(1)))), "lang.type_mismatch"),
        (operand(acc_store, *WINDOWS, ("fn", IDENTITY)), "lang.collective"),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_broken_statement(broken: Stmt, code: str) -> None:
    assert code in codes(proc(SCRATCH, broken))
    assert code not in codes(proc(SCRATCH, COPY))


def test_an_allocation_ends_with_its_block() -> None:
    late = (If(Cmp("<", Var("b"), Int(4)), (SCRATCH,), ()), COPY)
    assert codes(proc(*late)) == ["lang.scope"]
    assert codes(proc(If(Cmp("<", Var("b"), Int(4)), (SCRATCH, COPY), ()))) == []


def test_scalar_functions_of_one_name() -> None:
    calls = [operand(acc_store, *WINDOWS, ("fn", fn)) for fn in (IDENTITY, replace(IDENTITY, body=Num(1.0)))]
    assert "lang.duplicate_name" in codes(proc(SCRATCH, *calls))
    assert "lang.duplicate_name" not in codes(proc(SCRATCH, calls[0], calls[0]))


Roles = tuple[RoleDecl, ...]


@pytest.mark.parametrize(
    ("threads", "roles", "expected"),
    [
        (96, (RoleDecl("a", 0, 32), RoleDecl("b", 32, 64)), []),
        (96, (RoleDecl("a", 0, 32), RoleDecl("b", 64, 32)), ["lang.role"]),
        (128, (RoleDecl("a", 0, 32), RoleDecl("b", 32, 64)), ["lang.role"]),
        (96, (RoleDecl("a", 0, 32), RoleDecl("a", 32, 64)), ["lang.duplicate_name"]),
        (160, (RoleDecl("a", 0, 32), RoleDecl("b", 32, 128, 64)), ["lang.role"]),
        (160, (RoleDecl("a", 0, 128, 64), RoleDecl("b", 128, 32)), []),
        (128, (RoleDecl("a", 0, 128, 20),), ["lang.role"]),
        (0, (), ["lang.block"]),
    ],
)
def test_blocks(threads: int, roles: Roles, expected: list[str]) -> None:
    assert codes(proc(block=Launch(threads, roles))) == expected


def test_an_algorithm_is_no_kernel() -> None:
    """One finding, at the procedure, and not one for each thing that it lacks."""
    plain = nested(For("s", Int(0), Int(2), Seq(), ()))
    (found,) = check(replace(plain, block=UNSCHEDULED))
    assert (found.code, found.span) == ("lang.block", plain.span) and "is an algorithm" in found.message
    assert "lang.block" in codes(replace(plain, block=Launch(1, span=Span("k.py", 5, 5, 5, 13))))


def nested(*loops: For) -> Proc:
    return replace(proc(), body=loops)


def tasks(var: str, hi: Var | Int, *body: Stmt) -> For:
    return For(var, Int(0), hi, Tasks(), body)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: nested(tasks("a", Var("N"), tasks("b", Var("N"), Fence()))), []),
        (lambda: nested(tasks("a", Var("N"), tasks("b", Var("a"), Fence()))), ["lang.tasks"]),
        (lambda: nested(tasks("a", Var("N"), Fence(), tasks("b", Var("N")))), ["lang.tasks"]),
        (lambda: nested(tasks("a", Var("N")), tasks("b", Var("N"))), ["lang.tasks"]),
        (lambda: nested(), ["lang.no_tasks"]),
        (lambda: nested(For("s", Int(0), Int(2), Seq(), (tasks("a", Var("N")),))), ["lang.no_tasks", "lang.tasks"]),
    ],
)
def test_task_loops(make: Callable[[], Proc], expected: list[str]) -> None:
    assert codes(make()) == expected
