"""Calls that are statements: barriers, fences, flags and the rest; and the word that each operation is called by."""

from __future__ import annotations

import ast
from typing import Final

from exogpu.ir.collective import WARP
from exogpu.ir.index import Int
from exogpu.ir.skeleton.operations import (
    Arrive,
    Await,
    BarSync,
    Check,
    ClusterArrive,
    ClusterWait,
    CopyArrive,
    Exit,
    Expect,
    Init,
    InitFence,
    Inval,
    MemoryFence,
    Operation,
    ProxyFence,
    SetMaxnreg,
    Signal,
    Spin,
    Unsupported,
    WarpSync,
)
from exogpu.ir.wellformed import MAX_THREADS
from exogpu.lang.errors import closest, reject
from exogpu.skeleton import accesses
from exogpu.skeleton.cuda import meant
from exogpu.skeleton.given import OF_BARRIERS, Form, Given, form
from exogpu.skeleton.indices import cond, parity, text
from exogpu.skeleton.objects import MAX_REGISTERS, arrivals
from exogpu.skeleton.refs import FLAG, single
from exogpu.skeleton.scope import Reader
from exogpu.skeleton.surface import UNSUPPORTED


def call(r: Reader, node: ast.Call) -> tuple[Operation, ...]:
    """A call in statement position; `cluster_sync` is two operations."""
    word = r.word(node.func)
    if word in UNSUPPORTED:
        return (Unsupported(word, r.span(node)),)
    if word == "wgmma":
        return (accesses.wgmma(r, node),)
    if word in FORMS:
        return FORMS[word].read(r, node)
    written = ast.unparse(node.func)
    help_text = closest(written, [*FORMS, *UNSUPPORTED, "wgmma"], meant) or "docs/skeletons.md lists the statements"
    raise reject("unknown_name", f"`{written}` is not a statement", r.span(node.func), "unknown statement", help_text)


def _arrive(g: Given) -> Operation:
    count = arrivals(g.r, g.args["count"]) if g.has("count") else 1
    tx = g.bytes("tx") if g.has("tx") else None
    return Arrive(g.barrier(peers=True), tx, count, g.flag("relaxed"), g.scope("cta", OF_BARRIERS), g.span)


def _wait(g: Given) -> Operation:
    scope = g.scope("cta", OF_BARRIERS)
    return Await(g.barrier(), parity(g.r, g.args["parity"]), g.flag("relaxed"), scope, g.span)


def _bar(waits: bool) -> Form:
    def build(g: Given) -> Operation:
        rule = f"a multiple of {WARP} in {WARP}..{MAX_THREADS}"
        count = g.number("n", lambda n: n in range(WARP, MAX_THREADS + 1, WARP), rule)
        return BarSync(g.index("id"), count, waits, g.span)

    return form("id n", build)


def _signal(adds: bool) -> Form:
    def build(g: Given) -> Operation:
        flag = single(g.r, g.args["f"], FLAG)
        return Signal(flag, g.index("v"), adds, g.flag("relaxed"), g.scope("gpu"), g.span)

    return form("f v relaxed? scope?", build)


def _spin(g: Given) -> Operation:
    return Spin(single(g.r, g.args["f"], FLAG), g.index("v"), g.flag("relaxed"), g.scope("gpu"), g.span)


def _maxnreg(increases: bool) -> Form:
    rule = f"a multiple of 8 in 24..{MAX_REGISTERS}"
    allowed = range(24, MAX_REGISTERS + 1, 8)
    return form("n", lambda g: SetMaxnreg(g.number("n", lambda n: n in allowed, rule), increases, g.span))


def _check(g: Given) -> Operation:
    written = g.args["condition"]
    why = text(g.r, g.args["why"], "the reason") if g.has("why") else ast.unparse(written)
    return Check(cond(g.r, written), why, g.span)


FORMS: Final[dict[str, Form]] = {
    **accesses.FORMS,
    "init": form("b count", lambda g: Init(g.barrier(), arrivals(g.r, g.args["count"]), g.span)),
    "inval": form("b", lambda g: Inval(g.barrier(), g.span)),
    "arrive": form("b tx? count? relaxed? scope?", _arrive),
    "expect": form("b bytes", lambda g: Expect(g.barrier(peers=True), g.bytes("bytes"), g.span)),
    "cp_arrive": form("b noinc?", lambda g: CopyArrive(g.barrier(), g.flag("noinc"), g.span)),
    "wait": form("b parity relaxed? scope?", _wait),
    "cta_sync": form("", lambda g: BarSync(Int(0), None, True, g.span)),
    "bar_sync": _bar(True),
    "bar_arrive": _bar(False),
    "warp_sync": form("", lambda g: WarpSync(g.span)),
    "cluster_sync": form("", lambda g: (ClusterArrive(False, g.span), ClusterWait(g.span))),
    "cluster_arrive": form("relaxed?", lambda g: ClusterArrive(g.flag("relaxed"), g.span)),
    "cluster_wait": form("", lambda g: ClusterWait(g.span)),
    "proxy_fence": form("everywhere?", lambda g: ProxyFence(g.flag("everywhere"), g.span)),
    "init_fence": form("", lambda g: InitFence(g.span)),
    "fence": form("scope", lambda g: MemoryFence(g.scope("gpu"), g.span)),
    "signal": _signal(False),
    "signal_add": _signal(True),
    "spin": form("f v relaxed? scope?", _spin),
    "maxnreg_inc": _maxnreg(True),
    "maxnreg_dec": _maxnreg(False),
    "exit": form("", lambda g: Exit(g.span)),
    "check": form("condition why?", _check),
}
