"""The formats for other tools: short, JSON, SARIF, JUnit, GitHub."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import jsonschema
import pytest

from exogpu import __version__
from exogpu.report.github import LIMIT, render_github
from exogpu.report.json import render_json
from exogpu.report.junit import render_junit
from exogpu.report.model import Exit, Run, exit_status
from exogpu.report.sarif import render_sarif
from exogpu.report.short import render_short
from exogpu.report.text import TextOptions, render_text
from exogpu.verify.result import Report, Status
from tests.report import samples
from tests.report.schemas import SCHEMAS, schema, valid

Golden = Callable[[str, str], None]
EVERYTHING = samples.run(samples.GOOD, samples.BAD, problems=(samples.PROBLEM,))
RENDERERS = (render_short, render_json, render_sarif, render_junit, render_github)


@pytest.mark.parametrize("render", RENDERERS, ids=lambda r: str(r.__name__))
def test_golden(render: Callable[[Run], str], golden: Golden) -> None:
    golden(f"report/{render.__name__.removeprefix('render_')}.txt", render(EVERYTHING))


@pytest.mark.parametrize("render", RENDERERS, ids=lambda r: str(r.__name__))
def test_an_empty_run_renders(render: Callable[[Run], str]) -> None:
    assert isinstance(render(samples.run()), str)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_means_the_same_by_the_same_words(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    mine, base = schema(name)["$defs"], schema("verify-1")["$defs"]
    assert [d for d in mine.keys() & base.keys() - {"document", "kernel"} if mine[d] != base[d]] == []


@pytest.mark.parametrize("deterministic", [True, False])
def test_json_obeys_its_schema(deterministic: bool) -> None:
    document = valid(render_json(replace(EVERYTHING, deterministic=deterministic)))
    assert ("version" in document["tool"]) is not deterministic


def test_a_proof_up_to_reassociation_says_so() -> None:
    run = samples.run(replace(samples.GOOD, reassociated=("C",)), samples.BAD)
    document = valid(render_json(run))
    assert [k["reassociated"] for k in document["kernels"]] == [["C"], []]
    (log,) = json.loads(render_sarif(run))["runs"]
    assert log["properties"]["reassociated"] == {"ring_good": ["C"]}
    assert "ring_good PROVED up to reassociation" in render_short(run)
    assert "ring_good PROVED up to reassociation" in render_github(run)


def test_json_holds_the_whole_result() -> None:
    document = json.loads(render_json(replace(EVERYTHING, deterministic=False)))
    assert document["tool"]["version"] == __version__
    kernel = document["kernels"][1]
    assert kernel["seconds"] == 0.42 and kernel["solver"] == "z3 5.4.1"
    refuted = kernel["obligations"][1]
    assert refuted["code"] == "race.war" and refuted["counterexample"]["sizes"] == {"K": 320}
    assert [s["actor"] for s in refuted["counterexample"]["steps"]] == [s.actor for s in samples.STEPS]
    (query,) = samples.REFUTED.queries
    expected = {"name": query.name, "sha256": query.sha256, "answer": "sat", "variables": [], "rlimit": 3400}
    assert refuted["queries"] == [expected]


def test_short_matches_the_documented_editor_pattern() -> None:
    pattern = re.compile(r"^(.+?):(\d+):(\d+): (error|warning): (.*) \[([a-z_.]+)\]$")
    findings = [line for line in render_short(EVERYTHING).splitlines() if ": note: " not in line]
    matches = [pattern.match(line) for line in findings]
    assert [m and m[6] for m in matches] == [
        "input.name",
        "race.war",
        "deadlock.cycle",
        "unsupported",
        "bounds",
    ]


def test_sarif_has_one_thread_flow_per_actor_in_one_order() -> None:
    (log,) = json.loads(render_sarif(EVERYTHING))["runs"]
    (flow,) = next(r for r in log["results"] if r["ruleId"] == "race.war")["codeFlows"]
    assert [t["id"] for t in flow["threadFlows"]] == ["warp 4 (producer)", "TMA", "warp 0 (consumer)"]
    orders = [step["executionOrder"] for t in flow["threadFlows"] for step in t["locations"]]
    assert sorted(orders) == [1, 2, 3, 4]


def test_sarif_levels_follow_the_kind() -> None:
    """SARIF 2.1.0, 3.27.10: a result that is not a failure has the level `none`."""
    (log,) = json.loads(render_sarif(EVERYTHING))["runs"]
    assert {(r["kind"], r["level"]) for r in log["results"]} == {
        ("fail", "error"),
        ("pass", "none"),
        ("open", "none"),
        ("notApplicable", "none"),
    }
    assert {r["ruleId"] for r in log["results"]} == {rule["id"] for rule in log["tool"]["driver"]["rules"]}


def test_sarif_fingerprint_survives_moved_lines() -> None:
    moved = replace(samples.REFUTED, span=samples.span(9, "wgmma"))

    def fingerprint(report: Report) -> str:
        result = json.loads(render_sarif(samples.run(report)))["runs"][0]["results"][0]
        return str(result["partialFingerprints"])

    before, after = (fingerprint(samples.report(Status.REFUTED, o)) for o in (samples.REFUTED, moved))
    assert before == after


def test_junit_counts_undecided_as_errors_and_skips_nothing() -> None:
    suites = ElementTree.fromstring(render_junit(EVERYTHING)).findall("testsuite")
    totals = [tuple(s.get(key) for key in ("tests", "failures", "errors", "skipped")) for s in suites]
    assert totals == [("1", "0", "0", "0"), ("5", "1", "3", "0"), ("1", "0", "1", "0")]
    assert len(suites[1].findall("testcase/failure")) == 1 and len(suites[1].findall("testcase/error")) == 3


def test_github_escapes_and_limits() -> None:
    problems = (replace(samples.PROBLEM, message=f"100% wrong,\nreally {n}", code="a.b") for n in range(LIMIT + 3))
    text = render_github(samples.run(problems=tuple(problems)))
    errors = [line for line in text.splitlines() if line.startswith("::error ")]
    assert len(errors) == LIMIT and "::notice::3 more findings" in text
    assert "::100%25 wrong,%0Areally 0%0A" in errors[0] and "file=kernels/ring.py,line=9," in errors[0]


@pytest.mark.parametrize(
    ("run", "allow_unknown", "expected"),
    [
        (samples.run(samples.GOOD), False, Exit.PROVED),
        (samples.run(samples.GOOD, samples.BAD), False, Exit.REFUTED),
        (samples.run(samples.BAD, problems=(samples.PROBLEM,)), False, Exit.BAD_INPUT),
        (samples.run(samples.report(Status.UNKNOWN)), False, Exit.UNDECIDED),
        (samples.run(samples.report(Status.UNKNOWN)), True, Exit.PROVED),
        (samples.run(samples.report(Status.VACUOUS)), True, Exit.UNDECIDED),
        (samples.run(samples.report(Status.UNSUPPORTED)), True, Exit.UNDECIDED),
        (samples.run(samples.report(Status.REFUTED)), True, Exit.REFUTED),
    ],
)
def test_exit_status(run: Run, allow_unknown: bool, expected: Exit) -> None:
    assert exit_status(replace(run, allow_unknown=allow_unknown)) is expected


def test_documents_hold_the_exit_status_of_the_command() -> None:
    tolerant = replace(samples.run(samples.report(Status.UNKNOWN)), allow_unknown=True)
    assert json.loads(render_json(tolerant))["exit_status"] == 0
    assert json.loads(render_json(replace(tolerant, allow_unknown=False)))["exit_status"] == 3


def test_paths_are_relative_to_the_root_only_below_it() -> None:
    run = Run(root="/project")
    assert run.path("/project/a/b.py") == "a/b.py"
    assert run.path("/projects/b.py") == "/projects/b.py"
    assert run.path("b.py") == "b.py"


TWICE = samples.report(Status.REFUTED, samples.UNKNOWN, samples.REFUTED, samples.UNKNOWN, samples.UNKNOWN)


def test_equal_findings_are_one_line_with_their_number_except_for_programs() -> None:
    run = samples.run(TWICE)
    short = render_short(run).splitlines()
    assert [line.partition(": ")[2] for line in short[:-1]] == [
        "error: TMA can overwrite `sA[0]` while wgmma still reads it [race.war]",
        "warning: not decided: every wait on full ends (3 times) [deadlock.cycle]",
    ]
    warnings = [line for line in render_github(run).splitlines() if line.startswith("::warning ")]
    assert len(warnings) == 1 and "every wait on full ends (3 times)%0A" in warnings[0]
    also = [line for line in render_text(run, TextOptions(lines=samples.lines)).splitlines() if "also unknown" in line]
    assert len(also) == 1 and also[0].endswith("every wait on full ends (2 times)")
    assert len(json.loads(render_json(run))["kernels"][0]["obligations"]) == 4
    assert len(json.loads(render_sarif(run))["runs"][0]["results"]) == 4


def test_causes_come_before_what_they_bring_with_them() -> None:
    rules = ("race.raw", "bar.count", "uninit", "mbar.count", "group.depth", "race.war", "mbar.lag")
    found = [replace(samples.REFUTED, rule=rule, message=rule) for rule in rules]
    text = render_short(samples.run(samples.report(Status.REFUTED, samples.UNKNOWN, *found)))
    shown = [line.rpartition("[")[2].rstrip("]") for line in text.splitlines()[:-1]]
    causes = ["mbar.lag", "bar.count", "mbar.count", "group.depth"]
    assert shown == [*causes, "race.raw", "uninit", "race.war", "deadlock.cycle"]
