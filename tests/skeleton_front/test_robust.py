"""Whatever a text says, all of it is read or its faults are named: the reader has no other way out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exogpu.diagnostics import BadInput
from exogpu.ir.skeleton.tree import Elect, For, If, Skeleton, Stmt
from exogpu.lang.load import definitions
from exogpu.skeleton.surface import WORDS

TEXT = """\
from exogpu.skeleton import *
S = 3
@skeleton
def ring(n: size):
    require(n >= 1)
    cluster(2)
    x = smem(S, 8)
    o = smem(8, at=x[1])
    full = mbarrier(S, count=1)
    acc = registers(2)
    f = flags(2)
    y = gmem(n, 8)
    with role("load", warps=1, ctas=(0, 1)):
        ph = 0
        for i in range(n):
            if pred("work", i) and lane == 0:
                wait(full[i % S], ph ^ 1, scope="cluster")
                tma_load(x[i % S], full[i % S], bytes=128, multicast=(0, 1), src=y[i, 0:8])
            ph ^= 1
    with role("mm", threads=256):
        k = unknown("slot", tid, below=4)
        wgmma(acc[0], x[k & 1], acc[1])
        store(peer(o, rank))
        signal(f[0], 1)
"""

HEAD, BODY = TEXT.split(":\n", 1)
TOKENS = re.findall(r"\n *|\w+|\"\w+\"|[^\w\s]| ", BODY)
OTHERS = (*sorted(WORDS), *re.findall(r"\S+", "0 -1 n i x full tid ** * None () ^ ~ :="), "10 ** 5000", "lambda: 0")


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from((*OTHERS, *TOKENS, ""))), min_size=1, max_size=3
    )
)
def test_edited_texts_are_read_or_rejected(tmp_path: Path, edits: list[tuple[int, str]]) -> None:
    tokens = list(TOKENS)
    for position, token in edits:
        tokens[position] = token
    file = tmp_path / "edited.py"
    file.write_text(HEAD + ":\n" + "".join(tokens), encoding="utf-8")
    try:
        found = definitions(file)
    except BadInput as bad:
        assert bad.diagnostics
        assert all(d.code.startswith("lang.") and d.span.line >= 1 for d in bad.diagnostics)
        return
    written = Counter(_written(ast.parse(file.read_text(encoding="utf-8"))))
    for read in found.values():
        assert isinstance(read, Skeleton)
        assert Counter(name for body in read.bodies for name in _read(body.stmts)) == written


def _written(tree: ast.Module) -> Iterator[str]:
    """The kinds of the statements in roles. Python's own values decide no `if` here, so all of them are read."""
    roles = [r for f in tree.body if isinstance(f, ast.FunctionDef) for r in f.body if isinstance(r, ast.With)]
    for node in (n for r in roles for s in r.body for n in ast.walk(s)):
        match node:
            case ast.For() | ast.If() | ast.With():
                yield type(node).__name__
            case ast.Expr(value=ast.Call(func=ast.Name("cluster_sync"))):
                yield from ("operation", "operation")
            case ast.Expr() | ast.Assign() | ast.AugAssign():
                yield "operation"


def _read(block: tuple[Stmt, ...]) -> Iterator[str]:
    for stmt in block:
        match stmt:
            case For(body=body):
                yield from ("For", *_read(body))
            case If(_, then, orelse):
                yield from ("If", *_read(then), *_read(orelse))
            case Elect(body):
                yield from ("With", *_read(body))
            case _:
                yield "operation"
