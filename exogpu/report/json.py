"""The result of `verify` as one JSON document, described by `verify-1.schema.json`, and what other documents share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from exogpu import __version__
from exogpu.diagnostics import Diagnostic, Label
from exogpu.report.model import Exit, Run, exit_status
from exogpu.source import Span
from exogpu.verify.axioms import Policy, in_order
from exogpu.verify.result import Chain, Counterexample, Obligation, Query, Report, Step

SCHEMA = "exogpu.verify/1"


def render_json(run: Run) -> str:
    """The document as text. Deterministic runs leave out versions, seconds and resource use."""
    document = heading(SCHEMA, run, exit_status(run)) | {"kernels": [_report(run, r) for r in run.reports]}
    return json.dumps(document, indent=2) + "\n"


def heading(schema: str, run: Run, status: Exit) -> dict[str, Any]:
    """What every document starts with."""
    return {
        "schema": schema,
        "tool": {"name": "exogpu"} if run.deterministic else {"name": "exogpu", "version": __version__},
        "exit_status": int(status),
        "problems": [diagnostic_json(run, d) for d in run.problems],
    }


def _report(run: Run, report: Report) -> dict[str, Any]:
    result: dict[str, Any] = {
        "name": report.kernel,
        "location": span_json(run, report.span),
        "status": report.status.value,
        "reason": report.reason,
        "axioms": list(report.axioms),
        "reassociated": list(report.reassociated),
        "axiom_policy": policy_json(report.policy),
        "obligations": [_obligation(run, o) for o in report.obligations],
    }
    if not run.deterministic:
        result |= {"solver": report.solver, "seconds": round(report.seconds, 3), "cached": report.cached}
    return result


def kernels_json(schema: str, run: Run, policy: Policy, status: Exit, kernels: Sequence[dict[str, Any]]) -> str:
    """A document of what one policy gives for several kernels, as text."""
    parts = {"axiom_policy": policy_json(policy), "kernels": [*kernels]}
    return json.dumps(heading(schema, run, status) | parts, indent=2) + "\n"


def policy_json(policy: Policy) -> dict[str, Any]:
    """Which memory-model axioms the proofs were allowed, and how that differs from the default."""
    return {
        "strict": policy.strict,
        "in_force": list(in_order(policy.in_force)),
        "withdrawn": list(policy.withdrawn),
        "accepted": list(in_order(policy.accepted)),
    }


def _obligation(run: Run, o: Obligation) -> dict[str, Any]:
    return {
        "name": o.name,
        "code": o.rule,
        "title": o.title,
        "status": o.status.value,
        "location": span_json(run, o.span),
        "message": o.message,
        "label": o.label,
        "related": [label_json(run, x) for x in o.labels],
        "reason": o.reason,
        "question": o.question,
        "help": o.help,
        "chains": [_chain(run, c) for c in o.chains],
        "counterexample": _counterexample(run, o.counterexample) if o.counterexample else None,
        "queries": [_query(run, q) for q in o.queries],
    }


def _chain(run: Run, chain: Chain) -> dict[str, Any]:
    links = [
        {
            "statement": link.statement,
            "location": span_json(run, link.span),
            "who": link.who,
            "when": link.when,
            "why": link.why,
            "axioms": list(link.axioms),
        }
        for link in chain.links
    ]
    return {"text": chain.text, "axioms": list(chain.axioms), "links": links}


def _query(run: Run, query: Query) -> dict[str, Any]:
    result: dict[str, Any] = {
        "name": query.name,
        "sha256": query.sha256,
        "answer": query.answer,
        "variables": list(query.variables),
    }
    return result if run.deterministic else result | {"rlimit": query.rlimit}


def _counterexample(run: Run, witness: Counterexample) -> dict[str, Any]:
    return {
        "sizes": dict(witness.sizes),
        "facts": [{"name": name, "value": value} for name, value in witness.facts],
        "minimal": witness.minimal,
        "replay": witness.replay,
        "steps": [_step(run, s) for s in witness.steps],
    }


def _step(run: Run, step: Step) -> dict[str, Any]:
    return {
        "actor": step.actor,
        "location": span_json(run, step.span),
        "iteration": dict(step.iteration),
        "event": step.event,
        "state": dict(step.state),
    }


def diagnostic_json(run: Run, diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding."""
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "location": span_json(run, diagnostic.span),
        "label": diagnostic.label,
        "related": [label_json(run, x) for x in diagnostic.labels],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


def label_json(run: Run, label: Label) -> dict[str, Any]:
    """A second place of a finding."""
    return {"location": span_json(run, label.span), "text": label.text}


def span_json(run: Run, span: Span) -> dict[str, Any]:
    """Lines and columns count from 1, the end column is exclusive; line 0 means the whole file."""
    return {
        "file": run.path(span.file),
        "line": span.line,
        "column": span.col + 1,
        "end_line": span.end_line,
        "end_column": span.end_col + 1,
    }
