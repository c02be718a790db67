"""The barriers of one cluster: their objects in every CTA, and what threads that arrive and wait tell each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from exogpu.ir.arrays import Numbers
from exogpu.ir.proc import Proc
from exogpu.verify.simulator.clocks import Monitor
from exogpu.verify.simulator.mbarrier import Mbarrier, Named
from exogpu.verify.simulator.outcome import Broken, Race, Violation
from exogpu.verify.simulator.trace import CLUSTER, ArriveOn, AwaitOn, Join, Operation, Pass, entries

Chosen = list[int]


@dataclass(frozen=True, slots=True, eq=False)
class _Remote:
    """An arrive on the barrier of another CTA: the arriving thread's number and clock, and the object's phase."""

    cta: int
    thread: int
    clock: int
    object_: Mbarrier
    turn: int


@dataclass(slots=True, eq=False)
class Barriers:
    """Objects by name, CTA and ring slot. For the monitor, threads begin at `base`. `inside` are the threads that have
    joined the cluster's barrier and not passed it, `remote` the arrives on other CTAs' barriers."""

    proc: Proc
    base: int
    monitor: Monitor | None
    rings: dict[str, int] = field(init=False)
    objects: dict[tuple[str, int, int], Mbarrier] = field(init=False)
    named: dict[tuple[str, int], Named] = field(init=False)
    inside: set[int] = field(default_factory=set)
    remote: list[_Remote] = field(default_factory=list)

    def __post_init__(self) -> None:
        ctas = range(self.proc.block.cluster)
        self.rings = {b.name: b.ring for b in self.proc.barriers}
        self.objects = {
            (b.name, cta, slot): Mbarrier(f"{b.name}[{slot}]", b.count)
            for b in self.proc.barriers
            for cta in ctas
            for slot in range(b.ring)
        }
        self.named = {(b.name, cta): Named(b.name, b.count) for b in self.proc.named for cta in ctas}
        self.named[CLUSTER, 0] = Named(CLUSTER, self.proc.block.threads * self.proc.block.cluster)

    def object_of(self, barrier: str, cta: int, phase: int) -> tuple[Mbarrier, int]:
        """The object that a phase uses, and which of the object's own phases it is."""
        ring = self.rings[barrier]
        return self.objects[barrier, cta, phase % ring], phase // ring

    def unfinished(self) -> Iterator[str]:
        """What is wrong with objects when all threads have ended."""
        for o in self.objects.values():
            if o.tx:
                yield f"{o.name} still expects {o.tx} bytes at the end"

    # -- mbarriers ---------------------------------------------------------------------------------------------------

    def able(self, operation: Operation, wait: AwaitOn, threads: Chosen) -> Chosen:
        """The threads whose wait returns."""
        waits = self._waits(operation, wait.phases, threads).items()
        return [t for (cta, phase), who in waits if self._passes(wait.barrier, cta, phase) for t in who]

    def _passes(self, barrier: str, cta: int, phase: int) -> bool:
        object_, turn = self.object_of(barrier, cta, phase)
        return phase < -self.rings[barrier] or object_.lets_pass(turn)

    def _waits(self, operation: Operation, phases: Numbers, threads: Chosen) -> dict[tuple[int, int], Chosen]:
        """Threads by the CTA and the phase that they wait for."""
        found: dict[tuple[int, int], Chosen] = {}
        for t, phase in zip(threads, entries(operation, phases, threads), strict=True):
            found.setdefault((t // self.proc.block.threads, phase), []).append(t)
        return found

    def arrive(self, arrive: ArriveOn, thread: int, phase: int, cta: int) -> None:
        """A thread arrives; raises Violation."""
        object_, turn = self.object_of(arrive.barrier, cta, phase)
        if self.monitor is not None:
            if cta != thread // self.proc.block.threads:
                clock = self.monitor.clock(thread + self.base)
                self.remote.append(_Remote(cta, thread + self.base, clock, object_, turn))
            object_.tell(self.monitor.publish([thread + self.base], relaxed=arrive.relaxed))
        object_.arrive(turn, arrive.tx, f"thread {thread}")

    def woken(self, operation: Operation, wait: AwaitOn, threads: Chosen) -> None:
        """Threads' waits return: they know what the arrivals knew; raises Violation if the phase is not complete."""
        for (cta, phase), who in self._waits(operation, wait.phases, threads).items():
            if phase < 0:
                continue
            object_, turn = self.object_of(wait.barrier, cta, phase)
            if self.monitor is not None and object_.known is not None:
                self.monitor.learn([t + self.base for t in who], object_.known)
            object_.awaited = max(object_.awaited, turn)
            if object_.completed <= turn:
                text = f"a wait for phase {phase} of {wait.barrier} returns before it is complete"
                raise Violation(Broken(f"{text} (line {operation.span.line})"))

    def vanish(self, cta: int, threads: range) -> None:
        """The barriers of a CTA are gone with its threads; raises Violation if nothing says that an arrive of another
        CTA has been performed: neither a wait that it has completed, nor that a thread has heard of it."""
        if self.monitor is None:
            return
        known = self.monitor.heard([t + self.base for t in threads])
        for r in self.remote:
            if r.cta == cta and r.object_.awaited < r.turn and known[r.thread] < r.clock:
                raise Violation(Race(f"an arrive on {r.object_.name} may come when its CTA has ended"))

    # -- named barriers ----------------------------------------------------------------------------------------------

    def _named(self, barrier: str, thread: int) -> Named:
        return self.named[barrier, 0 if barrier == CLUSTER else thread // self.proc.block.threads]

    def join(self, operation: Operation, join: Join, threads: Chosen) -> None:
        """Threads join their generations; raises Violation if one is not forming."""
        if join.barrier == CLUSTER:
            if not self.inside.isdisjoint(threads):
                raise Violation(Broken(f"a thread arrives twice without a wait between (line {operation.span.line})"))
            self.inside.update(threads)
        for t, g in zip(threads, entries(operation, join.generations, threads), strict=True):
            known = None if self.monitor is None else self.monitor.publish([t + self.base], relaxed=join.relaxed)
            self._named(join.barrier, t).join(g, known, f"thread {t}")

    def complete(self, operation: Operation, wait: Pass, threads: Chosen) -> Chosen:
        """The threads whose generation is complete."""
        if wait.barrier == CLUSTER:
            threads = [t for t in threads if t in self.inside]
        known = entries(operation, wait.generations, threads)
        return [t for t, g in zip(threads, known, strict=True) if self._named(wait.barrier, t).lets_pass(g)]

    def passed(self, operation: Operation, wait: Pass, threads: Chosen) -> None:
        """Threads know what all threads of their generation knew."""
        if wait.barrier == CLUSTER:
            self.inside.difference_update(threads)
        for t, g in zip(threads, entries(operation, wait.generations, threads), strict=True):
            known = self._named(wait.barrier, t).known[g]
            if self.monitor is not None and known is not None:
                self.monitor.learn([t + self.base], known)
