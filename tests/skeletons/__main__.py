"""`python -m tests.skeletons`: verifies the corpus and prints a table of its classes, then what is not as expected."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from tests.skeletons.corpus import Answer, Outcome, cases, judge

COLUMNS = tuple(Answer)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns 1 if a verdict is not the expected one."""
    parser = argparse.ArgumentParser(prog="python -m tests.skeletons", description=__doc__)
    parser.add_argument("--only", default="", metavar="PREFIX", help="files whose names begin so, such as sb0")
    parser.add_argument("--class", dest="kind", default="", metavar="NAME", help="one class of bugs, such as ring-war")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    given = parser.parse_args(argv)
    chosen = [c for c in cases() if c.file.startswith(given.only) and given.kind in ("", c.kind)]
    if not chosen:
        parser.error("no skeleton is chosen")
    if given.jobs > 1:
        with ProcessPoolExecutor(given.jobs) as pool:
            outcomes = list(pool.map(judge, chosen))
    else:
        outcomes = [judge(c) for c in chosen]
    print("\n".join([*table(outcomes), *findings(outcomes)]))
    return int(any(o.answer is not Answer.RIGHT for o in outcomes))


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each class, and one for all."""
    kinds = sorted({o.case.kind for o in outcomes})
    width = max(len(k) for k in [*kinds, "class"])
    lines = [f"{'class':{width}}" + "".join(f"{c.value:>13}" for c in COLUMNS) + f"{'seconds':>10}{'slowest':>10}"]
    for kind in kinds:
        lines.append(_line(f"{kind:{width}}", [o for o in outcomes if o.case.kind == kind]))
    lines.append(_line(f"{'all':{width}}", outcomes))
    return lines


def _line(head: str, outcomes: Sequence[Outcome]) -> str:
    counts = [sum(o.answer is c for o in outcomes) for c in COLUMNS]
    seconds = [o.seconds for o in outcomes]
    return head + "".join(f"{n:>13}" for n in counts) + f"{sum(seconds):>10.1f}{max(seconds):>10.1f}"


def findings(outcomes: Sequence[Outcome]) -> list[str]:
    """Every verdict that is not as expected."""
    lines: list[str] = []
    for o in outcomes:
        if o.answer is not Answer.RIGHT:
            lines += ["", f"{o.case}: {o.answer.value}", f"  expected {' | '.join(o.case.expected)}", f"  got {o.got}"]
    return lines


if __name__ == "__main__":
    sys.exit(main())
