"""The recorded queries, read and decided by another library: what a certificate says can be checked without us."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from pysmt.shortcuts import is_unsat
from pysmt.smtlib.parser import SmtLibParser

from exogpu.verify.result import Status
from tests.texts import ring, store, verdict


@pytest.mark.parametrize("text", [ring(), store()], ids=["ring", "store"])
def test_queries_of_a_proof_are_unsatisfiable_to_another_reader(tmp_path: Path, text: str) -> None:
    report = verdict(tmp_path, text)
    assert report.status is Status.PROVED
    queries = {q.smtlib for o in report.obligations for q in o.queries}
    assert len(queries) > 8
    for query in queries:
        assert is_unsat(SmtLibParser().get_script(StringIO(query)).get_last_formula(), solver_name="z3")
