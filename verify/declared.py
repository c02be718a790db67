"""What a kernel has besides its statements: barriers, and the end of each CTA."""

from __future__ import annotations

from exogpu.ir.index import Bin, Int, Var
from exogpu.ir.instr import ClusterArrive, ClusterWait
from exogpu.ir.proc import Launch, Proc
from exogpu.ir.stmt import InstrCall
from exogpu.ir.walk import walk
from exogpu.source import Span
from exogpu.verify.program import Barrier, Event, Exec, ExitAction, Loop, LoopKind, Step

CTA_ROLE = "all"
CLUSTER_BARRIER = "cluster barrier"
EXIT_CTA = "cta.exit"


def barriers_of(proc: Proc) -> dict[str, Barrier]:
    """Declared barriers, and the cluster's own if the kernel uses it in two parts."""
    every = [Barrier(b.name, b.ring, b.count, b.span) for b in proc.barriers]
    every += [Barrier(b.name, 1, b.count, b.span, named=True) for b in proc.named]
    if splits_cluster_barrier(proc):
        everybody = proc.block.threads * proc.block.cluster
        every.append(Barrier(CLUSTER_BARRIER, 1, everybody, proc.block.span, named=True, split=True))
    return {b.name: b for b in every}


def splits_cluster_barrier(proc: Proc) -> bool:
    """Some statement arrives at the cluster's barrier or waits for it alone."""
    calls = (s for s in walk(proc.body) if isinstance(s, InstrCall))
    return any(isinstance(call.instr.effect, ClusterArrive | ClusterWait) for call in calls)


def exit_event(block: Launch, span: Span, position: int, number: int) -> Event:
    """The end of each CTA."""
    loop = Loop(EXIT_CTA, Int(0), Int(block.cluster), LoopKind.THREADS, block.threads, Int(0))
    return Event(
        id=number,
        label="exit",
        role=CTA_ROLE,
        span=span,
        path=(Step(position, loop), Step(0, None)),
        guards=(),
        first=Bin("*", Int(block.threads), Var(EXIT_CTA)),
        size=block.threads,
        exec=Exec.TOGETHER,
        action=ExitAction(),
    )
