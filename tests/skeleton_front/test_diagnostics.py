"""Each rule of the reader of skeletons: a text that breaks it, beside one that differs in one place and does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from exogpu.codes import lookup
from exogpu.diagnostics import Diagnostic

Findings = Callable[[str], tuple[Diagnostic, ...]]

RING = """\
from exogpu.skeleton import *

S = 3
RATIO = 0.5
BOTH = (0, 1)


@skeleton
def ring(n: size, m: size):
    require(n >= 1)
    cluster(2)
    launch(registers=168)
    tile = smem(S, 128)
    out = smem(128, at=tile[1])
    full = mbarrier(S, count=1)
    late = mbarrier(2, at=out[64])
    result = gmem(n, 64, result=True)
    acc = registers()
    part = registers(2)
    turn = flags(4)
    with role("load", threads=1, ctas=0):
        for i in range(n):
            k = unknown("slot", i, below=4)
            tma_load(tile[i % S], full[i % S], bytes=256, multicast=BOTH)
        store(peer(out[0], 1))
        st_async(peer(out, 1), peer(late[0], 1), bytes=8)
        init(late[0], 4)
    with role("compute", threads=256):
        ph = 0
        for t in range(n):
            if pred("work", t):
                wait(full[t % S], ph)
            ph ^= 1
            wgmma(acc, tile[t & 1], part[0], shape="n128")
            wgmma_wait(1)
        bar_sync(1, 256)
        update(result[tid])
        with elect():
            tma_store(tile[0], result[0])
        fence("gpu")
        signal(turn[rank], 1)
"""


class Case(NamedTuple):
    """`good`, replaced by `bad` in the text, is reported as `code` at the text `marked`."""

    code: str
    good: str
    bad: str
    marked: str


TMA = "tma_load(tile[i % S], full[i % S], bytes=256, multicast=BOTH)"
WGMMA = 'wgmma(acc, tile[t & 1], part[0], shape="n128")'
ASYNC = "st_async(peer(out, 1), peer(late[0], 1), bytes=8)"
LOAD = 'role("load", threads=1, ctas=0)'
COMPUTE = 'role("compute", threads=256)'
INIT = "init(late[0], 4)"
WAIT = "wait(full[t % S], ph)"
SIGNAL = "signal(turn[rank], 1)"

CASES = [
    # names
    Case("lang.unknown_name", INIT, "init(lat[0], 4)", "lat"),
    Case("lang.unknown_name", INIT, "inits(late[0], 4)", "inits"),
    Case("lang.unknown_name", INIT, "init(late[i], 4)", "i"),
    Case("lang.unknown_name", "at=out[64]", "at=late[64]", "late"),
    Case("lang.unknown_name", "ph = 0", "ph = ph + 1", "ph"),
    Case("lang.unknown_name", "turn = flags(4)", "turn = flag(4)", "flag"),
    Case("lang.name", "ph = 0", "_ph = 0\n        ph = 0", "_ph"),
    Case("lang.name", "ph = 0", "rank = 0\n        ph = 0", "rank"),
    Case("lang.name", "turn = flags(4)", "turn = flags(4)\n    warp = flags(4)", "warp"),
    Case("lang.name", '"slot"', '"the slot"', '"the slot"'),
    Case("lang.name", LOAD, 'role("load 1", threads=1, ctas=0)', '"load 1"'),
    Case("lang.name", "def ring", "def _ring", "_ring"),
    Case("lang.duplicate_name", "turn = flags(4)", "turn = flags(4)\n    acc = smem()", "acc"),
    Case("lang.duplicate_name", "turn = flags(4)", "turn = flags(4)\n    n = smem()", "n"),
    Case("lang.duplicate_name", "turn = flags(4)", "turn = flags(4)\n    cluster(2)", "cluster(2)"),
    Case("lang.duplicate_name", COMPUTE, 'role("load", threads=256)', 'role("load", threads=256)'),
    Case("lang.duplicate_name", "ph ^= 1", "t += 1", "t"),
    Case("lang.duplicate_name", "ph ^= 1", "n = 1", "n"),
    Case("lang.duplicate_name", "ph ^= 1", "acc = 1", "acc"),
    # arguments
    Case("lang.arity", INIT, "init(late[0])", "init(late[0])"),
    Case("lang.arity", INIT, "init(late[0], 4, 5)", "5"),
    Case("lang.arity", INIT, "init(late[0], 4, scope=1)", "scope=1"),
    Case("lang.arity", "bytes=256, ", "", "tma_load(tile[i % S], full[i % S], multicast=BOTH)"),
    Case("lang.arity", WGMMA, "wgmma(acc)", "wgmma(acc)"),
    Case("lang.arity", WGMMA, "wgmma(acc, tile[0], form=1)", "wgmma(acc, tile[0], form=1)"),
    Case("lang.arity", "range(n):\n            k", "range(0, n, 2):\n            k", "range(0, n, 2)"),
    Case("lang.arity", 'pred("work", t)', "pred()", "pred()"),
    Case("lang.arity", 'pred("work", t)', 'pred("work", t, below=4)', 'pred("work", t, below=4)'),
    Case("lang.arity", ", below=4", "", 'unknown("slot", i)'),
    Case("lang.arity", LOAD, 'role("load", ctas=0)', 'role("load", ctas=0)'),
    Case("lang.arity", LOAD, 'role("load", threads=1, warps=1)', 'role("load", threads=1, warps=1)'),
    Case("lang.arity", "mbarrier(S, count=1)", "mbarrier(ring=S, count=1)", "ring=S"),
    Case("lang.arity", "gmem(n, 64, result=True)", "gmem(n, 64, results=True)", "results=True"),
    Case("lang.arity", "peer(out[0], 1)", "peer(out[0])", "peer(out[0])"),
    # kinds of objects
    Case("lang.type_mismatch", TMA, "tma_load(tile[0], tile[0, 0], bytes=1)", "tile[0, 0]"),
    Case("lang.type_mismatch", TMA, "tma_load(full[0], full[0], bytes=1)", "full[0]"),
    Case("lang.type_mismatch", TMA, "load(full[0])", "full[0]"),
    Case("lang.type_mismatch", TMA, "load(turn[0])", "turn[0]"),
    Case("lang.type_mismatch", TMA, "update(acc)", "acc"),
    Case("lang.type_mismatch", TMA, "load(n)", "n"),
    Case("lang.type_mismatch", TMA, "load(S)", "S"),
    Case("lang.type_mismatch", WAIT, "wait(tile[0, 0], ph)", "tile[0, 0]"),
    Case("lang.type_mismatch", WAIT, "wait(full[acc], ph)", "acc"),
    Case("lang.type_mismatch", WAIT, "wait(full[RATIO], ph)", "RATIO"),
    Case("lang.type_mismatch", WGMMA, "wgmma(tile[0], tile[0], tile[1])", "tile[0]"),
    Case("lang.type_mismatch", WGMMA, "wgmma(acc, tile[0], result[0])", "result[0]"),
    Case("lang.type_mismatch", WGMMA, "wgmma(acc, tile[0], shape=3)", "3"),
    Case("lang.type_mismatch", SIGNAL, "signal(late[0], 1)", "late[0]"),
    Case("lang.type_mismatch", SIGNAL, 'signal(turn[0], 1, scope="grid")', '"grid"'),
    Case("lang.type_mismatch", WAIT, 'wait(full[0], ph, scope="gpu")', '"gpu"'),
    Case("lang.type_mismatch", WAIT, "wait(full[0], ph, relaxed=2)", "2"),
    Case("lang.type_mismatch", 'fence("gpu")', "fence(3)", "3"),
    Case("lang.type_mismatch", "at=out[64]", "at=full[0]", "full[0]"),
    Case("lang.type_mismatch", 'if pred("work", t):', "if ph:", "ph"),
    Case("lang.type_mismatch", 'if pred("work", t):', 'if pred("slot", t):', 'pred("slot", t)'),
    Case("lang.type_mismatch", 'if pred("work", t):', "if pred(n, t):", "n"),
    Case("lang.type_mismatch", "multicast=BOTH", "multicast=3", "3"),
    Case("lang.type", "m: size", "m: int", "m: int"),
    Case("lang.type", "m: size", "m", "m"),
    # dimensions
    Case("lang.rank", INIT, "init(late, 4)", "late"),
    Case("lang.rank", INIT, "init(late[0:2], 4)", "late[0:2]"),
    Case("lang.rank", INIT, "init(late[0, 0], 4)", "late[0, 0]"),
    Case("lang.rank", SIGNAL, "signal(turn, 1)", "turn"),
    Case("lang.window_extent", "update(result[tid])", "update(result)", "result"),
    Case("lang.window_extent", "update(result[tid])", "update(tile[0, 0:n])", "0:n"),
    Case("lang.window_extent", "update(result[tid])", "update(tile[0, 8:8])", "8:8"),
    # numbers
    Case("lang.literal", "smem(S, 128)", "smem(S, n)", "n"),
    Case("lang.literal", "wgmma_wait(1)", "wgmma_wait(t)", "t"),
    Case("lang.literal", "bar_sync(1, 256)", "bar_sync(1, n)", "n"),
    Case("lang.literal", INIT, "init(late[0], n)", "n"),
    Case("lang.literal", "at=tile[1]", "at=tile[n]", "tile[n]"),
    Case("lang.literal", "at=tile[1]", "at=tile[3]", "tile[3]"),
    Case("lang.literal", "threads=256", "threads=n", "n"),
    Case("lang.range", "smem(S, 128)", "smem(S, 0)", "0"),
    Case("lang.range", "smem(S, 128)", "smem(4096, 128)", "smem(4096, 128)"),
    Case("lang.range", "out = smem(128, at=tile[1])", "out = smem(257, at=tile[1])", "tile[1]"),
    Case("lang.range", "mbarrier(2, at=out[64])", "mbarrier(65, at=out[64])", "out[64]"),
    Case("lang.range", "gmem(n, 64", "gmem(n, 0", "0"),
    Case("lang.range", "count=1)", "count=0)", "0"),
    Case("lang.range", "count=1)", "count=1048576)", "1048576"),
    Case("lang.range", "registers=168", "registers=257", "257"),
    Case("lang.range", "registers=168", "registers=232", "ring"),
    Case("lang.range", "registers(2)", "registers(300)", "registers(300)"),
    Case("lang.range", "cluster(2)", "cluster(9)", "9"),
    Case("lang.range", "bytes=256", "bytes=0", "0"),
    Case("lang.range", "bytes=256", "bytes=1 << 20", "1 << 20"),
    Case("lang.range", "bar_sync(1, 256)", "bar_sync(1, 100)", "100"),
    Case("lang.range", "wgmma_wait(1)", "wgmma_wait(-1)", "-1"),
    Case("lang.range", "wgmma_wait(1)", "maxnreg_inc(100)", "100"),
    Case("lang.range", "below=4", "below=0", "0"),
    Case("lang.range", "threads=256", "threads=2000", "2000"),
    Case("lang.range", "ctas=0", "ctas=2", "2"),
    Case("lang.range", "t & 1", "t & 2", "2"),
    Case("lang.non_affine", WAIT, "wait(full[t * n], ph)", "t * n"),
    Case("lang.non_affine", WAIT, "wait(full[t // n], ph)", "t // n"),
    Case("lang.non_affine", WAIT, "wait(full[t % 0], ph)", "t % 0"),
    Case("lang.non_affine", WAIT, "wait(full[t ^ 1], ph)", "t ^ 1"),
    Case("lang.non_affine", WAIT, "wait(full[t / 2], ph)", "t / 2"),
    Case("lang.non_affine", WAIT, "arrive(full[0], tx=2 if t == 0 else 3)", "2 if t == 0 else 3"),
    Case("lang.non_affine", WAIT, 'wait(full[pred("work", t)], ph)', 'pred("work", t)'),
    Case("lang.non_affine", "ph ^= 1", "ph ^= 3", "3"),
    # roles
    Case("lang.role", "    cluster(2)\n", "    cluster(2)\n    cta_sync()\n", "cta_sync()"),
    Case("lang.role", "    cluster(2)\n", "    cluster(2)\n    c = 0\n", "c = 0"),
    Case(
        "lang.role", "    cluster(2)\n", "    cluster(2)\n    for i in range(3):\n        pass\n", "for i in range(3):"
    ),
    Case("lang.role", "    cluster(2)\n", "    cluster(2)\n    if n > 0:\n        cluster(2)\n", "n > 0"),
    Case("lang.role", "with elect():", 'with role("inner", threads=1):', 'role("inner", threads=1)'),
    Case("lang.role", f"with {LOAD}:", "with elect():", "elect()"),
    Case("lang.role", "require(n >= 1)", "require(tid >= 1)", "tid"),
    Case("lang.role", "require(n >= 1)", 'require(pred("even", n))', 'pred("even", n)'),
    Case("lang.threads", "threads=256", "threads=1024", 'role("compute", threads=1024)'),
    Case("lang.order", f"    with {COMPUTE}", f"    late_one = smem()\n    with {COMPUTE}", "late_one = smem()"),
    Case("lang.order", "ph = 0", "ph = 0\n        own = smem()", "own = smem()"),
    # clusters
    Case("lang.cluster", "peer(out[0], 1)", "peer(out[0], 2)", "2"),
    Case("lang.cluster", "multicast=BOTH", "multicast=(0, 2)", "2"),
    Case("lang.cluster", "multicast=BOTH", "multicast=(1, 1)", "(1, 1)"),
    Case("lang.cluster", "ctas=0", "ctas=(0, 0)", "(0, 0)"),
    Case("lang.cluster", ASYNC, "st_async(out, peer(late[0], 1), bytes=8)", "st_async(out, peer(late[0], 1), bytes=8)"),
    Case(
        "lang.cluster",
        ASYNC,
        ASYNC.replace("peer(out, 1)", "peer(out, 0)"),
        ASYNC.replace("peer(out, 1)", "peer(out, 0)"),
    ),
    Case("lang.cluster", INIT, "init(peer(late[0], 1), 4)", "peer(late[0], 1)"),
    Case("lang.cluster", WAIT, "wait(peer(full[0], 1), ph)", "peer(full[0], 1)"),
    Case("lang.cluster", TMA, "cp_async(peer(tile[0], 1))", "peer(tile[0], 1)"),
    Case("lang.type_mismatch", "peer(out[0], 1)", "peer(result[0], 1)", "result[0]"),
    # units
    Case("lang.collective", "threads=256", "threads=96", 'wgmma(acc, tile[t & 1], part[0], shape="n128")'),
    Case("lang.collective", "tma_store(tile[0], result[0])", "wgmma(acc, tile[0])", "wgmma(acc, tile[0])"),
    Case(
        "lang.collective",
        "tma_store(tile[0], result[0])",
        "with elect():\n                store(out)",
        "elect()",
    ),
    # Python that is not the language
    Case("lang.syntax", "ph ^= 1", "while True:\n                pass", "while True:"),
    Case("lang.syntax", "ph ^= 1", "break", "break"),
    Case("lang.syntax", "ph ^= 1", "return", "return"),
    Case("lang.syntax", "ph ^= 1", "ph, k = 0, 1", "ph, k = 0, 1"),
    Case("lang.syntax", "ph ^= 1", "acc[0] = 1", "acc[0] = 1"),
    Case("lang.syntax", "ph ^= 1", "k: int = 0", "k: int = 0"),
    Case("lang.syntax", "ph ^= 1", "with open(n):\n                pass", "open(n)"),
    Case("lang.syntax", "ph ^= 1", "for a, b in range(n):\n                pass", "a, b"),
    Case("lang.syntax", "ph ^= 1", "for a in BOTH:\n                pass", "BOTH"),
    Case("lang.syntax", "ph ^= 1", "1 + 1", "1 + 1"),
    Case("lang.syntax", "m: size", "m: size = 3", "3"),
    Case("lang.syntax", "m: size)", "m: size) -> int", "int"),
    Case("lang.syntax", "store(peer(out[0], 1))", "store(1)", "1"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.code}-{c.bad.strip()[:40]}")
def test_bad_text_and_its_twin(case: Case, findings: Findings) -> None:
    assert case.good in RING
    assert findings(RING) == ()
    text = RING.replace(case.good, case.bad, 1)
    (found,) = findings(text)
    assert (found.code, _marked(text, found)) == (case.code, case.marked), found
    assert lookup(found.code) is not None
    assert found.message[0].islower() or found.message.startswith("`") or found.message[0].isdigit()
    assert not found.message.endswith(".") and "\n" not in found.message


def _marked(text: str, found: Diagnostic) -> str:
    lines = text.splitlines()[found.span.line - 1 : found.span.end_line]
    lines[-1] = lines[-1][: found.span.end_col]
    lines[0] = lines[0][found.span.col :]
    return "\n".join(lines)


HELP = [
    (INIT, "inits(late[0], 4)", "did you mean `init`?"),
    (INIT, "init(latte[0], 4)", "did you mean `late`?"),
    ("turn = flags(4)", "turn = flag(4)", "did you mean `flags`?"),
    ("cluster(2)", "clusters(2)", "did you mean `cluster`?"),
    ("cluster(2)", "c = 0", "compute constants outside the function; counters belong to a role"),
    (TMA, "arrive(full[0], tx=8 if rank == 0 else 4)", "write `if` and `else` with one statement in each"),
    (WAIT, "wait(full[t ^ 1], ph)", "write `(e + 1) % 2` for a parity"),
    (WAIT, "wait(full[0], ph, scop=1)", "did you mean `scope`?"),
    (WAIT, 'wait(full[0], ph, scope="clusters")', "did you mean `cluster`?"),
    ("ph ^= 1", "while n:\n                pass", "write `for i in range(n)` with a size or an unknown number n"),
    ("range(n):\n            k", "range(0, n, 2):\n            k", "for a step k, loop over `range(ceildiv(n, k))`"),
    ("multicast=BOTH", "multicast=3", "write `(0, 1)`, and `(1,)` for one"),
]


@pytest.mark.parametrize(("good", "bad", "advice"), HELP, ids=[bad for _, bad, _ in HELP])
def test_the_help_says_what_to_write(good: str, bad: str, advice: str, findings: Findings) -> None:
    found = findings(RING.replace(good, bad, 1))[0]
    assert advice in (found.help or "")


def test_all_findings_are_reported_in_the_order_of_the_text(findings: Findings) -> None:
    text = RING
    for good, bad in (
        (INIT, "init(late, 4)"),
        ("below=4", "below=0"),
        (SIGNAL, "signal(turns, 1)"),
        ("registers=168", "registers=0"),
    ):
        text = text.replace(good, bad, 1)
    assert [d.code for d in findings(text)] == ["lang.range", "lang.range", "lang.rank", "lang.unknown_name"]
