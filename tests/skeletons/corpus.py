"""The corpus: skeletons of bugs that other people really had, each with the verdict that is expected of it.

A file is one bug, or one correct kernel that looks like one. `CLASS` is its kind; `EXPECT` gives for each of its
skeletons "proved", "unsupported", or the codes of what can go wrong in it (one of them has to be found).
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.lang.load import definitions
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.result import Report, Status
from exogpu.verify.skeleton import verify_skeleton

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


def files() -> list[Path]:
    """The files of the corpus."""
    return sorted(p for p in FOLDER.glob("*.py") if p.name.startswith(("sb", "nc")))


def constants(path: Path) -> dict[str, object]:
    """The literals that a file binds, without executing it."""
    found: dict[str, object] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() | ast.Dict() as value):
                found[name] = ast.literal_eval(value)
    return found


def cases() -> Iterator[Case]:
    """Every skeleton that has an expected verdict."""
    for path in files():
        given = constants(path)
        expected = given["EXPECT"]
        assert isinstance(expected, dict)
        for name, alternatives in expected.items():
            yield Case(path.stem, name, str(given["CLASS"]), tuple(alternatives.split(" | ")))


@cache
def skeletons(file: str) -> dict[str, Skeleton]:
    """The skeletons of a file, by name; raises BadInput."""
    found = definitions(FOLDER / f"{file}.py")
    return {name: bound for name, bound in found.items() if isinstance(bound, Skeleton)}


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
    """The codes of all that was found to go wrong."""
    return {o.rule for o in report.obligations if o.status is Status.REFUTED}


def said(report: Report) -> str:
    """The verdict in one line."""
    if report.status is Status.REFUTED:
        return " | ".join(sorted(rules(report)))
    open_ones = [f"{o.rule} ({o.reason})" for o in report.obligations if o.status is report.status and o.reason]
    reason = report.reason or next(iter(open_ones), "")
    return report.status.value.lower() + (f": {reason}" if reason else "")
