"""Small builders for synchronisation statements."""

from __future__ import annotations

from exogpu import isa
from exogpu.ir.collective import WARP
from exogpu.ir.index import Cmp, Int, Var
from exogpu.ir.instr import Instr
from exogpu.ir.stmt import For, If, IndexArg, InstrCall, Stmt, Threads


def call(instr: Instr, **counts: int) -> InstrCall:
    """An instruction with literal counts."""
    return InstrCall(instr, tuple((name, IndexArg(Int(n))) for name, n in counts.items()))


def by_threads(var: str, n: int, unit: int, *body: Stmt) -> For:
    """A loop over n units of threads."""
    return For(var, Int(0), Int(n), Threads(unit), body)


def by_warps(size: int, *body: Stmt) -> tuple[Stmt, ...]:
    """Each warp of a collective for itself."""
    return body if size == WARP else (by_threads("v", size // WARP, WARP, *body),)


def not_first(loop: For, *body: Stmt) -> If:
    """In every iteration of a loop but the first."""
    return If(Cmp(">", Var(loop.var), loop.lo), body, ())


def fence_proxy() -> InstrCall:
    """fence_proxy_async."""
    return call(isa.fence_proxy_async)


def wgmma_wait(pending: int) -> InstrCall:
    """wgmma_wait(pending)."""
    return call(isa.wgmma_wait, pending=pending)
