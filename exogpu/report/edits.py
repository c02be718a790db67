"""Tables of edited kernels, for `mutate` and `slim`: one edit a line, or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from exogpu.report.model import Run

if TYPE_CHECKING:
    # the verifier is loaded only by the commands that use it
    from exogpu.verify.assess import Assessed
    from exogpu.verify.edits import Edit


def row(assessed: Assessed, run: Run) -> str:
    """One edit with its line, its fate, and why."""
    edit, verdict = assessed.edit, assessed.verdict
    seconds = "" if run.deterministic else f"{verdict.seconds:6.2f} s  "
    cause = f"  [{verdict.cause}]" if verdict.cause else ""
    return f"{edit.span.line:5d}  {verdict.fate.value:12s}  {seconds}{edit.what}{cause}"


def totals(found: Iterable[Assessed]) -> str:
    """How many edits met each fate."""
    counts = Counter(a.verdict.fate.value for a in found)
    return ", ".join(f"{count} {fate}" for fate, count in sorted(counts.items())) or "nothing to edit"


def as_json(assessed: Assessed, run: Run) -> dict[str, Any]:
    """One edit as a JSON object."""
    verdict = assessed.verdict
    found = edit_json(assessed.edit, run) | {"verdict": verdict.fate.value, "cause": verdict.cause}
    return found if run.deterministic else found | {"seconds": round(verdict.seconds, 3)}


def edit_json(edit: Edit, run: Run) -> dict[str, Any]:
    """What was done, and where (lines and columns count from 1)."""
    span = edit.span
    place = {"file": run.path(span.file), "line": span.line, "column": span.col + 1}
    return {"kind": edit.kind, "edit": edit.what, "location": place}


def slim_text(name: str, taken: Sequence[Edit], diff: Sequence[str]) -> Iterator[str]:
    """What the greedy minimum leaves out."""
    if not taken:
        yield f"{name}: nothing can be removed or weakened"
        return
    yield f"{name}: {len(taken)} edit{'s' * (len(taken) != 1)} together are still proved for all sizes"
    yield from (f"{edit.span.line:5d}  {edit.what}" for edit in taken)
    yield ""
    yield from diff
