"""Kernels that once got a wrong verdict, with the right one, each beside a correct twin where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput
from exogpu.verify.result import Status
from tests.texts import broken, verdict

WGMMA = """def k(T: size, A: bf16[64, 64] @ GMEM, B: bf16[64, 64] @ GMEM, C: f32[T, 64, 64] @ GMEM):
    {block}
    full = mbarrier(ring=1, count=1)
    for task in tasks(0, T):
        acc: f32[1, 64, 64] @ WGMMA_D
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[64, 64] @ SMEM(swizzle=128)
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:64, 0:64], full)
            Arrive(full, tx=16384)
        {wait}
        wgmma_fence()
        for j in unroll(0, 4):
            wgmma(acc[0, :, :], a[:, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16]{accumulate})
        wgmma_commit()
        wgmma_wait(0)
        acc_store(C[{row}, 0:64, 0:64], acc[0, :, :])
"""


def wgmma(**changed: str) -> str:
    parts = {"block": "block(128)", "wait": "Await(full)", "accumulate": ", accumulate=j > 0", "row": "task"}
    return WGMMA.format(**{**parts, **changed})


def test_the_reference_is_proved(tmp_path: Path) -> None:
    assert verdict(tmp_path, wgmma()).status is Status.PROVED


def test_a_point_dimension_of_a_clipped_store_is_not_clipped(tmp_path: Path) -> None:
    assert broken(verdict(tmp_path, wgmma(row="task + 1"))) == {"bounds"}


def test_an_accumulator_must_be_cleared(tmp_path: Path) -> None:
    assert broken(verdict(tmp_path, wgmma(accumulate=""))) == {"uninit"}


def test_every_lane_waits_for_the_operands(tmp_path: Path) -> None:
    """One lane of each warp waits; the others have acquired nothing."""
    one_lane = "for w in threads(4, unit=warp):\n            for l in threads(1):\n                Await(full)"
    assert "race.raw" in broken(verdict(tmp_path, wgmma(wait=one_lane)))


def test_overflow_of_an_operand_condition(tmp_path: Path) -> None:
    assert broken(verdict(tmp_path, wgmma(accumulate=", accumulate=4 * T <= 100 and j > 0"))) == {"index.overflow"}


@pytest.mark.parametrize("window", ["b[0:8, 0, 0:16]", "b[0:8, 0:16, 0]"])
def test_a_matrix_operand_is_a_tile_of_consecutive_rows(tmp_path: Path, window: str) -> None:
    text = f"""def k(C: f32[64, 8] @ GMEM):
    block(128)
    for task in tasks(0, 1):
        acc: f32[1, 64, 8] @ WGMMA_D
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[8, 64, 64] @ SMEM(swizzle=128)
        wgmma(acc[0, :, :], a[:, 0:16], {window})
"""
    with pytest.raises(BadInput) as error:
        verdict(tmp_path, text)
    assert "b must range over the last dimensions" in error.value.diagnostics[0].message


def test_a_copied_tile_is_a_tile_of_consecutive_rows(tmp_path: Path) -> None:
    text = """def k(X: f32[8, 64] @ GMEM):
    block(32)
    full = mbarrier(ring=1, count=1)
    for task in tasks(0, 1):
        s: f32[8, 8, 64] @ SMEM
        for t in threads(1):
            tma_load(s[0:8, 0, 0:64], X[0:8, 0:64], full)
            Arrive(full, tx=2048)
"""
    with pytest.raises(BadInput) as error:
        verdict(tmp_path, text)
    assert any("last two dimensions" in d.message for d in error.value.diagnostics)


def test_a_guard_on_a_remainder_counts_its_iterations(tmp_path: Path) -> None:
    text = """def k(K: size):
    block(p=warps(1), c=warps(1))
    full = mbarrier(ring=3, count=1)
    for task in tasks(0, 1):
        with role(p):
            Arrive(full)
            for k in seq(0, K):
                if k % 2 == 0:
                    Arrive(full)
        with role(c):
            for j in seq(0, K):
                if j % 2 == 0:
                    Await(full)
"""
    assert "mbar.parity_alias" in broken(verdict(tmp_path, text)), "nothing holds the arrives back"


def test_every_await_of_a_thread_counts_for_an_observed_phase(tmp_path: Path) -> None:
    text = """def k(Y: f32[2] @ GMEM):
    block(a=warps(1), b=warps(1), c=warps(1))
    x = mbarrier(ring=1, count=2)
    y = mbarrier(ring=1, count=1)
    for task in tasks(0, 1):
        with role(a):
            Arrive(x)
        with role(b):
            Arrive(x)
        with role(c):
            Await(x)
            Fence()
            Arrive(y)
        with role(a):
            Await(y)
            Fence()
            Arrive(x)
        with role(b):
            Await(y)
            for l in threads(1):
                Y[0] = 1.0
            Fence()
            Arrive(x)
        with role(c):
            Await(x)
            for l in threads(1):
                Y[1] = Y[0]
        with role(a):
            Arrive(x)
"""
    report = verdict(tmp_path, text)
    assert report.status is not Status.PROVED
    assert any(o.rule == "mbar.unobserved_phase" and o.status is not Status.PROVED for o in report.obligations)
    assert (
        verdict(tmp_path, text.rpartition("        with role(a):\n            Arrive(x)\n")[0]).status is Status.PROVED
    )


VECTOR = """def k(T: size, X: f32[T, 16] @ GMEM, Y: f32[T, 16] @ GMEM):
    block(32)
    for task in tasks(0, T):
        for t in threads(1):
            r: f32[16] @ RMEM
            for i in seq(0, 16):
                r[i] = X[task, i]
            vec_copy(Y[task, 0:4], r[{start} : {start} + 4])
"""


@pytest.mark.parametrize(("start", "status"), [("1", Status.REFUTED), ("4", Status.PROVED)])
def test_vectors_in_registers_are_aligned(tmp_path: Path, start: str, status: Status) -> None:
    assert verdict(tmp_path, VECTOR.format(start=start)).status is status


def test_extents_of_a_tensor_fit_the_index_type(tmp_path: Path) -> None:
    text = """def k(M: size, K: size, X: u8[M, 2, 4 * K] @ GMEM, Y: u8[M] @ GMEM):
    {require}
    block(32)
    for m in tasks(0, M):
        for t in threads(1):
            if K > 0:
                Y[m] = X[m, 1, 3]
"""
    assert broken(verdict(tmp_path, text.format(require="require(K >= 0)"))) == {"index.overflow"}
    assert verdict(tmp_path, text.format(require="require(K < 1000)")).status is Status.PROVED


@pytest.mark.parametrize(
    "fresh",
    [
        "r: f32[1] @ RMEM\n            r[0] += X[task]\n            Y[task] = r[0]",
        "Y[task] = s[0]",
    ],
)
def test_results_must_not_depend_on_unwritten_memory(tmp_path: Path, fresh: str) -> None:
    text = f"""def k(T: size, X: f32[T] @ GMEM, Y: f32[T] @ GMEM):
    block(32)
    for task in tasks(0, T):
        s: f32[1] @ SMEM
        for t in threads(1):
            {fresh}
"""
    assert broken(verdict(tmp_path, text)) == {"uninit"}


def test_a_cta_walks_no_more_tasks_than_there_are(tmp_path: Path) -> None:
    """Two slots are enough for at most two tasks, although nothing frees them."""
    text = """def k(M: size, X: f32[M, 32] @ GMEM, Y: f32[M, 32] @ GMEM):
    require(M <= {most})
    block(producer=warps(1), consumer=warps(1), persistent=True)
    full = mbarrier(ring=4, count=1)
    for m in tasks(0, M):
        s: f32[1, 32] @ SMEM(ring=2)
        with role(producer):
            for t in threads(1):
                tma_load(s[:, :], X[m : m + 1, 0:32], full)
                Arrive(full, tx=128)
        with role(consumer):
            Await(full)
            for l in threads(32):
                Y[m, l] = s[0, l]
"""
    assert verdict(tmp_path, text.format(most=2)).status is Status.PROVED
    report = verdict(tmp_path, text.format(most=3))
    assert report.status is Status.REFUTED
    for obligation in report.obligations:
        if obligation.counterexample is not None:
            sizes = dict(obligation.counterexample.sizes)
            assert sizes["tasks of the CTA"] <= sizes["M"] <= 3


def test_registers_allocated_inside_a_thread_loop_belong_to_its_threads(tmp_path: Path) -> None:
    text = """def k(T: size, X: f32[T, 128] @ GMEM, Y: f32[T, 128] @ GMEM):
    block(128)
    for task in tasks(0, T):
        for w in threads(4, unit=warp):
            r: f32[32] @ RMEM(threads=1)
            for l in threads(32):
                r[l] = X[task, 32 * w + l]
            for l in threads(32):
                Y[task, 32 * w + l] = r[{index}]
"""
    assert verdict(tmp_path, text.format(index="l")).status is Status.PROVED
    assert broken(verdict(tmp_path, text.format(index="31 - l"))) == {"ownership"}


def test_accumulators_of_two_warpgroups_are_two(tmp_path: Path) -> None:
    text = """def k(T: size, A: bf16[64, 64] @ GMEM, B: bf16[64, 64] @ GMEM, C: f32[2, 64, 64] @ GMEM):
    block(256)
    full = mbarrier(ring=1, count=1)
    for task in tasks(0, 1):
        a: bf16[64, 64] @ SMEM(swizzle=128)
        b: bf16[64, 64] @ SMEM(swizzle=128)
        for t in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            tma_load(b[:, :], B[0:64, 0:64], full)
            Arrive(full, tx=16384)
        Await(full)
        for w in threads(2, unit=warpgroup):
            acc: f32[1, 64, 64] @ WGMMA_D
            wgmma_fence()
            for j in unroll(0, 4):
                wgmma(acc[0, :, :], a[:, 16 * j : 16 * j + 16], b[:, 16 * j : 16 * j + 16], accumulate=j > 0)
            wgmma_commit()
            wgmma_wait(0)
            acc_store(C[w, 0:64, 0:64], acc[0, :, :])
"""
    assert verdict(tmp_path, text).status is Status.PROVED


def test_the_whole_window_of_a_clipped_store_fits_the_index_type(tmp_path: Path) -> None:
    """Rows are the window's start plus a lane's offset: with a start near 2**31 they would wrap to negative ones."""
    text = wgmma().replace("C: f32[T, 64, 64] @ GMEM", "M: size, C: f32[T, 64] @ GMEM")
    text = text.replace("C[task, 0:64, 0:64]", "C[2 * M : 2 * M + 64, 0:64]").replace("tasks(0, T)", "tasks(0, 1)")
    head, _, body = text.partition("    block(128)\n")
    for most, rules in ((2**30 - 1, {"index.overflow"}), (1000, set[str]())):
        assert broken(verdict(tmp_path, f"{head}    require(M <= {most})\n    block(128)\n{body}")) == rules


def test_a_vector_of_registers_belongs_to_one_thread(tmp_path: Path) -> None:
    text = """def k(T: size, Y: f32[T, 32] @ GMEM):
    block(32)
    for task in tasks(0, T):
        r: f32[32] @ RMEM(threads=1)
        for t in threads(32):
            r[t] = 1.0
        for t in threads(1):
            vec_copy(Y[task, 0:4], r[4 * t : 4 * t + 4])
"""
    with pytest.raises(BadInput) as error:
        verdict(tmp_path, text)
    assert "distributed over threads" in error.value.diagnostics[0].message


def test_an_await_that_no_thread_executes_observes_nothing(tmp_path: Path) -> None:
    text = """def k(T: size):
    block(a=warps(1), b=warps(1), c=warps(1))
    bar = mbarrier(ring=1, count=1)
    for task in tasks(0, T):
        with role(a):
            Arrive(bar)
            Arrive(bar)
            Arrive(bar)
        with role(b):
            Await(bar)
        with role(c):
            Await(bar)
            for t in threads(2):
                if t == 5:
                    Await(bar)
"""
    report = verdict(tmp_path, text)
    assert report.status is not Status.PROVED


def test_other_tasks_of_a_counterexample_are_other_tasks(tmp_path: Path) -> None:
    """Between tasks 0 and 2 of one CTA lies task 1, whose fence separates them."""
    text = """def k(M: size, Y: f32[3, 64] @ GMEM):
    require(M <= 3)
    block(64, persistent=True)
    for m in tasks(0, M):
        s: f32[64] @ SMEM(ring=2)
        if m == 0:
            for t in threads(64):
                s[t] = 1.0
        if m == 1:
            Fence()
        if m == 2:
            for t in threads(64):
                s[63 - t] = 2.0
"""
    assert verdict(tmp_path, text).status is not Status.REFUTED
