"""What single statements of a skeleton become: events of the parallel program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.index import BoolOp, Cmp, Index, Int
from exogpu.ir.instr import Commit as CommitGroup
from exogpu.ir.instr import Group, Mode, Proxy
from exogpu.ir.instr import ProxyFence as FencesProxies
from exogpu.ir.instr import WgmmaFence as FencesRegisters
from exogpu.ir.linear import literal
from exogpu.ir.skeleton import operations as op
from exogpu.ir.skeleton.objects import Ref, Registers
from exogpu.ir.skeleton.tree import RANK, TID, For, Step, Stmt
from exogpu.ir.walk import index_names, substitute_cond, substitute_index
from exogpu.source import Span
from exogpu.verify.bounds import BULK_CHUNK
from exogpu.verify.program import (
    Access,
    Action,
    ArriveAction,
    AwaitAction,
    Computed,
    Event,
    Exec,
    ExitAction,
    ExpectAction,
    FenceAction,
    InGroup,
    LifeAction,
    MeetAction,
    PublishAction,
    TxOn,
    WaitAction,
)
from exogpu.verify.skeleton.barriers import NAMED, Part, Value
from exogpu.verify.skeleton.division import folded
from exogpu.verify.skeleton.events import Events
from exogpu.verify.skeleton.place import Place, by_value
from exogpu.verify.skeleton.reading import Checked, Fences, Reading, uniform
from exogpu.verify.skeleton.unsupported import NotModelled
from exogpu.verify.skeleton.windows import Dims


@dataclass
class Operations(Events):
    """The events of all statements so far, and those that change how many registers a thread has (true: to more)."""

    changes: list[tuple[Event, bool]] = field(default_factory=list)

    def operation(self, stmt: Stmt, place: Place, read: Reading, fences: Fences) -> None:
        """The events of a statement that is no control; `fences` are those right before and behind it."""
        match stmt:
            case op.Access() | op.TmaLoad() | op.StAsync() | op.TmaStore() | op.CpAsync() | op.Wgmma():
                self._data(stmt, place, read)
            case op.Arrive() | op.Expect() | op.CopyArrive() | op.Await() | op.Init() | op.Inval():
                self._mbarrier(stmt, place, read, fences)
            case op.BarSync() | op.WarpSync() | op.ClusterArrive() | op.ClusterWait():
                self._collective(stmt, place, read, fences)
            case op.Commit() | op.Wait() | op.ProxyFence() | op.WgmmaFence() | op.InitFence() | op.MemoryFence():
                self._ordering(stmt, place)
            case op.Check():
                self._check(stmt, place, read)
            case op.SetMaxnreg(increases=increases):
                word = "maxnreg_inc" if increases else "maxnreg_dec"
                self.changes.append((self.event(stmt, place, word, Exec.EACH, aligned=True), increases))
            case op.Signal() | op.Spin():
                self._flag(stmt, place, read, fences)
            case op.Unsupported(feature):
                raise NotModelled(f"`{feature}` has no model", stmt.span)
            case _:
                raise NotModelled("this statement has no model", stmt.span)

    def _check(self, stmt: op.Check, place: Place, read: Reading) -> None:
        tested = substitute_cond(read.cond(stmt.cond), self._who(stmt, place).names)
        event = self.event(stmt, place, "check", Exec.EACH, computed=(Computed(Int(0), (tested,)),))
        self.checks.append(Checked(event, tested, stmt))

    # -- data ----------------------------------------------------------------------------------------------------

    def _data(self, stmt: Stmt, place: Place, read: Reading) -> None:
        match stmt:
            case op.Access(ref, mode):
                word = {Mode.READ: "load", Mode.WRITE: "store", Mode.REDUCE: "update"}[mode]
                accesses = (*self._accesses(ref, mode, Proxy.GENERIC, place, read),)
                self.event(stmt, place, f"{word} {ref.name}", Exec.EACH, accesses)
            case op.TmaLoad(dst, barrier, tx, multicast):
                for cta in multicast or (None,):
                    where = None if cta is None else read.index(cta)
                    moved = (dst, stmt.src, Proxy.ASYNC)
                    self._completing(stmt, place, read, "tma_load", moved, barrier, tx, where)
            case op.StAsync(dst, barrier, tx):
                cta = None if barrier.cta is None else read.index(barrier.cta)
                self._completing(stmt, place, read, "st_async", (dst, None, Proxy.GENERIC), barrier, tx, cta)
            case op.TmaStore(src, dst, reduces):
                reads = self._accesses(src, Mode.READ, Proxy.ASYNC, place, read)
                mode = Mode.REDUCE if reduces else Mode.WRITE
                writes = self._accesses(dst, mode, Proxy.ASYNC, place, read)
                label = "tma_reduce" if reduces else "tma_store"
                self.event(stmt, place, label, Exec.EACH, (*reads, *writes), completion=InGroup(Group.BULK))
            case op.CpAsync(dst, src):
                writes = self._accesses(dst, Mode.WRITE, Proxy.GENERIC, place, read)
                reads = self._accesses(src, Mode.READ, Proxy.GENERIC, place, read)
                self.event(stmt, place, "cp_async", Exec.EACH, (*writes, *reads), completion=InGroup(Group.COPY))
            case op.Wgmma(acc, operands, shape):
                used = [*self._accesses(acc, Mode.WRITE, Proxy.REGISTER, place, read, unit=WARPGROUP)]
                for ref in operands:
                    in_registers = isinstance(self.windows.objects[ref.name], Registers)
                    proxy = Proxy.REGISTER if in_registers else Proxy.ASYNC
                    used += self._accesses(ref, Mode.READ, proxy, place, read, unit=WARPGROUP)
                pipeline = f"{acc.name} {shape}"
                group = InGroup(Group.WGMMA)
                self.event(
                    stmt,
                    place,
                    "wgmma",
                    Exec.WARPS,
                    tuple(used),
                    completion=group,
                    unit=WARPGROUP,
                    pipeline=pipeline,
                )

    def _accesses(
        self,
        ref: Ref | None,
        mode: Mode,
        proxy: Proxy,
        place: Place,
        read: Reading,
        cta: Index | None = None,
        unit: int = 1,
    ) -> Iterator[Access]:
        """The rectangles of a window; in the CTA `cta`, else in the window's own, else in the executing thread's. All
        threads of a collective name the same one."""
        if ref is None:
            return
        who = self._who_of(place, unit)
        if cta is None and ref.cta is not None:
            cta = read.index(ref.cta)
        for buffer, dims in self.windows.dims(ref, who.rank if cta is None else cta):
            for lo, _ in dims if unit > 1 else ():
                uniform(read.index(lo), unit, ref)
            self.inside += self.windows.inside(ref, read.index, who.names)
            found: Dims = tuple((substitute_index(read.index(lo), who.names), n) for lo, n in dims)
            yield Access(buffer, found, mode, proxy, ref.span)

    def _completing(
        self,
        stmt: Stmt,
        place: Place,
        read: Reading,
        label: str,
        moved: tuple[Ref, Ref | None, Proxy],
        barrier: Ref,
        tx: Index,
        cta: Index | None,
    ) -> None:
        """A copy that completes on a barrier, both in the CTA `cta`: `moved` are where to, where from, and how."""
        dst, src, proxy = moved
        size = literal(read.index(tx))
        if size is None:
            raise NotModelled("the number of bytes is not a constant", stmt.span)
        if isinstance(stmt, op.TmaLoad) and size % BULK_CHUNK:
            raise NotModelled(f"a bulk copy has a multiple of {BULK_CHUNK} bytes", stmt.span)
        for part in self._parts(barrier, place, read):
            meant = None if cta is None else substitute_index(cta, self._who_of(part.place).names)
            writes = self._accesses(dst, Mode.WRITE, proxy, part.place, read, cta)
            accesses = (*writes, *self._accesses(src, Mode.READ, proxy, part.place, read))
            completion = TxOn(part.name, size, meant)
            self.event(stmt, part.place, label, Exec.EACH, accesses, completion=completion, slot=part.slot)

    # -- barriers ------------------------------------------------------------------------------------------------

    def _parts(self, barrier: Ref, place: Place, read: Reading) -> Iterator[Part]:
        groups = (place,) if barrier.cta is None else by_value(read.index(barrier.cta), place)
        for part in (p for group in groups for p in self.signals.parts(barrier, group, read.index)):
            self.inside += (substitute_cond(c, self._who_of(part.place).names) for c in part.inside)
            yield part

    def _mbarrier(self, stmt: Stmt, place: Place, read: Reading, fences: Fences) -> None:
        match stmt:
            case op.Inval(barrier):
                for part in self._parts(barrier, place, read):
                    label = f"inval {barrier.name}"
                    event = self.event(stmt, part.place, label, Exec.EACH, action=LifeAction(), slot=part.slot)
                    self.signals.invals.setdefault(part.name, []).append(event)
            case op.Init(barrier, count):
                for part in self._parts(barrier, place, read):
                    label = f"init {barrier.name}"
                    event = self.event(stmt, part.place, label, Exec.EACH, action=LifeAction(), slot=part.slot)
                    self.signals.initialised(part.name, event, count, stmt.span)
            case op.Arrive(barrier, tx) | op.Expect(barrier, tx):
                size = 0 if tx is None else literal(read.index(tx))
                if size is None:
                    raise NotModelled("the number of bytes is not a constant", stmt.span)
                self._arrive(stmt, place, read, barrier, size, fences)
            case op.CopyArrive(barrier, noinc):
                for part in self._parts(barrier, place, read):
                    if noinc:
                        action = ArriveAction(part.name, 0, after_copies=True)
                        label = f"cp_arrive {barrier.name}"
                        event = self.event(stmt, part.place, label, Exec.EACH, action=action, slot=part.slot)
                        self.signals.arrived(part.name, event, 1)
                    else:
                        hold = TxOn(part.name, 0, holds=True)
                        label = f"cp_arrive {barrier.name}"
                        self.event(stmt, part.place, label, Exec.EACH, completion=hold, slot=part.slot)
            case op.Await(barrier, parity, relaxed, scope):
                each = replace(place, explicit=place.explicit or TID in index_names(parity))
                for part in self._parts(barrier, each, read):
                    names = self._who_of(part.place).names
                    how = fences.acquired(scope, relaxed=relaxed)
                    wait = AwaitAction(part.name, 0, relaxed=how.relaxed, local=not how.wide)
                    tested = substitute_index(read.index(parity), names)
                    known = (Computed(tested),) if barrier.name in self.signals.ending else ()
                    label = f"wait {barrier.name}"
                    event = self.event(stmt, part.place, label, Exec.EACH, action=wait, slot=part.slot, computed=known)
                    self.signals.awaited(part.name, event, tested)

    def _arrive(self, stmt: Stmt, place: Place, read: Reading, barrier: Ref, tx: int, fences: Fences) -> None:
        for part in self._parts(barrier, place, read):
            names = self._who_of(part.place).names
            cta = None if barrier.cta is None else substitute_index(read.index(barrier.cta), names)
            if isinstance(stmt, op.Arrive):
                how = fences.released(stmt.scope, relaxed=stmt.relaxed)
                local = cta is not None and not how.wide
                action: Action = ArriveAction(part.name, tx, cta, how.relaxed, axiom=how.axiom, local=local)
            else:
                action = ExpectAction(part.name, tx, cta)
            label = f"{'arrive' if isinstance(stmt, op.Arrive) else 'expect'} {barrier.name}"
            event = self.event(stmt, part.place, label, Exec.EACH, action=action, slot=part.slot)
            if isinstance(stmt, op.Arrive):
                self.signals.arrived(part.name, event, stmt.count)

    def _flag(self, stmt: op.Signal | op.Spin, place: Place, read: Reading, fences: Fences) -> None:
        """A strong access of a flag, kept with CTA 0; other CTAs are beyond the scope of the executing thread's."""
        by = fences.released if isinstance(stmt, op.Signal) else fences.acquired
        how = by(stmt.scope, relaxed=stmt.relaxed)
        if local := not how.wide and self.skeleton.cluster > 1:
            self.signals.in_one_cta(stmt.flag)
        for part in self.signals.flag(stmt.flag, place, read.index):
            names = self._who_of(part.place).names
            if isinstance(stmt, op.Signal):
                arrive = ArriveAction(part.name, 0, Int(0), how.relaxed or local, axiom=how.axiom)
                event = self.event(stmt, part.place, f"signal {stmt.flag.name}", Exec.EACH, action=arrive)
            else:
                wait = AwaitAction(part.name, 0, cta=Int(0), relaxed=how.relaxed, local=local)
                event = self.event(stmt, part.place, f"spin {stmt.flag.name}", Exec.EACH, action=wait)
            adds = isinstance(stmt, op.Signal) and stmt.adds
            value = folded(read.index(stmt.value), part.place.eligible or part.place.who)
            self.signals.valued(event, Value(substitute_index(value, names), adds))

    def _collective(self, stmt: Stmt, place: Place, read: Reading, fences: Fences) -> None:
        match stmt:
            case op.WarpSync():
                unit = min(WARP, place.role.threads)
                self.event(stmt, place, "warp_sync", Exec.TOGETHER, action=FenceAction(), unit=unit)
            case op.BarSync(number, count, waits):
                parts = [*self.signals.named(read.index(number), count, place, stmt.span)]
                if index_names(read.index(number)) - {TID, RANK}:
                    self._listed(number, parts, place, read, stmt.span)
                for part in parts:
                    label = f"{'bar_sync' if waits else 'bar_arrive'} {part.name}"
                    self._joins(stmt, part.place, label, ArriveAction(part.name, 0, waits=waits), waits=waits)
            case op.ClusterArrive(relaxed):
                how = fences.released("cluster", relaxed=relaxed)
                for part in self.signals.cluster(place, stmt.span):
                    action = ArriveAction(part.name, 0, Int(0), how.relaxed or not how.wide, axiom=how.axiom)
                    self._joins(stmt, part.place, "cluster_arrive", action, waits=False)
            case op.ClusterWait():
                for part in self.signals.cluster(place, stmt.span):
                    wait = AwaitAction(part.name, 0, joined=True, cta=Int(0))
                    self.event(stmt, part.place, "cluster_wait", Exec.EACH, action=wait, aligned=True)

    def _listed(self, number: Index, parts: list[Part], place: Place, read: Reading, span: Span) -> None:
        """Ids are known from some values of a loop variable: it takes no others."""
        ids = dict.fromkeys(int(part.name.removeprefix(NAMED)) for part in parts)
        one_of = BoolOp("or", tuple(Cmp("==", number, Int(n)) for n in ids))
        self._check(op.Check(one_of, f"the id is one of {', '.join(map(str, ids))}, which", span), place, read)

    def _joins(self, stmt: Stmt, place: Place, label: str, arrive: ArriveAction, *, waits: bool) -> None:
        self.event(stmt, place, label, Exec.EACH, action=arrive, aligned=True)
        if waits:
            action = AwaitAction(arrive.barrier, 0, joined=True)
            self.event(stmt, place, label, Exec.EACH, action=action, aligned=True)

    def _ordering(self, stmt: Stmt, place: Place) -> None:
        if isinstance(stmt, op.WgmmaFence) or (isinstance(stmt, op.Commit | op.Wait) and stmt.group is Group.WGMMA):
            self.signals.whole_warps(place, stmt.span)
        match stmt:
            case op.Commit(group):
                warps = group is Group.WGMMA
                self.event(stmt, place, f"{group.value} commit", Exec.EACH, action=CommitGroup(group), aligned=warps)
            case op.Wait(group, pending, reads_only):
                label = f"{group.value} wait{'_read' * reads_only} {'all' if pending < 0 else pending}"
                warps = group is Group.WGMMA
                action = WaitAction(group, pending, reads_only)
                self.event(stmt, place, label, Exec.EACH, action=action, aligned=warps)
            case op.ProxyFence(everywhere):
                self.event(stmt, place, "proxy_fence", Exec.EACH, action=FencesProxies(everywhere))
            case op.WgmmaFence():
                self.event(stmt, place, "wgmma_fence", Exec.EACH, action=FencesRegisters(), aligned=True)
            case op.InitFence():
                self.event(stmt, place, "init_fence", Exec.EACH, action=PublishAction())
            case op.MemoryFence(scope):  # what it orders is told with its neighbours, between which it stands
                self.event(stmt, place, f"fence {scope}", Exec.EACH)
            case _:
                raise AssertionError(stmt)

    # -- control -------------------------------------------------------------------------------------------------

    def tick(self, stmt: Step, place: Place) -> Event:
        """The event of a counter's step."""
        return self.event(stmt, place, f"step of {stmt.name}", Exec.EACH)

    def meet(self, stmt: Stmt, place: Place) -> None:
        """An election in a warp: its lanes that are here meet (PTX ISA, elect.sync); larger units compare numbers."""
        if 1 < place.role.unit <= WARP:
            self.event(stmt, place, "elect", Exec.EACH, action=MeetAction(), aligned=not place.explicit)

    def exit(self, stmt: op.Exit, place: Place) -> None:
        """The end of threads before the kernel's."""
        self.event(stmt, place, "exit", Exec.EACH, action=ExitAction())

    def names_barrier(self, stmt: For) -> bool:
        """The loop's variable takes part in naming a barrier or a CTA, so its iterations are told apart."""
        return stmt.var in self.signals.naming
