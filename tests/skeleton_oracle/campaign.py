"""Random skeletons in bulk (`tests.nightly --skeletons`): a record for each, and a table of them."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from tests.skeleton_oracle.compare import FAULT, PROVED, Finding, compare
from tests.skeleton_oracle.lines import Block, source
from tests.skeleton_oracle.program import Program, numbered, parse
from tests.skeleton_oracle.shrink import shrink

CRASH = "CRASH"
Record = dict[str, Any]


def judge(seed: int, number: int, kinds: Sequence[str] = ()) -> Record:
    """The finding on one program; a crash of a judge is a disagreement, too."""
    program = numbered(seed, number, kinds)
    finding = found(program.block)
    wrong = disagreement(program, finding)
    record: Record = {"number": number, "kinds": program.kinds, "edits": program.edits, "disagreement": wrong}
    record |= asdict(finding)
    if wrong:
        record["text"] = program.text
        record["smallest"] = source(shrink(program.block, partial(_still, finding.proof)))
    return record


def found(block: Block) -> Finding:
    """What the judges say of a program."""
    try:
        return compare(parse(block))
    except Exception:
        return Finding(CRASH, CRASH, traceback.format_exc().splitlines()[-1], traceback.format_exc(), (0.0, 0.0))


def disagreement(program: Program, finding: Finding) -> str:
    """What is wrong with a finding; empty if nothing is."""
    if finding.proof == CRASH:
        return finding.message
    if finding.executions == FAULT and finding.proof == PROVED:
        return f"PROVED, and an execution goes wrong: {finding.rule}: {finding.message}"
    if finding.executions == FAULT and not program.edits:
        return f"right as it was made, and an execution goes wrong: {finding.rule}: {finding.message}"
    return ""


def _still(proof: str, block: Block) -> bool:
    finding = found(block)
    return finding.proof == proof and finding.executions in (FAULT, CRASH)


def table(records: Iterable[Mapping[str, Any]], seconds: float) -> str:
    """Counts of what the judges say, what right programs lack, and every disagreement."""
    rows = sorted(records, key=lambda r: int(r["number"]))
    lines = [f"{len(rows)} skeletons, {sum(1 for r in rows if r['edits'])} of them with edits, {seconds:.0f} s"]
    for edited, title in ((False, "as they were made"), (True, "with edits")):
        verdicts = Counter((r["proof"], r["executions"]) for r in rows if bool(r["edits"]) is edited)
        lines += [f"{title}:", *(f"{n:>8}  {p:9} {e}" for (p, e), n in verdicts.most_common())]
    lines += _by_kind(rows)
    faults = Counter(r["rule"] for r in rows if r["executions"] == FAULT)
    lines += ["faults, by rule:", *(f"{n:>8}  {rule}" for rule, n in faults.most_common())]
    lacking = [r for r in rows if not r["edits"] and r["proof"] != PROVED and r["executions"] != FAULT]
    reasons = Counter(_plain(r["rule"]) for r in lacking)
    lines += ["right and not proved, by reason:", *(f"{n:>8}  {reason}" for reason, n in reasons.most_common())]
    judges = [sum(r["seconds"][i] for r in rows) for i in range(2)]
    lines.append("seconds: prover {:.0f}, executions {:.0f}".format(*judges))
    wrong = [r for r in rows if r["disagreement"]]
    for r in wrong:
        lines += ["", f"DISAGREEMENT on skeleton {r['number']} ({r['edits']} edits): {r['disagreement']}", r["text"]]
        lines += ["smallest:", r["smallest"]]
    return "\n".join([*lines, f"{len(wrong)} disagreements"])


def _by_kind(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What becomes of the programs of each kind, right ones and edited ones apart."""
    yield "by kind:   as made: proved, open, wrong   with edits: proved, faulty, open, wrong"
    for kind in sorted({k for r in rows for k in r["kinds"]}):
        mine = [r for r in rows if kind in r["kinds"]]
        made, edited = ([r for r in mine if bool(r["edits"]) is e] for e in (False, True))
        faulty = sum(r["executions"] == FAULT for r in edited)
        (proved, left, wrong), (shown, unshown, disputed) = map(_outcomes, (made, edited))
        yield f"{kind:>10}          {proved:7}{left:6}{wrong:7}{shown:20}{faulty:8}{unshown:6}{disputed:7}"


def _outcomes(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int, int]:
    """How many are proved, how many are neither proved nor faulty, how many are disagreements."""
    left = sum(r["proof"] != PROVED and r["executions"] != FAULT for r in rows)
    return sum(r["proof"] == PROVED for r in rows), left, sum(bool(r["disagreement"]) for r in rows)


def _plain(reason: str) -> str:
    """A reason without the names and numbers of one program."""
    return re.sub(r"`[^`]*`|\b[\w.]*\d[\w./\[\]-]*|\b\d+\b", "_", reason)
