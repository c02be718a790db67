"""Tables of edited kernels, for `mutate` and `slim`: one edit a line, or JSON documents, described by
`mutate-1.schema.json` and `slim-1.schema.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exogpu.report.json import kernels_json, span_json
from exogpu.report.model import Exit, Run
from exogpu.source import Span
from exogpu.verify.axioms import Policy
from exogpu.verify.result import Report

if TYPE_CHECKING:
    # the verifier is loaded only by the commands that use it
    from exogpu.verify.assess import Assessed
    from exogpu.verify.edits import Change, Edit


@dataclass(frozen=True, slots=True)
class Mutated:
    """A proved kernel and what becomes of its mutants."""

    name: str
    span: Span
    mutants: tuple[Assessed[Change], ...]


@dataclass(frozen=True, slots=True)
class Slimmer:
    """A proved kernel, its weakenings each alone, those of the greedy minimum in the order taken, and that minimum: its
    source, how it differs, and its proof."""

    name: str
    span: Span
    alone: tuple[Assessed[Edit], ...]
    taken: tuple[Edit, ...]
    source: str
    diff: tuple[str, ...]
    proof: Report


def row(assessed: Assessed[Change], kernel: Span, run: Run) -> str:
    """One edit of a kernel with its line, its fate, and why."""
    edit, verdict = assessed.edit, assessed.verdict
    seconds = "" if run.deterministic else f"{verdict.seconds:6.2f} s  "
    cause = f"  [{verdict.cause}]" if verdict.cause else ""
    return f"{_line(edit.span, kernel)}  {verdict.fate.value:12s}  {seconds}{edit.what}{cause}"


def _line(span: Span, kernel: Span) -> str:
    """The line of a statement, with its file if that is another one than the kernel's."""
    return f"{span.line:5d}" if span.file == kernel.file else f"{Path(span.file).name}:{span.line}"


def totals(found: Iterable[Assessed[Change]]) -> str:
    """How many edits met each fate."""
    counts = Counter(a.verdict.fate.value for a in found)
    return ", ".join(f"{count} {fate}" for fate, count in sorted(counts.items())) or "nothing to edit"


def slim_text(found: Slimmer) -> Iterator[str]:
    """What the greedy minimum leaves out."""
    if not found.taken:
        yield f"{found.name}: nothing can be removed or weakened"
        return
    what = "1 edit is" if len(found.taken) == 1 else f"{len(found.taken)} edits together are"
    yield f"{found.name}: {what} still proved for all sizes"
    yield from (f"{_line(edit.span, found.span)}  {edit.what}" for edit in found.taken)
    yield ""
    yield from found.diff


# -- JSON --------------------------------------------------------------------------------------------------------------


def mutate_json(run: Run, policy: Policy, status: Exit, kernels: Sequence[Mutated]) -> str:
    """The result of `exogpu mutate` as text; deterministic runs leave out versions and seconds."""
    found = [_kernel(run, k) | {"mutants": [_assessed(run, a) for a in k.mutants]} for k in kernels]
    return kernels_json("exogpu.mutate/1", run, policy, status, found)


def slim_json(run: Run, policy: Policy, status: Exit, kernels: Sequence[Slimmer]) -> str:
    """The result of `exogpu slim` as text; deterministic runs leave out versions and seconds."""
    return kernels_json("exogpu.slim/1", run, policy, status, [_slimmer(run, k) for k in kernels])


def _kernel(run: Run, kernel: Mutated | Slimmer) -> dict[str, Any]:
    return {"name": kernel.name, "location": span_json(run, kernel.span)}


def _slimmer(run: Run, kernel: Slimmer) -> dict[str, Any]:
    return _kernel(run, kernel) | {
        "alone": [_assessed(run, a) for a in kernel.alone],
        "taken": [_edit(run, edit) for edit in kernel.taken],
        "slim": {
            "status": kernel.proof.status.value,
            "axioms": list(kernel.proof.axioms),
            "source": kernel.source,
            "diff": list(kernel.diff),
        },
    }


def _assessed(run: Run, assessed: Assessed[Change]) -> dict[str, Any]:
    verdict = assessed.verdict
    found = _edit(run, assessed.edit) | {"verdict": verdict.fate.value, "cause": verdict.cause}
    return found if run.deterministic else found | {"seconds": round(verdict.seconds, 3)}


def _edit(run: Run, edit: Change) -> dict[str, Any]:
    return {"kind": edit.kind, "edit": edit.what, "location": span_json(run, edit.span)}
