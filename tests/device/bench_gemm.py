"""Times a bf16 GEMM bundle (gemm_bf16, or another with `--bundle`) against torch.matmul (the vendor library),
interleaved, on random normal data.

    EXOGPU_BUNDLES=FOLDER python -m tests.device.bench_gemm [--bundle NAME] [MxNxK ...]

A kernel with an f32 result adds to C (gemm_splitk): clearing C is part of its time.

Each round runs A B B A windows of several launches over rotating buffers; the ratio is vendor time / our time, the
median over rounds. Before timing, every element is compared with an f32 product; C was poisoned with NaN, or cleared.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exogpu.codegen.manifest import TensorArgument
from exogpu.codegen.runtime import Kernel

SHAPES = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (4096, 14336, 4096))
ROTATED_BYTES = 200 << 20
WINDOW_MS = 60.0
WARM_UP_MS = 40.0
ROUNDS = 8


def main() -> None:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", help="problems as MxNxK")
    parser.add_argument("--bundle", default="gemm_bf16")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    shapes = [tuple(int(n) for n in text.split("x")) for text in options.shapes] or list(SHAPES)
    torch = importlib.import_module("torch")
    kernel = Kernel.load(Path(os.environ["EXOGPU_BUNDLES"]) / f"{options.bundle}.exogpu")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {options.rounds} rounds ABBA")
    columns = ("M", 6), ("N", 6), ("K", 6), ("vendor TF", 10), ("ours TF", 9), ("ratio", 7), ("min", 7), ("max", 7)
    print(" ".join(f"{name:>{width}}" for name, width in (*columns, ("rel err", 9))))
    for m, n, k in shapes:
        error = check(torch, kernel, m, n, k)
        ours, vendor, ratios = compare(torch, kernel, (m, n, k), options.rounds)
        work = 2.0 * m * n * k * 1e-9
        rates = f"{work / vendor:10.1f} {work / ours:9.1f}"
        spread = f"{statistics.median(ratios):7.3f} {min(ratios):7.3f} {max(ratios):7.3f}"
        print(f"{m:6} {n:6} {k:6} {rates} {spread} {error:9.2e}", flush=True)


def check(torch: Any, kernel: Kernel, m: int, n: int, k: int) -> float:
    """Relative error against f32; fails if any element is wrong."""
    torch.manual_seed(m + n + k)
    a, b = (torch.randn(rows, k, device="cuda").bfloat16() for rows in (m, n))
    start = 0.0 if adds(kernel) else float("nan")
    c = torch.full((m, n), start, device="cuda", dtype=torch.float32 if adds(kernel) else torch.bfloat16)
    kernel(a, b, c)
    wanted = a.float() @ b.float().T
    difference = (c.float() - wanted).abs()
    limit = wanted.abs() * 2**-7 + k**0.5 * 1e-3
    if not bool((difference <= limit).all()):
        raise SystemExit(f"{m}x{n}x{k}: wrong results, largest difference {difference.max().item()}")
    return float((difference.norm() / wanted.norm()).item())


def adds(kernel: Kernel) -> bool:
    """The kernel adds to an f32 C."""
    return any(isinstance(a, TensorArgument) and (a.name, a.dtype) == ("C", "f32") for a in kernel.manifest.arguments)


def compare(torch: Any, kernel: Kernel, shape: tuple[int, int, int], rounds: int) -> tuple[float, float, list[float]]:
    """Median milliseconds of ours and the vendor's, and the ratio of each round."""
    m, n, k = shape
    sets = max(2, min(24, ROTATED_BYTES // (2 * (m * k + n * k + m * n)) + 1))
    buffers = [
        (
            torch.randn(m, k, device="cuda").bfloat16(),
            torch.randn(n, k, device="cuda").bfloat16(),
            torch.empty(m, n, device="cuda", dtype=torch.bfloat16),
        )
        for _ in range(sets)
    ]

    sums = [torch.empty(m, n, device="cuda") for _ in range(sets if adds(kernel) else 0)]

    def ours(i: int) -> None:
        a, b, c = buffers[i % sets]
        kernel(a, b, sums[i % sets].zero_() if sums else c)

    def vendor(i: int) -> None:
        a, b, c = buffers[i % sets]
        torch.mm(a, b.T, out=c)

    graphs = {name: captured(torch, fn, sets) for name, fn in (("ours", ours), ("vendor", vendor))}
    window(torch, graphs["vendor"], sets, WARM_UP_MS)
    times: dict[str, list[float]] = {"ours": [], "vendor": []}
    ratios: list[float] = []
    for _ in range(rounds):
        found: dict[str, list[float]] = {"ours": [], "vendor": []}
        for name in ("vendor", "ours", "ours", "vendor"):
            window(torch, graphs[name], sets, WARM_UP_MS)
            found[name].append(window(torch, graphs[name], sets, WINDOW_MS))
        for name, values in found.items():
            times[name] += values
        ratios.append(sum(found["vendor"]) / sum(found["ours"]))
    return statistics.median(times["ours"]), statistics.median(times["vendor"]), ratios


def captured(torch: Any, launch: Callable[[int], None], count: int) -> Any:
    """A CUDA graph of `count` launches, one for each buffer set."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for i in range(count):
            launch(i)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(count):
            launch(i)
    return graph


def window(torch: Any, graph: Any, count: int, milliseconds: float) -> float:
    """Milliseconds of one launch, measured over at least `milliseconds` of replays."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    replays: int = max(1, round(milliseconds / max(start.elapsed_time(end), 1e-3)))
    start.record()
    for _ in range(replays):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    elapsed: float = start.elapsed_time(end)
    return elapsed / (replays * count)


if __name__ == "__main__":
    main()
