"""JUnit XML: a kernel is a test suite, an obligation a test case; undecided is an error, never a skip."""

from __future__ import annotations

from xml.etree import ElementTree

from exogpu.report.model import Run, failure
from exogpu.report.snippet import render_diagnostic
from exogpu.verify.result import Obligation, Report, Status


def render_junit(run: Run) -> str:
    """The XML document as text."""
    root = ElementTree.Element("testsuites", name="exogpu verify")
    for report in run.reports:
        _suite(run, root, report)
    if run.problems:
        totals = _totals("input", len(run.problems), 0, len(run.problems))
        suite = ElementTree.SubElement(root, "testsuite", totals)
        for d in run.problems:
            case = ElementTree.SubElement(suite, "testcase", name=f"{d.code} {run.place(d.span)}", classname="input")
            error = ElementTree.SubElement(case, "error", message=d.message, type=d.code)
            error.text = "\n".join(render_diagnostic(run, d))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(run: Run, root: ElementTree.Element, report: Report) -> None:
    refuted = sum(o.status is Status.REFUTED for o in report.obligations)
    proved = sum(o.status is Status.PROVED for o in report.obligations)
    undecided = len(report.obligations) - refuted - proved
    name = run.kernel(report)
    suite = ElementTree.SubElement(root, "testsuite", _totals(name, len(report.obligations), refuted, undecided))
    if not run.deterministic:
        suite.set("time", f"{report.seconds:.3f}")
    for obligation in report.obligations:
        _case(run, suite, name, obligation)


def _case(run: Run, suite: ElementTree.Element, kernel: str, obligation: Obligation) -> None:
    case = ElementTree.SubElement(suite, "testcase", name=obligation.name, classname=kernel)
    if obligation.status is Status.PROVED:
        return
    diagnostic = failure(obligation)
    tag = "failure" if obligation.status is Status.REFUTED else "error"
    element = ElementTree.SubElement(case, tag, message=diagnostic.message, type=obligation.rule)
    element.text = "\n".join(render_diagnostic(run, diagnostic))


def _totals(name: str, tests: int, failures: int, errors: int) -> dict[str, str]:
    return {"name": name, "tests": str(tests), "failures": str(failures), "errors": str(errors), "skipped": "0"}
