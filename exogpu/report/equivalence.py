"""The outcome of a comparison of two procedures: as text, and as JSON, described by `equiv-1.schema.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from exogpu.diagnostics import Diagnostic, Label
from exogpu.equiv.result import Difference, Equivalence, Side, Verdict
from exogpu.report.json import heading, label_json, span_json
from exogpu.report.model import Exit, Run
from exogpu.report.snippet import render_diagnostic
from exogpu.report.style import Palette, Role

SCHEMA = "exogpu.equiv/1"
STATUS = {Verdict.PROVED: Exit.PROVED, Verdict.REFUTED: Exit.REFUTED}
"""Exit statuses; of the other verdicts it is `UNDECIDED`."""
ROLES: dict[Verdict, Role] = {Verdict.PROVED: "good", Verdict.REFUTED: "error"}


def equivalence_status(run: Run, found: Equivalence | None) -> Exit:
    """The exit status that a comparison deserves; there is none where an input is not acceptable."""
    return Exit.BAD_INPUT if run.problems or found is None else STATUS.get(found.verdict, Exit.UNDECIDED)


def equivalence_text(run: Run, found: Equivalence, palette: Palette) -> str:
    """What is wrong or unknown with its place, then the verdict in one line, then what it rests on."""
    diagnostic = _diagnostic(found)
    lines: list[str] = []
    if diagnostic is not None:
        severity = "error" if found.verdict is Verdict.REFUTED else found.verdict.value.lower()
        lines += [*render_diagnostic(run, diagnostic, severity, palette), ""]
    verdict = found.verdict.value + " up to reassociation" * bool(found.reassociated)
    cost = "" if run.deterministic else f"{found.seconds:.2f} s{' from cache' if found.cached else ''}"
    sides = f"{_name(run, found.a)} == {_name(run, found.b)}"
    lines.append("   ".join(filter(None, (sides, palette(ROLES.get(found.verdict, "warning"), verdict), cost))))
    return "\n".join((*lines, *_basis(found))) + "\n"


def _name(run: Run, side: Side) -> str:
    return f"{run.path(side.span.file)}::{side.name}"


def _diagnostic(found: Equivalence) -> Diagnostic | None:
    there = (Label(found.a.span, "compared with this one"),)
    if found.difference is not None:
        d = found.difference
        element = f"{d.tensor}[{', '.join(map(str, d.index))}]"
        message = f"`{element}` is {d.a:.9g} in `{found.a.name}` and {d.b:.9g} in `{found.b.name}`"
        sizes = ", ".join(f"{name} = {value}" for name, value in d.sizes) or "there are no sizes"
        inputs = f"inputs: integers from -{d.magnitude} to {d.magnitude}, seed {d.seed}"
        how = "computed by the interpreter" + ", in f64, further apart than rounding explains" * d.wide
        notes = (f"witness: {sizes}", inputs, f"confirmed by: both values {how}")
        return Diagnostic("equiv.different", message, found.b.span, labels=there, notes=notes)
    if found.verdict is Verdict.PROVED:
        return None
    return Diagnostic("equiv.unknown", found.reason, found.span or found.b.span, labels=found.labels)


def _basis(found: Equivalence) -> Iterator[str]:
    if not found.proved:
        return
    yield f"  every element of {_listed(found.tensors)} is the same, {_sizes(found)}"
    if found.reassociated:
        yield f"  up to the order of the sums in {_listed(found.reassociated)}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "no tensor"


def _sizes(found: Equivalence) -> str:
    return f"for all sizes with {', '.join(found.assumed)}" if found.assumed else "for all sizes"


# -- JSON --------------------------------------------------------------------------------------------------------------


def equivalence_json(run: Run, found: Equivalence | None) -> str:
    """The document as text; deterministic runs leave out versions and seconds."""
    document = heading(SCHEMA, run, equivalence_status(run, found))
    return json.dumps(document | {"comparison": None if found is None else _comparison(run, found)}, indent=2) + "\n"


def _comparison(run: Run, found: Equivalence) -> dict[str, Any]:
    result: dict[str, Any] = {
        "a": _side(run, found.a),
        "b": _side(run, found.b),
        "verdict": found.verdict.value,
        "reason": found.reason,
        "location": None if found.span is None else span_json(run, found.span),
        "related": [label_json(run, label) for label in found.labels],
        "tensors": list(found.tensors),
        "reassociated": list(found.reassociated),
        "assumed": list(found.assumed),
        "difference": None if found.difference is None else _difference(found.difference),
    }
    return result if run.deterministic else result | {"seconds": round(found.seconds, 3), "cached": found.cached}


def _side(run: Run, side: Side) -> dict[str, Any]:
    return {"name": side.name, "location": span_json(run, side.span)}


def _difference(d: Difference) -> dict[str, Any]:
    return {
        "sizes": dict(d.sizes),
        "inputs": {"magnitude": d.magnitude, "seed": d.seed},
        "tensor": d.tensor,
        "index": list(d.index),
        "a": _number(d.a),
        "b": _number(d.b),
        "wide": d.wide,
    }


def _number(value: float) -> float | str:
    """JSON has no infinities and no NaN."""
    return value if math.isfinite(value) else str(value)
