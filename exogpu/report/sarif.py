"""SARIF 2.1.0 (OASIS): a counterexample is one code flow with a thread flow for each actor."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePath
from typing import Any

from exogpu import __version__
from exogpu.codes import lookup
from exogpu.diagnostics import Diagnostic, Label
from exogpu.report.model import Run, exit_status, failure, full_message
from exogpu.source import Span
from exogpu.verify.axioms import in_order
from exogpu.verify.result import Counterexample, Obligation, Report, Status, Step

KIND = {Status.PROVED: "pass", Status.REFUTED: "fail", Status.UNSUPPORTED: "notApplicable"}
"""SARIF's words for a verdict; the others are `open`: not decided."""


def render_sarif(run: Run) -> str:
    """The log as text, one run of the tool."""
    results = [_problem(run, d) for d in run.problems]
    results += [_result(run, report, o) for report in run.reports for o in report.obligations]
    rules = sorted({str(r["ruleId"]) for r in results})
    driver: dict[str, Any] = {"name": "exogpu", "rules": [_rule(name) for name in rules]}
    if not run.deterministic:
        driver["semanticVersion"] = __version__
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": not run.problems, "exitCode": int(exit_status(run))}],
                "results": results,
                "properties": {
                    "axiomsInForce": list(in_order({a for r in run.reports for a in r.policy.in_force})),
                    "reassociated": {r.kernel: list(r.reassociated) for r in run.reports if r.reassociated},
                },
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _rule(name: str) -> dict[str, Any]:
    code = lookup(name)
    rule: dict[str, Any] = {"id": name}
    if code:
        rule |= {"shortDescription": {"text": code.meaning}, "fullDescription": {"text": code.text or code.meaning}}
    return rule


def _result(run: Run, report: Report, obligation: Obligation) -> dict[str, Any]:
    kind = KIND.get(obligation.status, "open")
    proved = obligation.status is Status.PROVED
    message = obligation.title if proved else full_message(failure(obligation))
    result: dict[str, Any] = {
        "ruleId": obligation.rule,
        "kind": kind,
        "level": "error" if kind == "fail" else "none",
        "message": {"text": message},
        "locations": [_location(run, obligation.span, obligation.label)],
        "partialFingerprints": {"obligation/v1": _fingerprint(report, obligation)},
        "properties": {"axioms": list(in_order({a for c in obligation.chains for a in c.axioms}))},
    }
    if obligation.labels:
        result["relatedLocations"] = _related(run, obligation.labels)
    if obligation.counterexample and obligation.counterexample.steps:
        result["codeFlows"] = [_code_flow(run, obligation.counterexample)]
    return result


def _problem(run: Run, diagnostic: Diagnostic) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "kind": "fail",
        "level": "error",
        "message": {"text": full_message(diagnostic)},
        "locations": [_location(run, diagnostic.span, diagnostic.label)],
    }
    if diagnostic.labels:
        result["relatedLocations"] = _related(run, diagnostic.labels)
    return result


def _fingerprint(report: Report, obligation: Obligation) -> str:
    """Stable when lines move: the kernel, the rule and the obligation's own name."""
    return hashlib.sha256(f"{report.kernel}\0{obligation.rule}\0{obligation.name}".encode()).hexdigest()


def _code_flow(run: Run, witness: Counterexample) -> dict[str, Any]:
    actors = list(dict.fromkeys(step.actor for step in witness.steps))
    sizes = ", ".join(f"{name} = {value}" for name, value in witness.sizes)
    flows = []
    for actor in actors:
        flow: dict[str, Any] = {
            "id": actor,
            "message": {"text": actor},
            "locations": [_flow_step(run, n, s) for n, s in enumerate(witness.steps, 1) if s.actor == actor],
        }
        if witness.sizes:
            flow["immutableState"] = {name: {"text": str(value)} for name, value in witness.sizes}
        flows.append(flow)
    return {"message": {"text": sizes or witness.replay}, "threadFlows": flows}


def _flow_step(run: Run, order: int, step: Step) -> dict[str, Any]:
    iteration = " ".join(f"{name}={value}" for name, value in step.iteration)
    text = f"{step.event} ({iteration})" if iteration else step.event
    result: dict[str, Any] = {"location": _location(run, step.span, text), "executionOrder": order}
    if step.state:
        result["state"] = {name: {"text": value} for name, value in step.state}
        result["importance"] = "essential"
    return result


def _related(run: Run, labels: tuple[Label, ...]) -> list[dict[str, Any]]:
    return [{"id": n, **_location(run, label.span, label.text)} for n, label in enumerate(labels, 1)]


def _location(run: Run, span: Span, text: str = "") -> dict[str, Any]:
    file = PurePath(run.path(span.file))
    physical: dict[str, Any] = {"artifactLocation": {"uri": file.as_uri() if file.is_absolute() else file.as_posix()}}
    if span.line:
        physical["region"] = {
            "startLine": span.line,
            "startColumn": span.col + 1,
            "endLine": span.end_line,
            "endColumn": span.end_col + 1,
        }
    location: dict[str, Any] = {"physicalLocation": physical}
    return location | ({"message": {"text": text}} if text else {})
