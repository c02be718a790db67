"""Kernels from files compile to sm_90a machine code without spills; no GPU and no change to the package is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.codegen.bundle import Bundle
from exogpu.codegen.emit import emit
from tests.codegen.proofs import CASES, ROOT, cuda_text, kernels, parse, proven

FILES = [
    *sorted((ROOT / "exogpu" / "kernels").glob("gemm_*.py")),
    *sorted((ROOT / "examples").glob("*.py")),
    *sorted(CASES.glob("*.py")),
]


def compiled(path: Path) -> dict[str, Bundle]:
    return {name: emit(proven(proc)) for name, proc in kernels(path).items()}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_file_compiles_without_spills(path: Path) -> None:
    bundles = compiled(path)
    assert bundles
    for bundle in bundles.values():
        assert bundle.cubin[:4] == b"\x7fELF"
        assert bundle.manifest.resources["spill_store_bytes"] == 0
        assert bundle.manifest.resources["spill_load_bytes"] == 0
        assert bundle.manifest.resources["stack_bytes"] == 0


def test_bf16_gemm_has_the_intended_form() -> None:
    (bundle,) = compiled(ROOT / "exogpu" / "kernels" / "gemm_bf16.py").values()
    manifest = bundle.manifest
    assert manifest.threads == 384 and manifest.persistent
    assert manifest.resources["registers"] == 168
    maps = {p.name: (p.box, p.swizzle) for p in manifest.parameters if p.kind == "map"}
    assert maps == {"A": ((128, 64), 128), "B": ((256, 64), 128), "C": ((64, 64), 128)}
    assert [p.name for p in manifest.parameters if p.kind == "size"] == ["M", "N", "K"]
    for text in ("registers_dec<40>", "registers_inc<232>", "__launch_bounds__(384, 1)", "tma_store_2d", "stmatrix_x4"):
        assert text in bundle.cuda
    main_loop = bundle.cuda[bundle.cuda.index("mbarrier_wait(full_barrier") :]
    main_loop = main_loop[: main_loop.index("wgmma_wait_0();")]
    assert main_loop.count("wgmma_m64n256k16_bf16") == 4
    assert main_loop.count("_slot += 1") == 2, "one counter for the stages, one for the releases"


def test_cluster_gemm_multicasts_and_arrives_across_ctas() -> None:
    (bundle,) = compiled(ROOT / "exogpu" / "kernels" / "gemm_bf16_cluster.py").values()
    assert bundle.manifest.cluster == 2
    maps = {p.name: p.box for p in bundle.manifest.parameters if p.kind == "map"}
    assert maps == {"A": (128, 64), "B": (128, 64), "C": (64, 64)}, "half of B's tile is loaded by each CTA"
    text = bundle.cuda[bundle.cuda.index('extern "C"') :]
    assert "__cluster_dims__(2, 1, 1)" in text
    for part in ("task = blockIdx.x >> 1", "task += gridDim.x >> 1", "3u\n", "mbarrier_wait_cluster(empty_barrier"):
        assert part in text
    assert text.count("mbarrier_arrive_relaxed_at(empty_barrier") == 2
    assert text.count("cluster_barrier();") == 3, "at the start, and at the end of each role"
    assert "mbarrier_wait(full_barrier" in text, "nobody of another CTA arrives on `full`"


def test_elements_of_another_cta_are_reached_through_its_window() -> None:
    text = cuda_text(kernels(ROOT / "examples" / "cluster_reverse.py")["cluster_reverse"])
    assert "parts[t] = X[" in text
    assert "in_cta(parts, 3 - c_1)[127 - t_1]" in text


def test_only_tensors_that_nothing_writes_are_restricted() -> None:
    """A restricted pointer licenses non-coherent loads, also of rows that TMA stores to."""
    text = cuda_text(kernels(CASES / "pipelines.py")["reread"])
    assert "const float* __restrict__ X" in text
    assert "float* Y" in text
    assert "__restrict__ Y" not in text


def test_copies_are_whole_where_they_can_be_and_else_partial() -> None:
    bundle = compiled(CASES / "copies.py")["copy_groups"]
    assert "count_inside(" in bundle.cuda and "cp.async.cg.shared::cta.global [%0], [%1], 16, %2;" in bundle.cuda
    text = cuda_text(kernels(CASES / "copies.py")["copy_arrivals"])
    assert "cp.async.mbarrier.arrive.noinc.shared::cta.b64" in text
    assert "copy_async<4>(" in text


def test_output_is_the_same_every_time() -> None:
    path = CASES / "pipelines.py"
    first, second = ({n: cuda_text(p) for n, p in kernels(path).items()} for _ in range(2))
    assert first == second


TINY = """
@proc
def tiny(M: size, N: size, A: f32[M, N] @ GMEM, B: bf16[M, N] @ GMEM):
    require(N >= 1)
    block(left=warps(1), right=warps(2), persistent=True, raster=4)
    done = mbarrier(ring=2, count=2)
    for i in tasks(0, ceildiv(M, 4)):
        for j in tasks(0, ceildiv(N, 32)):
            s: f32[4, 33] @ SMEM(ring=2)
            with role(left):
                for t in threads(32):
                    for r in unroll(0, 4):
                        s[r, t] = select(4 * i + r < M and 32 * j + t < N, A[4 * i + r, 32 * j + t], 0.0)
            Fence()
            with role(right):
                for w in threads(2, unit=warp):
                    for t in threads(32):
                        for r in seq(2 * w, 2 * w + 2):
                            if 4 * i + r < M and 32 * j + t < N:
                                B[4 * i + r, 32 * j + t] = exp(s[r, t]) * 0.5
                    Arrive(done)
            with role(left):
                Await(done, lag=1)
"""


def test_golden_source(golden: Callable[[str, str], None], tmp_path: Path) -> None:
    golden("codegen/tiny.cu", cuda_text(parse(TINY, tmp_path)))


NAMES = """
@proc
def swizzle(register: size, max: f32[register] @ GMEM, expf: f32[register] @ GMEM, narrow: bf16[register] @ GMEM):
    block(32)
    for task in tasks(0, register):
        for warp in threads(1):
            float: f32[2] @ RMEM
            float[0] = exp(max[task])
            float[1] = min(float[0], expf[task])
            narrow[task] = float[1]
"""


def test_any_python_name_is_allowed(tmp_path: Path) -> None:
    bundle = emit(proven(parse(NAMES, tmp_path)))
    assert bundle.manifest.kernel == "swizzle"
    assert bundle.manifest.entry == "swizzle_kernel"


TWO_BOXES = """
@proc
def boxes(M: size, N: size, A: f32[M, N] @ GMEM, B: f32[M, N] @ GMEM):
    block(32)
    done = mbarrier(ring=1, count=1)
    for i in tasks(0, ceildiv(M, 8)):
        s: f32[8, 32] @ SMEM(swizzle=128)
        for c in unroll(0, 2):
            t: f32[8, 4] @ SMEM
            for p in threads(1):
                tma_load(s[:, :], A[8 * i : 8 * i + 8, 32 * c : 32 * c + 32], done)
                tma_load(t[:, :], A[8 * i : 8 * i + 8, 4 * c : 4 * c + 4], done)
                Arrive(done, tx=8 * 36 * 4)
            Await(done)
            for t1 in threads(32):
                for r in unroll(0, 8):
                    if 8 * i + r < M and 32 * c + t1 < N:
                        B[8 * i + r, 32 * c + t1] = s[r, t1] + t[r, t1 % 4]
            Fence()
"""


def test_one_tensor_may_have_several_maps(tmp_path: Path) -> None:
    bundle = emit(proven(parse(TWO_BOXES, tmp_path)))
    maps = [(p.name, p.box, p.swizzle) for p in bundle.manifest.parameters if p.kind == "map"]
    assert maps == [("A", (8, 32), 128), ("A", (8, 4), 0)]
    assert "swizzle<128>" in bundle.cuda, "elements of a swizzled buffer are read where TMA put them"
