"""A small made-up run with every kind of verdict, for the tests of the renderers."""

from __future__ import annotations

from exogpu.diagnostics import Diagnostic, Label
from exogpu.report.model import Run
from exogpu.smt.script import Script
from exogpu.smt.terms import TermApi
from exogpu.source import Span
from exogpu.verify.result import Chain, Counterexample, Obligation, Query, Report, Status, Step

FILE = "/project/kernels/ring.py"

SOURCE = """\
from exogpu.lang import *


@proc
def ring(K: size, A: f32[K] @ GMEM):
    for k in seq(0, K):
        tma_load(sA[:], A[k : k + 64], full)
        # consumer
        wgmma(acc[:, :], sA[:], sB[:])
        Arrive(empty)
    wgmma_wait(0)
"""


def span(line: int, text: str) -> Span:
    """The place of `text` in a line of SOURCE."""
    col = SOURCE.splitlines()[line - 1].index(text)
    return Span(FILE, line, col, line, col + len(text))


def lines(file: str) -> list[str]:
    """The source lines of the sample file; nothing for another."""
    return SOURCE.splitlines() if file == FILE else []


def query(name: str, answer: str, rlimit: int) -> Query:
    """A solver call about one symbol that is called as the query."""
    api = TermApi()
    return Query(name, answer, rlimit, Script((api.ge0(api.symbol(name)),)))


STEPS = (
    Step("warp 4 (producer)", span(7, "tma_load"), (("k", 0),), "TMA write starts", (("sA[0]", "writing"),)),
    Step("TMA", span(7, "tma_load"), (("k", 0),), "bytes arrive", (("sA[0]", "k = 0"), ("full[0]", "phase 1"))),
    Step("warp 0 (consumer)", span(9, "wgmma"), (("k", 0),), "wgmma reads sA", (("sA[0]", "k = 0"),)),
    Step("warp 4 (producer)", span(7, "tma_load"), (("k", 4),), "TMA write starts: race", (("sA[0]", "writing"),)),
)

PROVED = Obligation(
    name="raw/sA",
    rule="race.raw",
    title="wgmma reads sA after the TMA load that writes it",
    status=Status.PROVED,
    span=span(9, "wgmma"),
    chains=(Chain("TMA writes sA at n -> full completes phase n -> await full at n -> wgmma reads", ("L5",)),),
    queries=(query("ring/raw/sA/1", "unsat", 1200),),
)

REFUTED = Obligation(
    name="war/sA",
    rule="race.war",
    title="the TMA load overwrites sA after all reads",
    status=Status.REFUTED,
    span=span(7, "tma_load"),
    message="TMA can overwrite `sA[0]` while wgmma still reads it",
    label="written by warp 4 (producer), k = 4",
    labels=(Label(span(9, "sA[:]"), "read by warp 0 (consumer), k = 0"),),
    help="wait on `empty` before line 7",
    counterexample=Counterexample(
        sizes=(("K", 320),),
        facts=(("slot", "sA[0]"), ("missing", "no path from the read at k = 0 to the write at k = 4")),
        steps=STEPS,
        replay="explicit happens-before graph",
        minimal=True,
    ),
    queries=(query("ring/war/sA/1", "sat", 3400),),
)

UNKNOWN = Obligation(
    name="progress/full",
    rule="deadlock.cycle",
    title="every wait on full ends",
    status=Status.UNKNOWN,
    span=span(10, "Arrive"),
    reason="resource limit reached",
)

UNSUPPORTED = Obligation(
    name="contract/wgmma",
    rule="unsupported",
    title="tf32 operands",
    status=Status.UNSUPPORTED,
    span=span(9, "wgmma"),
    reason="no encoding of tf32 operands",
)

VACUOUS = Obligation(
    name="bounds/A",
    rule="bounds",
    title="A[k : k + 64] lies inside A",
    status=Status.VACUOUS,
    span=span(7, "A[k : k + 64]"),
    reason="the requires contradict each other",
)


def report(status: Status, *obligations: Obligation, kernel: str = "ring") -> Report:
    """A report on the sample kernel."""
    return Report(kernel, span(5, "ring"), status, obligations, "z3 5.4.1", 0.42)


GOOD = report(Status.PROVED, PROVED, kernel="ring_good")
BAD = report(Status.REFUTED, PROVED, REFUTED, UNKNOWN, UNSUPPORTED, VACUOUS)

PROBLEM = Diagnostic(
    code="input.name",
    message="unknown name `sB`",
    span=span(9, "sB[:]"),
    label="not defined here",
    labels=(Label(Span("/project/other.py", 3, 0, 3, 4), "an imported name"),),
    notes=("names in scope: A, K, sA",),
    help="allocate it first: `sB: f32[64] @ SMEM`",
)


def run(*reports: Report, problems: tuple[Diagnostic, ...] = (), deterministic: bool = True) -> Run:
    """A run over the samples, with paths relative to /project."""
    return Run(reports, problems, root="/project", deterministic=deterministic)
