"""The derived kernels are the hand-annotated ones up to names, and compute what the three loops do."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from exogpu.codegen.cuda.printer import print_source
from exogpu.codegen.emit import prelude
from exogpu.codegen.lower.kernel import lower
from exogpu.codegen.nvrtc import compile_cubin
from exogpu.ir.index import Bool, BoolOp, Cmp, Cond, Index, Not
from exogpu.ir.interp import interpret, random_inputs
from exogpu.ir.linear import Linear, linear
from exogpu.ir.print_expr import index_text
from exogpu.ir.proc import Proc
from exogpu.ir.substitute import Change, alike, change
from exogpu.kernels.gemm_bf16_cluster import build, gemm_bf16_cluster
from exogpu.kernels.gemm_f32 import gemm_f32
from exogpu.kernels.gemm_pingpong import gemm_pingpong
from exogpu.kernels.gemm_splitk import gemm_splitk
from exogpu.kernels.schedules.cluster import Shape, derivation
from exogpu.schedule import Schedule
from exogpu.schedule.simplify import total
from exogpu.verify.prove import prove

BY_HAND = {"cluster": gemm_bf16_cluster, "f32": gemm_f32, "pingpong": gemm_pingpong, "splitk": gemm_splitk}


@cache
def derived(name: str) -> Schedule:
    schedule: Schedule = import_module(f"exogpu.kernels.schedules.{name}").DERIVATION
    return schedule


def canonical_index(e: Index) -> Index:
    form = linear(e)
    return total(Linear(dict(sorted(form.terms.items(), key=lambda term: index_text(term[0]))), form.const))


def canonical_cond(c: Cond) -> Cond:
    match c:
        case Cmp(op, left, right):
            return Cmp(op, canonical_index(left), canonical_index(right))
        case BoolOp(op, args):
            return BoolOp(op, tuple(map(canonical_cond, args)))
        case Not(arg):
            return Not(canonical_cond(arg))
        case Bool():
            return c


def canonical(proc: Proc) -> Proc:
    """The procedure with sums in one order."""
    return replace(proc, body=change(proc.body, Change(canonical_index, canonical_cond)))


@pytest.mark.parametrize("name", BY_HAND)
def test_derived_is_what_was_annotated_by_hand(name: str) -> None:
    by_hand, kernel = canonical(BY_HAND[name]), canonical(derived(name).kernel)
    assert alike(by_hand.body, kernel.body)
    assert replace(by_hand, body=()) == replace(kernel, body=())


@pytest.mark.parametrize("shape", [(1, 4, 2, 256), (4, 3, 1, 128)])
def test_the_flagship_is_derived_in_other_shapes(shape: tuple[int, int, int, int]) -> None:
    by_hand, kernel = canonical(build(*shape)), canonical(derivation(Shape(*shape)).kernel)
    assert alike(by_hand.body, kernel.body)
    assert replace(by_hand, body=()) == replace(kernel, body=())


@pytest.mark.parametrize("name", ["cluster", "f32"])
def test_the_machine_code_is_the_same(name: str) -> None:
    by_hand, kernel = BY_HAND[name], derived(name).kernel
    cubins = (compile_cubin(print_source(lower(p, (), prelude()).source), p.name).cubin for p in (by_hand, kernel))
    assert len({*cubins}) == 1


@pytest.mark.parametrize("name", BY_HAND)
def test_every_step_is_logged_with_its_proofs(name: str) -> None:
    s = derived(name)
    assert s.reassociated == (name == "splitk")
    assert sum(len(step.obligations) for step in s.steps) > 80
    assert all(step.obligations for step in s.steps if step.operator in ("replace", "drop_guard", "run_ahead"))


@pytest.mark.parametrize("name", ["cluster", "pingpong", "splitk"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (70, 24, 65), (130, 259, 20)])
def test_derived_computes_what_the_three_loops_do(name: str, sizes: tuple[int, int, int]) -> None:
    s = derived(name)
    args = random_inputs(s.original, dict(zip("MNK", sizes, strict=True)), seed=1)
    args |= {n: np.round(a * 2).astype(a.dtype) for n, a in args.items() if isinstance(a, np.ndarray)}
    np.testing.assert_array_equal(interpret(s.kernel, args)["C"], interpret(s.original, args)["C"])


def test_the_f32_kernel_takes_b_in_another_order() -> None:
    s = derived("f32")
    args = random_inputs(s.original, {"M": 33, "N": 130, "K": 9}, seed=1)
    args |= {n: np.round(a * 2).astype(a.dtype) for n, a in args.items() if isinstance(a, np.ndarray)}
    want = interpret(s.original, args)["C"]
    np.testing.assert_array_equal(interpret(s.kernel, {**args, "B": np.asarray(args["B"]).T.copy()})["C"], want)


@pytest.mark.parametrize("name", ["f32", "cluster"])
def test_derived_is_proved(name: str) -> None:
    proven, report = prove(derived(name).kernel)
    assert proven is not None, report
