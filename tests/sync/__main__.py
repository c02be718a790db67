"""`python -m tests.sync KERNEL`: has `exogpu sync` repair every mutant of a shipped kernel, and prints what it made of
each. The exit status is 1 if for some mutant with the kernel's data statements nothing was found."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from exogpu.verify.mutants import mutants
from tests.sync.repairs import Result, repaired_mutant, shipped


def main() -> int:
    """Prints a line for each mutant, and the totals."""
    parser = argparse.ArgumentParser(prog="python -m tests.sync", description=__doc__)
    parser.add_argument("kernel", nargs="?", default="gemm_bf16_cluster", help="a shipped kernel")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    given = parser.parse_args()
    count = sum(1 for _ in mutants(shipped(given.kernel)))
    totals = Counter[Result]()
    with ProcessPoolExecutor(given.jobs) as pool:
        for repair in pool.map(partial(repaired_mutant, given.kernel), range(count)):
            totals[repair.result] += 1
            why = f"  [{repair.why}]" if repair.why else ""
            what = f"{repair.line:5d}  {repair.result.value:28s}{repair.seconds:6.1f} s  {repair.what}"
            print(what + why, flush=True)
    print(", ".join(f"{count} {result.value}" for result, count in totals.items()))
    return int(Result.NOTHING in totals)


if __name__ == "__main__":
    sys.exit(main())
