"""What `sync` found: a diff and the proof, or what remains; as text, or as JSON described by `sync-1.schema.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from exogpu.report.json import diagnostic_json, kernels_json, span_json
from exogpu.report.model import Exit, Run, failure, times, with_status
from exogpu.source import Span
from exogpu.verify.axioms import Policy
from exogpu.verify.result import Obligation, Report, Status


@dataclass(frozen=True, slots=True)
class Synced:
    """A kernel: whether it is proved as it stands; else the text and the diff of the synchronised kernel, empty if none
    is proved, and whether its file was `written`. `report` is on the kernel with its changes, or on the form that came
    closest if there is one, and `reason` says why no more were tried."""

    name: str
    span: Span
    stands: bool
    source: str
    diff: tuple[str, ...]
    written: bool
    report: Report | None
    reason: str

    @property
    def result(self) -> str:
        """In one word, as the JSON document has it."""
        return "stands" if self.stands else "found" if self.source else "not found"


def sync_text(found: Synced, run: Run) -> Iterator[str]:
    """The result for people, without the headline of the proof."""
    match found.result:
        case "stands":
            yield f"{found.name}: proved as it stands; `exogpu slim` tells what it can do without"
        case "found":
            yield f"{found.name}: synchronised, and proved for all sizes with this change"
            yield ""
            yield from found.diff
            yield ""
            if found.written:
                yield f"written to {run.path(found.span.file)}"
        case _:
            yield f"{found.name}: no synchronisation was found with which it is proved"
            if found.report is not None:
                yield "of the form that came closest this remains:"
                yield from remaining(run, found.report)
            if found.reason:
                yield f"no other form was tried: {found.reason}"


def remaining(run: Run, report: Report) -> Iterator[str]:
    """The obligations that are not proved, one a line, equal ones once."""
    found = _open(report)
    lines = (f"  {o.status.value.lower()}[{o.rule}] {_place(run, report, o.span)}{failure(o).message}" for o in found)
    yield from (f"{line}{times(count)}" for line, count in Counter(lines).items())


def _open(report: Report | None) -> tuple[Obligation, ...]:
    return with_status(report, *(s for s in Status if s is not Status.PROVED)) if report is not None else ()


def _place(run: Run, report: Report, span: Span) -> str:
    return f"at {run.place(span)}: " if span.file == report.span.file else ""


def sync_json(run: Run, policy: Policy, status: Exit, kernels: Sequence[Synced]) -> str:
    """The result of `exogpu sync` as text; deterministic runs leave out versions."""
    return kernels_json("exogpu.sync/1", run, policy, status, [_kernel(run, k) for k in kernels])


def _kernel(run: Run, found: Synced) -> dict[str, Any]:
    return {
        "name": found.name,
        "location": span_json(run, found.span),
        "result": found.result,
        "status": (found.report.status if found.report is not None else Status.UNKNOWN).value,
        "axioms": list(found.report.axioms) if found.report is not None else [],
        "source": found.source,
        "diff": list(found.diff),
        "written": found.written,
        "remaining": [diagnostic_json(run, failure(o)) for o in _open(found.report)],
        "reason": found.reason,
    }
