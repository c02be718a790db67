"""Proven kernels for tests of the emitter: sealed with a report of one obligation, without running the verifier."""

from __future__ import annotations

from pathlib import Path

from exogpu.codegen.cuda.printer import print_source
from exogpu.codegen.cuda.tree import Source
from exogpu.codegen.lower.kernel import Lowered, lower
from exogpu.ir.proc import Proc
from exogpu.lang import load
from exogpu.smt.script import Script
from exogpu.source import NOWHERE
from exogpu.verify.proven import ProvenKernel, seal
from exogpu.verify.result import Chain, Obligation, Query, Report, Status

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(__file__).parent / "cases"


def proven(proc: Proc) -> ProvenKernel:
    """`proc` as if it had been proved."""
    query = Query("q", "unsat", 7, Script(()))
    chain = Chain("a then b", ("axiom-x",))
    obligation = Obligation("o", "race.raw", "t", Status.PROVED, NOWHERE, chains=(chain,), queries=(query,))
    kernel = seal(proc, Report(proc.name, NOWHERE, Status.PROVED, (obligation,), "solver 1.0", 0.0))
    assert kernel is not None
    return kernel


def kernels(path: Path) -> dict[str, Proc]:
    """The kernels of a file, by name."""
    return load(path)


def parse(text: str, folder: Path) -> Proc:
    """The only kernel of a program text."""
    path = folder / "program.py"
    path.write_text("from exogpu.lang import *\n\n" + text, encoding="utf-8")
    (proc,) = load(path).values()
    return proc


def lowered(proc: Proc) -> Lowered:
    """The lowered kernel without its prelude."""
    return lower(proc, (), "")


def cuda_text(proc: Proc) -> str:
    """The generated source without header and prelude."""
    found = lowered(proc).source
    return print_source(Source((), "", found.functions, found.kernel)).strip() + "\n"
