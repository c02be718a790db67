"""The corpus: skeletons of bugs that other people really had, each with the verdict that is expected of it.

A file is one bug (`sb`), one correct kernel that looks like one (`nc`), or small examples of one kind (`kind`). `CLASS`
names the kind; `EXPECT` gives for each of its skeletons "proved", "unsupported", or the codes of what can go wrong in
it (one of them has to be found).
"""

from __future__ import annotations

import enum
import runpy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.result import Report, Status
from exogpu.verify.skeleton.verdict import verify_skeleton

FOLDER = Path(__file__).resolve().parent

PROVED, UNSUPPORTED = "proved", "unsupported"


class Answer(enum.Enum):
    """How a verdict compares with the one that is expected."""

    RIGHT = "right"
    WRONG = "wrong"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Case:
    """A skeleton of the corpus; `expected` are alternatives."""

    file: str
    name: str
    kind: str
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the verifier said of a case, in how many seconds."""

    case: Case
    answer: Answer
    got: str
    seconds: float


def files() -> list[str]:
    """The files of the corpus, without `.py`."""
    return sorted(p.stem for p in FOLDER.glob("*.py") if p.name.startswith(("sb", "nc", "kind")))


@cache
def content(file: str) -> Mapping[str, object]:
    """What a file binds; raises BadInput."""
    return runpy.run_path(str(FOLDER / f"{file}.py"))


def skeletons(file: str) -> dict[str, Skeleton]:
    """The skeletons of a file, by name."""
    return {name: bound for name, bound in content(file).items() if isinstance(bound, Skeleton)}


def expectations(file: str) -> dict[str, tuple[str, ...]]:
    """What is expected of each skeleton of a file: alternatives."""
    given = content(file)["EXPECT"]
    assert isinstance(given, dict)
    return {name: tuple(alternatives.split(" | ")) for name, alternatives in given.items()}


def kind(file: str) -> str:
    """The class of a file's bug."""
    return str(content(file)["CLASS"])


def cases() -> Iterator[Case]:
    """Every skeleton of the corpus."""
    for file in files():
        for name, expected in expectations(file).items():
            yield Case(file, name, kind(file), expected)


def judge(case: Case) -> Outcome:
    """Verifies a case under the default policy on axioms."""
    report = verify_skeleton(skeletons(case.file)[case.name], DEFAULT)
    return Outcome(case, compare(case.expected, report), said(report), report.seconds)


def compare(expected: tuple[str, ...], report: Report) -> Answer:
    """A fault that shows as several is found if one of them is."""
    match report.status:
        case Status.PROVED if expected == (PROVED,):
            return Answer.RIGHT
        case Status.REFUTED if rules(report) & set(expected):
            return Answer.RIGHT
        case Status.UNSUPPORTED:
            return Answer.RIGHT if expected == (UNSUPPORTED,) else Answer.UNSUPPORTED
        case Status.UNKNOWN:
            return Answer.UNKNOWN
    return Answer.WRONG


def rules(report: Report) -> set[str]:
    """The codes of all that was found to go wrong, on the schedule that is shown or on others."""
    found: set[str] = set()
    for o in report.obligations:
        if o.status is Status.REFUTED:
            facts = dict(o.counterexample.facts) if o.counterexample else {}
            found |= {o.rule, *facts.get("on other schedules", "").split(", ")} - {""}
    return found


def said(report: Report) -> str:
    """The verdict in one line."""
    if report.status is Status.REFUTED:
        return " | ".join(sorted(rules(report)))
    undecided = [f"{o.rule} ({o.reason})" for o in report.obligations if o.status is report.status and o.reason]
    reason = report.reason or "; ".join(undecided)
    return str(report.status.value).lower() + (f": {reason}" if reason else "")
