"""Operations that touch memory: ordinary accesses, bulk copies, cp.async, wgmma, and their groups."""

from __future__ import annotations

import ast
from typing import Final

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.index import Index
from exogpu.ir.instr import Group, Mode
from exogpu.ir.skeleton.operations import (
    ALL,
    Access,
    Commit,
    CpAsync,
    Operation,
    StAsync,
    TmaLoad,
    TmaStore,
    Wait,
    Wgmma,
    WgmmaFence,
)
from exogpu.lang.errors import reject
from exogpu.skeleton.given import Form, Given, form
from exogpu.skeleton.indices import ctas, text
from exogpu.skeleton.refs import ACCUMULATOR, ATOMIC, GLOBAL, MEMORY, OPERAND, SHARED, cta, part
from exogpu.skeleton.scope import Reader


def _access(mode: Mode) -> Form:
    kinds = ATOMIC if mode is Mode.REDUCE else MEMORY
    return form("x", lambda g: Access(g.part("x", kinds, peers=True), mode, g.span))


def _st_async(g: Given) -> Operation:
    dst, barrier = g.part("x", SHARED, peers=True), g.barrier(peers=True)
    if dst.cta is None or barrier.cta is None or dst.cta != barrier.cta:
        message = "st_async writes into a peer's memory and completes on a barrier of the same CTA"
        raise reject("cluster", message, g.span, help="write `st_async(peer(x, c), peer(b, c), bytes=n)`")
    return StAsync(dst, barrier, g.bytes("bytes"), g.span)


def _tma_load(g: Given) -> Operation:
    multicast = _ctas(g) if g.has("multicast") else None
    return TmaLoad(g.part("x", SHARED), g.barrier(), g.bytes("bytes"), multicast, g.maybe("src", GLOBAL), g.span)


def _ctas(g: Given) -> tuple[Index, ...]:
    node = g.args["multicast"]
    if g.r.cluster == 1:
        message = "multicast needs a cluster"
        raise reject("cluster", message, g.r.span(node), help="declare `cluster(2)` at the beginning of the body")
    return ctas(g.r, node, lambda e: cta(g.r, e))


def _tma_store(reduces: bool) -> Form:
    return form("x y?", lambda g: TmaStore(g.part("x", SHARED), g.maybe("y", GLOBAL), reduces, g.span))


def _commit(group: Group) -> Form:
    return form("", lambda g: Commit(group, g.span))


def _wait(group: Group, reads_only: bool = False) -> Form:
    return form("n", lambda g: Wait(group, g.number("n", lambda n: n >= 0, "at least 0"), reads_only, g.span))


def wgmma(r: Reader, node: ast.Call) -> Wgmma:
    """`wgmma(acc, operand, ..., shape="n128")`."""
    usage = "write `wgmma(acc, x, y)`"
    options = {k.arg: k.value for k in node.keywords}
    if len(node.args) < 2 or not set(options) <= {"shape"}:
        raise reject("arity", "wgmma has an accumulator and operands", r.span(node), help=usage)
    if r.role is not None and r.role.threads % WARPGROUP:
        message = (
            f"role `{r.role.name}` has {r.role.threads} threads, and wgmma is executed by warpgroups of {WARPGROUP}"
        )
        raise reject("collective", message, r.span(node))
    if r.elected:
        message = "wgmma is executed by whole warpgroups, and here by an elected thread"
        raise reject("collective", message, r.span(node), help="write it outside `with elect()`")
    acc = part(r, node.args[0], ACCUMULATOR)
    operands = tuple(part(r, a, OPERAND) for a in node.args[1:])
    shape = text(r, options["shape"], "the shape") if "shape" in options else ""
    return Wgmma(acc, operands, shape, r.span(node))


FORMS: Final[dict[str, Form]] = {
    "load": _access(Mode.READ),
    "store": _access(Mode.WRITE),
    "update": _access(Mode.REDUCE),
    "st_async": form("x b bytes", _st_async),
    "tma_load": form("x b bytes multicast? src?", _tma_load),
    "tma_store": _tma_store(False),
    "tma_reduce": _tma_store(True),
    "bulk_commit": _commit(Group.BULK),
    "bulk_wait": _wait(Group.BULK),
    "bulk_wait_read": _wait(Group.BULK, True),
    "cp_async": form("x y?", lambda g: CpAsync(g.part("x", SHARED), g.maybe("y", GLOBAL), g.span)),
    "cp_commit": _commit(Group.COPY),
    "cp_wait": _wait(Group.COPY),
    "cp_wait_all": form("", lambda g: Wait(Group.COPY, ALL, False, g.span)),
    "wgmma_fence": form("", lambda g: WgmmaFence(g.span)),
    "wgmma_commit": _commit(Group.WGMMA),
    "wgmma_wait": _wait(Group.WGMMA),
}
