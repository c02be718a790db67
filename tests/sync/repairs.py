"""What `sync` makes of the mutants of a kernel."""

from __future__ import annotations

import enum
import re
import time
from dataclasses import dataclass
from itertools import islice

from exogpu.cli.targets import procedures, resolve
from exogpu.diagnostics import BadInput
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.sync import infer_sync
from exogpu.sync.bare import bare
from exogpu.verify.edits import Edit
from exogpu.verify.mutants import mutants
from exogpu.verify.result import Status


class Result(enum.Enum):
    """`ORIGINAL`: the kernel as it was before the edit; `OTHER`: another one that is proved; `DATA`: the edit changed
    data statements, and nothing was found."""

    STANDS = "proved as it stands"
    ORIGINAL = "the original"
    OTHER = "another repair"
    NOTHING = "nothing found"
    DATA = "data changed, nothing found"
    REJECTED = "not a kernel"


@dataclass(frozen=True, slots=True)
class Repair:
    """A mutant (its line, and what the edit was), what became of it, in seconds, and why nothing did."""

    line: int
    what: str
    result: Result
    seconds: float
    why: str = ""


def shipped(name: str) -> Proc:
    """The kernel of that name."""
    (proc,) = procedures(resolve(name))
    return proc


def repaired(original: Proc, edit: Edit) -> Repair:
    """What `sync` makes of a mutant of a proved kernel."""
    line, what, started = edit.span.line, edit.what, time.perf_counter()
    try:
        found = infer_sync(edit.proc)
    except BadInput as error:
        return Repair(line, what, Result.REJECTED, 0.0, error.diagnostics[0].code)
    seconds = time.perf_counter() - started
    if found.changed is None:
        result = Result.NOTHING if bare(edit.proc) == bare(original) else Result.DATA
        open_ = found.report.obligations if found.report is not None else ()
        rules = {o.rule for o in open_ if o.status is not Status.PROVED}
        return Repair(line, what, result, seconds, " ".join(sorted(rules)) or found.reason)
    if found.stands:
        return Repair(line, what, Result.STANDS, seconds)
    same = canonical(found.changed) == canonical(original)
    return Repair(line, what, Result.ORIGINAL if same else Result.OTHER, seconds)


def repaired_mutant(name: str, number: int) -> Repair:
    """The same for one mutant of a shipped kernel: by its number, as procedures do not travel between processes."""
    original = shipped(name)
    return repaired(original, next(islice(mutants(original), number, None)))


def canonical(proc: Proc) -> str:
    """The text with barriers in the order of their names, and loop variables named by their order."""
    lines = to_source(proc).split("\n")
    declared = [n for n, line in enumerate(lines) if " = mbarrier(" in line]
    for n, line in zip(declared, sorted(lines[n] for n in declared), strict=True):
        lines[n] = line
    text = "\n".join(lines)
    order = {name: f"v{n}" for n, name in enumerate(dict.fromkeys(re.findall(r"\bfor (\w+) in ", text)))}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: order.get(m[0], m[0]), text)
