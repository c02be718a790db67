"""Words for operations and for what the rules forbid."""

from __future__ import annotations

from exogpu.ir.instr import Group, Mode
from exogpu.ir.skeleton.operations import (
    Access,
    Arrive,
    Await,
    BarSync,
    Commit,
    CpAsync,
    Expect,
    Init,
    Inval,
    SetMaxnreg,
    Signal,
    Spin,
    StAsync,
    TmaLoad,
    TmaStore,
    Wait,
    Wgmma,
)
from exogpu.verify.explore.events import Event

GROUPS = {Group.WGMMA: "wgmma", Group.BULK: "bulk", Group.COPY: "cp"}
ACCESSES = {Mode.READ: "load", Mode.WRITE: "store", Mode.REDUCE: "update"}
PLAIN_NAMES = {
    "ClusterArrive": "cluster_arrive",
    "ClusterWait": "cluster_wait",
    "CopyArrive": "cp_arrive",
    "WarpSync": "warp_sync",
    "ProxyFence": "proxy_fence",
    "WgmmaFence": "wgmma_fence",
    "InitFence": "init_fence",
    "MemoryFence": "fence",
    "Exit": "exit",
    "Check": "check",
    "Elect": "elect",
}


def operation(e: Event) -> str:
    """An event's operation, as the user writes it."""
    match e.op:
        case Access(ref=ref, mode=mode):
            return f"{ACCESSES[mode]}({ref.name})"
        case TmaLoad(dst=dst):
            return f"tma_load({dst.name})"
        case StAsync(dst=dst):
            return f"st_async({dst.name})"
        case TmaStore(src=src, reduces=reduces):
            return f"{'tma_reduce' if reduces else 'tma_store'}({src.name})"
        case CpAsync(dst=dst):
            return f"cp_async({dst.name})"
        case Wgmma(acc=acc, operands=operands):
            return f"wgmma({', '.join(r.name for r in (acc, *operands))})"
        case Init() | Inval() | Arrive() | Expect() | Await():
            kind = "wait" if isinstance(e.op, Await) else type(e.op).__name__.lower()
            return f"{kind}({e.shown})"
        case Signal(adds=adds):
            return f"{'signal_add' if adds else 'signal'}({e.shown})"
        case Spin():
            return f"spin({e.shown})"
        case _:
            return _collective(e)


def _collective(e: Event) -> str:
    match e.op:
        case BarSync(count=None):
            return "cta_sync()"
        case BarSync(count=count, waits=waits):
            return f"{'bar_sync' if waits else 'bar_arrive'}({e.number}, {count})"
        case Commit(group=group):
            return f"{GROUPS[group]}_commit()"
        case Wait(group=group, pending=pending, reads_only=reads):
            return f"{GROUPS[group]}_wait{'_read' if reads else ''}({pending if pending >= 0 else ''})"
        case SetMaxnreg(registers=n, increases=increases):
            return f"maxnreg_{'inc' if increases else 'dec'}({n})"
        case _:
            return f"{PLAIN_NAMES[type(e.op).__name__]}()"


def at(iteration: tuple[tuple[str, int], ...]) -> str:
    """Where in its loops, as ", i = 3"."""
    return "".join(f", {name} = {value}" for name, value in iteration)


def counted(number: int, what: str) -> str:
    """So many of something: "1 arrival", "2 arrivals"."""
    return f"{number} {what}{'s' * (number != 1)}"
