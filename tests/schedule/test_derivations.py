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
from exogpu.equiv.equivalent import equivalent
from exogpu.ir.index import Bool, BoolOp, Cmp, Cond, Index, Not
from exogpu.ir.interp import interpret
from exogpu.ir.linear import Linear, linear
from exogpu.ir.print_expr import index_text
from exogpu.ir.proc import Proc
from exogpu.ir.substitute import Change, alike, change
from exogpu.ir.terms import total
from exogpu.isa import tma_load_multicast
from exogpu.kernels.gemm_bf16 import gemm_bf16
from exogpu.kernels.gemm_bf16_cluster import build, gemm_bf16_cluster
from exogpu.kernels.gemm_f32 import gemm_f32
from exogpu.kernels.gemm_pingpong import gemm_pingpong
from exogpu.kernels.gemm_splitk import gemm_splitk
from exogpu.kernels.schedules import f32
from exogpu.kernels.schedules.cluster import Shape, derivation
from exogpu.kernels.schedules.three_loops import matmul
from exogpu.lang import bf16
from exogpu.schedule import Schedule, drop_guard, lift_alloc, mbarrier, run_ahead, schedule, stage
from exogpu.schedule import replace as replace_
from exogpu.schedule.journal import html, markdown
from exogpu.schedule.library import clear_first, outwards, sums_apart, tile
from exogpu.verify.prove import prove
from tests.schedule.common import example, refusal, start, whole_inputs

BY_HAND = {
    "f32": gemm_f32,
    "bf16": gemm_bf16,
    "cluster": gemm_bf16_cluster,
    "pingpong": gemm_pingpong,
    "splitk": gemm_splitk,
}


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


@pytest.mark.parametrize("name", ["bf16", "cluster", "pingpong", "splitk"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (70, 24, 65), (130, 259, 20)])
def test_derived_computes_what_the_three_loops_do(name: str, sizes: tuple[int, int, int]) -> None:
    s = derived(name)
    args = whole_inputs(s.original, dict(zip("MNK", sizes, strict=True)))
    np.testing.assert_array_equal(interpret(s.kernel, args)["C"], interpret(s.original, args)["C"])


@pytest.mark.parametrize("name", ["cluster", "pingpong", "splitk"])
def test_derived_is_equivalent_to_the_three_loops(name: str) -> None:
    """Proved without the steps that led there."""
    s = derived(name)
    found = equivalent(s.kernel, s.original)
    assert found.proved and bool(found.reassociated) == s.reassociated


def test_the_f32_kernel_takes_b_in_another_order() -> None:
    s = derived("f32")
    args = whole_inputs(s.original, {"M": 33, "N": 130, "K": 9})
    want = interpret(s.original, args)["C"]
    np.testing.assert_array_equal(interpret(s.kernel, {**args, "B": np.asarray(args["B"]).T.copy()})["C"], want)


@pytest.mark.parametrize("name", ["f32", "cluster"])
def test_derived_is_proved(name: str) -> None:
    proven, report = prove(derived(name).kernel)
    assert proven is not None, report


def test_a_derivation_replays() -> None:
    s = derived("splitk")
    assert s.replay().proc == s.proc


def test_a_log_shows_every_step() -> None:
    s = derived("cluster")
    assert markdown(s).count("\n## ") == len(s.steps) + 2
    assert "replace(" in html(s)


def test_sums_are_cleared_in_a_first_step_only_if_there_is_one() -> None:
    s = sums_apart(tile(schedule(matmul(bf16, bf16)), ("m", 64, "tm"), ("n", 64, "tn")), "acc", "k", "tn")
    s = outwards(s, "k", "tn")
    assert example(lambda: clear_first(s, "acc", "m"))["K"] == 0


def test_slabs_are_loaded_ahead_only_into_another_buffer() -> None:
    s = f32.tiles(f32.start())
    products = s.find("k").body()
    s = stage(s, products, "A[128 * bm : 128 * bm + 128, 8 * k : 8 * k + 8]", "sA", edges="zero")
    s = lift_alloc(s, "sA")
    found = example(lambda: run_ahead(s, "sA.load"))
    assert found["k'"] == found["k"] + 1


def test_guards_along_k_stay_without_zeros() -> None:
    s = f32.tiles(f32.start())
    products = s.find("k").body()
    s = stage(s, products, "A[128 * bm : 128 * bm + 128, 8 * k : 8 * k + 8]", "sA", edges="zero")
    s = stage(s, products, "B[8 * k : 8 * k + 8, 128 * bn : 128 * bn + 128]", "sB", edges="guard")
    refusal(lambda: drop_guard(s, s.find("acc[_] += _").parent()), "schedule.condition")


def test_a_part_of_another_size_is_no_multicast() -> None:
    s = mbarrier(start("shared"), "full", count=1)
    window = "s[0:3, 16 * q : 16 * q + 16, :]"
    assert "c" in example(lambda: replace_(s, "c", tma_load_multicast, barrier="full", dst=window))
