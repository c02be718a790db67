"""Edits of synchronisation: every kind is made, once, and what becomes of an edited kernel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Await, For, Seq
from exogpu.ir.walk import walk
from exogpu.ir.wellformed import check
from exogpu.lang import load
from exogpu.source import NOWHERE
from exogpu.verify.assess import Assessed, Fate, assess
from exogpu.verify.axioms import Policy
from exogpu.verify.edits import Edit, name
from exogpu.verify.mutants import mutants
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from exogpu.verify.slim import slim, weakenings
from tests.texts import kernel, ring, store

RING = ring(release="if k >= 0:\n                    Arrive(empty)")
STORE = store(threads="64", proxy="fence_proxy_async_all()", wait="bulk_wait(0)")
TWICE = """from exogpu.lang import *

@proc
def k(M: size, Y: f32[M, 64] @ GMEM):
    block(64)
    for m in tasks(0, M):
        for t in threads(64):
            Y[m, t] = 0.0
        for r in seq(0, 2):
            if r < 1:
                for u in threads(64):
                    Y[m, u] += 1.0
                Fence()
"""


def fates(proc: Proc, *kinds: str) -> list[Assessed[Edit]]:
    proof = verify(proc)
    assert proof.status is Status.PROVED
    return list(assess(proof, [m for m in mutants(proc) if m.kind in kinds], Policy()))


def test_every_kind_of_edit_is_made_once(tmp_path: Path) -> None:
    proc = kernel(tmp_path, RING)
    found = list(mutants(proc))
    assert {m.kind for m in found} == {
        "drop", "move", "lag", "count", "ring", "bytes", "guard", "role", "unit", "first"
    }  # fmt: skip
    texts = [to_source(m.proc) for m in found]
    assert len(set(texts)) == len(texts) and to_source(proc) not in texts
    assert [m.key for m in mutants(proc)] == [m.key for m in found]


def test_what_no_line_wrote_is_named_by_what_it_is(tmp_path: Path) -> None:
    proc = kernel(tmp_path, RING)
    wait = next(s for s in walk(proc.body) if isinstance(s, Await) and s.lag)
    loop = next(s for s in walk(proc.body) if isinstance(s, For))
    assert name(wait) == "Await(empty, lag=2)"
    assert name(replace(wait, lag=3, span=NOWHERE)) == "Await(empty, lag=3)"
    assert name(replace(wait, lag=3, span=loop.span)) == "Await(empty, lag=3)"
    assert name(replace(loop, mode=Seq(), body=(wait,))) == "for t in seq(0, T): Await(empty, lag=2)"


def test_no_mutant_of_a_ring_stays_unknown(tmp_path: Path) -> None:
    found = fates(kernel(tmp_path, RING), "drop", "move", "lag", "bytes", "unit", "first", "guard")
    assert [(a.edit.what, a.verdict.cause) for a in found if a.verdict.fate is Fate.UNKNOWN] == []
    fate = {a.edit.what: (a.verdict.fate, a.verdict.cause) for a in found}
    assert fate["no Await(empty, lag=2)"][0] is Fate.KILLED
    assert fate["no fence_proxy_async()"] == (Fate.KILLED, "proxy.generic_to_async")
    assert fate["Await(empty, lag=2): lag 1"][0] is Fate.HARMLESS
    assert fate["Arrive(full, tx=128): tx 144"] == (Fate.KILLED, "mbar.tx_bytes")
    assert fate["Arrive(empty) by 32 threads"] == (Fate.KILLED, "mbar.count")
    assert fate["Arrive(empty) by the second thread"] == (Fate.HARMLESS, "")


def test_arrivals_without_a_closed_form_are_refuted_by_a_run(tmp_path: Path) -> None:
    """Two arrives of one barrier, one by each lane and one by the first: only some threads execute both."""
    text = RING.replace(
        "if k >= 0:\n                    Arrive(empty)",
        "if k % 2 == 0:\n                    Arrive(empty)\n"
        "                else:\n                    for u in threads(2):\n                        Arrive(empty)",
    )
    report = verify(kernel(tmp_path, text))
    broken = next(o for o in report.obligations if o.rule == "mbar.count" and o.status is Status.REFUTED)
    assert broken.counterexample is not None and broken.counterexample.steps


def test_an_edit_that_computes_something_else_is_killed(tmp_path: Path) -> None:
    found = fates(kernel(tmp_path, TWICE), "guard")
    assert {(a.edit.what, a.verdict.fate, a.verdict.cause) for a in found} == {
        ("if r < 1: Y[m, u] += 1.0 ...: one earlier", Fate.KILLED, "seq.mismatch"),
        ("if r < 1: Y[m, u] += 1.0 ...: one later", Fate.KILLED, "seq.mismatch"),
    }


def test_weaker_instructions_are_found(tmp_path: Path) -> None:
    proc = kernel(tmp_path, STORE)
    proof = verify(proc)
    assert proof.status is Status.PROVED
    found = slim(proc, lambda edits, *, alone: assess(proof, edits, Policy()))
    left = to_source(found.proc)
    assert "fence_proxy_async()" in left and "bulk_wait_read(0)" in left
    assert verify(found.proc).status is Status.PROVED
    refused = {a.edit.what for a in found.alone if a.verdict.fate is not Fate.HARMLESS}
    assert {"no fence_proxy_async_all()", "no Fence()", "no bulk_wait(0)", "bulk_wait(0): 1 pending"} <= refused


@pytest.mark.parametrize("text", [RING, TWICE, STORE])
def test_edited_kernels_can_be_written_and_read_back(tmp_path: Path, text: str) -> None:
    proc = kernel(tmp_path, text)
    for edit in (*mutants(proc), *weakenings(proc)):
        path = tmp_path / "edited.py"
        path.write_text(to_source(edit.proc))
        try:
            assert load(path)["k"] == edit.proc, edit.what
        except BadInput as error:
            assert {d.code for d in check(edit.proc)} >= {d.code for d in error.diagnostics}, edit.what
