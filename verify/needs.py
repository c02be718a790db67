"""What a path between two events has to do, beyond being one."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from exogpu.ir.index import Index
from exogpu.ir.instr import Group, ProxyFence, WgmmaFence
from exogpu.verify.declared import CLUSTER_BARRIER
from exogpu.verify.program import Action, ArriveAction, AwaitAction, Event, InGroup, PublishAction


class FenceKind(enum.Enum):
    """A proxy fence that covers shared or global memory, a wgmma fence, or one for initialised mbarriers."""

    SHARED = "fence_proxy_async"
    GLOBAL = "fence_proxy_async_all"
    REGISTER = "wgmma_fence"
    INIT = "fence_mbarrier_init"

    def made_by(self, action: Action | None) -> bool:
        """The action is such a fence."""
        match action:
            case ProxyFence(everywhere):
                return self is FenceKind.SHARED or (self is FenceKind.GLOBAL and everywhere)
            case WgmmaFence():
                return self is FenceKind.REGISTER
            case PublishAction():
                return self is FenceKind.INIT
            case _:
                return False


class Side(enum.Enum):
    """Where on a path a fence stands: in a thread of the first access, or where the second one is made."""

    SOURCE = "source"
    TARGET = "target"


def covers_cluster(action: Action | None) -> bool:
    """A proxy fence for every state space, other CTAs' shared memory included."""
    return isinstance(action, ProxyFence) and action.everywhere


@dataclass(frozen=True, slots=True)
class Needs:
    """What a path must do: order visibly or only in time, and pass through a fence of the given kind.

    `reads_only`: the source is an asynchronous read, so a `.read` group wait completes it. `both_async`: both accesses
    are asynchronous; `overwrites`: and the second overwrites shared memory of a cluster; `abroad`: and they may be of
    two CTAs. `axioms`: what every path with an intermediate event relies on. `home`: the CTA in whose shared memory the
    two meet, over the variables of the second; None if both can only be of one CTA, or it is global memory. `woken`:
    the path begins with an await that the source, an arrive, helps to complete. `apart`: one of them is a read of an
    operand in registers, which the order of a wgmma pipeline on its accumulator says nothing about.
    """

    temporal: bool = False
    fence: FenceKind | None = None
    reads_only: bool = False
    both_async: bool = False
    overwrites: bool = False
    abroad: bool = False
    axioms: frozenset[str] = frozenset()
    home: Index | None = None
    woken: bool = False
    apart: bool = False

    def sides(self, allowed: frozenset[str]) -> frozenset[Side]:
        """Where fences stand that a path passes: a proxy fence where the second access is made, and without L1 the
        first access's own thread executes one, too (one fence can be both)."""
        match self.fence:
            case None:
                return frozenset()
            case FenceKind.INIT:
                return frozenset((Side.SOURCE,))
            case FenceKind.REGISTER:
                return frozenset((Side.TARGET,))
            case FenceKind.SHARED | FenceKind.GLOBAL:
                return frozenset((Side.TARGET,)) if "L1" in allowed else frozenset(Side)

    def between_wgmmas(self, source: Event) -> bool:
        """A fence for registers has to lie between the source, a wgmma, and another one on its accumulator (F1)."""
        return (
            self.fence is FenceKind.REGISTER
            and not self.apart
            and isinstance(source.completion, InGroup)
            and source.completion.group is Group.WGMMA
        )

    def acquired(self, wait: AwaitAction) -> bool:
        """The wait makes what it has waited for visible, if the path has to carry that."""
        return self.temporal or not wait.relaxed

    def heard(self, wait: AwaitAction, signal: ArriveAction, allowed: frozenset[str], *, abroad: bool) -> bool:
        """The wait acquires what the path has to carry from the arrive; `abroad`: of another CTA's thread. To overwrite
        what asynchronous operations have used, both may be of any scope (L4)."""
        local = (wait.local or signal.local) and not (self.overwrites and "L4" in allowed)
        return self.acquired(wait) and (self.temporal or not (local and abroad))

    def through(self, signal: ArriveAction, allowed: frozenset[str]) -> bool:
        """The arrive hands on what the path has to carry. A relaxed one says only that something has ended, which is
        enough to overwrite what asynchronous operations have used (L4); one that waits for copies speaks for those
        copies alone (PTX ISA, asynchronous operations), though it comes later. Behind a fence for initialisations the
        cluster's barrier tells of these, even by relaxed arrives."""
        if self.temporal or (self.fence is FenceKind.INIT and signal.barrier == CLUSTER_BARRIER):
            return True
        relaxed = signal.relaxed or (signal.axiom != "" and signal.axiom not in allowed)
        published = not relaxed or (self.overwrites and "L4" in allowed)
        return published and not signal.after_copies
