"""Random programs under three judges, in bulk: `python -m tests.nightly --programs 20000 --seed 0 --jobs 2`.

Prints a table of verdicts and every disagreement with the program that shows it; the exit status is 1 if there is one.
With `--skeletons` the programs are sync skeletons, and the judges their prover and executions at small sizes.
With `--log FILE` results are kept there as they come, and a second call continues where the first one ended.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from tests.oracle.compare import Finding, compare
from tests.oracle.program import numbered
from tests.oracle.shrink import shrink
from tests.skeleton_oracle import campaign
from tests.skeleton_oracle.generate import SHAPES

Record = dict[str, Any]


def judge(seed: int, number: int) -> Record:
    """The finding on one program; a crash of a judge is a disagreement, too."""
    program = numbered(seed, number)
    try:
        finding = compare(program.proc)
    except Exception:
        finding = Finding("CRASH", (), 0, traceback.format_exc(), (0.0, 0.0, 0.0))
    record: Record = {"number": number, "edit": program.edit, **asdict(finding)}
    if finding.disagreement:
        record["text"] = program.text
        if finding.status != "CRASH":
            record["smallest"] = to_source(shrink(program.proc, partial(_still, finding.status)))
    return record


def _still(status: str, proc: Proc) -> bool:
    try:
        found = compare(proc)
    except Exception:
        return False
    return bool(found.disagreement) and found.status == status


def table(records: Iterable[Mapping[str, Any]], seconds: float) -> str:
    """Counts of verdicts and reasons, and every disagreement."""
    found = sorted(records, key=lambda r: int(r["number"]))
    lines = [f"{len(found)} programs, {sum(1 for r in found if r['edit'])} of them with an edit, {seconds:.0f} s"]
    lines += [f"{n:>8}  {status}" for status, n in Counter(r["status"] for r in found).most_common()]
    for status, title in (("REFUTED", "refuted, by rule"), ("UNKNOWN", "unknown, by reason")):
        reasons = Counter(_plain(rule) for r in found if r["status"] == status for rule in r["rules"])
        lines += [f"{title}:", *(f"{n:>8}  {rule}" for rule, n in reasons.most_common())] if reasons else []
    confirmed = sum(int(r["confirmed"]) for r in found)
    lines.append(f"{confirmed:>8}  refuted obligations that another judge reproduced")
    judges = [sum(r["seconds"][i] for r in found) for i in range(3)]
    lines.append("seconds: prover {:.0f}, explicit oracle {:.0f}, simulator {:.0f}".format(*judges))
    wrong = [r for r in found if r["disagreement"]]
    for r in wrong:
        lines += [
            "",
            f"DISAGREEMENT on program {r['number']} ({r['edit'] or 'no edit'}): {r['disagreement']}",
            r["text"],
        ]
        lines += ["smallest:", r["smallest"]] if "smallest" in r else []
    return "\n".join([*lines, f"{len(wrong)} disagreements"])


def _plain(reason: str) -> str:
    """A reason without the names and numbers of one program."""
    return re.sub(r"`[^`]*`|\b[a-zA-Z]+\d+\b|\b\d+\b", "_", reason)


def _known(log: Path | None) -> Iterator[Record]:
    if log is not None and log.exists():
        yield from (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())


def main(argv: list[str] | None = None) -> int:
    """Judges the programs that the log does not have yet; 1 if there is a disagreement."""
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description=__doc__)
    parser.add_argument("--skeletons", action="store_true", help="sync skeletons in place of kernels")
    parser.add_argument("--programs", type=int, default=20_000, help="how many programs (default 20000)")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other programs")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--log", type=Path, help="a file that keeps results, one JSON object a line")
    parser.add_argument("--kinds", nargs="*", default=(), choices=SHAPES, help="skeletons of these kinds alone")
    options = parser.parse_args(argv)
    judged = partial(campaign.judge, kinds=options.kinds) if options.skeletons else judge
    shown = campaign.table if options.skeletons else table
    started = time.monotonic()
    records = {int(r["number"]): r for r in _known(options.log)}
    left = [n for n in range(options.programs) if n not in records]
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=200) as pool:
        for record in pool.imap_unordered(partial(judged, options.seed), left, chunksize=4):
            records[record["number"]] = record
            if options.log is not None:
                with options.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
            if record["disagreement"]:
                print(f"disagreement on program {record['number']}", file=sys.stderr, flush=True)
    found = [records[n] for n in sorted(records) if n < options.programs]
    print(shown(found, time.monotonic() - started))
    return 1 if any(r["disagreement"] for r in found) else 0


if __name__ == "__main__":
    sys.exit(main())
