"""Kernels to the parallel program: every statement becomes an event with its place and its executors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from exogpu.ir.collective import plus
from exogpu.ir.computed import computed_by_value
from exogpu.ir.evaluate import const
from exogpu.ir.index import ORDINAL, Bin, Cond, Index, Int, Not, Var
from exogpu.ir.instr import (
    BufferInfo,
    ClusterArrive,
    ClusterWait,
    Mode,
    NamedArrive,
    Proxy,
)
from exogpu.ir.pools import storage
from exogpu.ir.proc import Proc, SizeArg, TensorArg
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    Fence,
    For,
    If,
    InstrCall,
    Point,
    Range,
    Role,
    Stmt,
    Tasks,
    Threads,
)
from exogpu.ir.types import Gmem, Rmem
from exogpu.ir.value import Value
from exogpu.ir.walk import conjuncts, reads, substitute_index
from exogpu.verify.calls import (
    alignments,
    barrier_of,
    completion_of,
    conditions,
    delivered,
    effect,
    ends,
    footprint,
    one_cta,
    pipeline,
)
from exogpu.verify.declared import (
    CLUSTER_BARRIER,
    CTA_ROLE,
    barriers_of,
    exit_event,
    splits_cluster_barrier,
)
from exogpu.verify.owners import accumulator_births
from exogpu.verify.program import (
    TASK,
    TASKS,
    Access,
    Action,
    Aligned,
    ArriveAction,
    AwaitAction,
    Buffer,
    Computed,
    Event,
    Exec,
    FenceAction,
    InGroup,
    Loop,
    LoopKind,
    Program,
    Step,
    TaskVar,
    TxOn,
)
from exogpu.verify.selection import Selection
from exogpu.verify.walk import unknown_coordinates


@dataclass(slots=True)
class _Counter:
    """Preorder numbers inside one loop body."""

    next: int = 0

    def take(self) -> int:
        self.next += 1
        return self.next - 1


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is: enclosing steps, guards, and the executing collective."""

    path: tuple[Step, ...]
    guards: tuple[Cond, ...]
    counter: _Counter
    first: Index
    size: int
    role: str
    selection: Selection | None = None

    def enter(self, loop: Loop) -> _Place:
        step = Step(self.counter.take(), loop, len(self.guards))
        return replace(self, path=(*self.path, step), counter=_Counter())


@dataclass
class _Lowering:
    """The events and buffers collected so far."""

    proc: Proc
    buffers: dict[str, Buffer] = field(default_factory=dict)
    info: dict[str, BufferInfo] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    tasks: list[TaskVar] = field(default_factory=list)

    @cached_property
    def split(self) -> bool:
        """The kernel uses the cluster's barrier in two parts somewhere."""
        return splits_cluster_barrier(self.proc)

    # -- statements ----------------------------------------------------------------------------------------------

    def block(self, stmts: tuple[Stmt, ...], place: _Place) -> None:
        for stmt in stmts:
            self.stmt(stmt, place)

    def stmt(self, stmt: Stmt, place: _Place) -> None:
        match stmt:
            case For(mode=Tasks()):
                self.task_nest(stmt, place)
            case For(var, lo, hi, Threads(unit), body):
                loop = Loop(var, lo, hi, LoopKind.THREADS, unit, place.first)
                first = plus(place.first, Bin("*", Int(unit), Var(var)))
                self.block(body, replace(place.enter(loop), first=first, size=unit))
            case For(var, lo, hi, _, body):
                self.block(body, place.enter(Loop(var, lo, hi, LoopKind.SEQ)))
            case If(cond, then, orelse):
                self.block(then, replace(place, guards=(*place.guards, *conjuncts(cond))))
                self.block(orelse, replace(place, guards=(*place.guards, *conjuncts(Not(cond)))))
            case Role():
                self.role(stmt, place)
            case Alloc():
                self.alloc(stmt, place)
            case Assign():
                self.assign(stmt, place)
            case InstrCall():
                self.instr(stmt, place)
            case Fence():
                self.fence(stmt, place)
            case Arrive():
                self.arrive(stmt, place)
            case Await(barrier, lag):
                self.emit(stmt, place, f"Await {barrier}", Exec.EACH, action=AwaitAction(barrier, lag))

    def role(self, stmt: Role, place: _Place) -> None:
        decl = next(r for r in self.proc.block.roles if r.name == stmt.name)
        inside = replace(place, first=plus(place.first, Int(decl.first)), size=decl.threads, role=decl.name)
        if stmt.index is not None:
            index = substitute_index(stmt.index, {ORDINAL: Var(TASK)})
            count = decl.threads // decl.unit
            selection = Selection(index, count, decl.unit, decl.first, self.proc.block.threads)
            label, computed = f"choice of a unit of {decl.name}", (Computed(index),)
            self.emit(stmt, inside, label, Exec.EACH, computed=computed, chooses=selection)
            first = plus(inside.first, Bin("*", Int(decl.unit), index))
            inside = replace(inside, first=first, size=decl.unit, selection=selection)
        self.block(stmt.body, inside)

    def task_nest(self, stmt: For, place: _Place) -> None:
        """All task loops are one walk of the CTA over its tasks; their variables are the task's coordinates."""
        body: tuple[Stmt, ...] = (stmt,)
        while len(body) == 1 and isinstance(body[0], For) and isinstance(body[0].mode, Tasks):
            loop = body[0]
            self.tasks.append(TaskVar(loop.var, loop.lo, loop.hi))
            body = loop.body
        self.block(body, place.enter(Loop(TASK, Int(0), Var(TASKS), LoopKind.TASK)))

    def alloc(self, stmt: Alloc, place: _Place) -> None:
        shape = tuple(Int(n) for n in stmt.shape)
        self.info[stmt.name] = BufferInfo(stmt.dtype, stmt.memory, shape)
        block = self.proc.block
        whole = block.clustered and place.first == Int(0) and place.size == block.threads * block.cluster
        private = isinstance(stmt.memory, Rmem) and stmt.memory.threads == 0
        self.buffers[stmt.name] = Buffer(
            stmt.name,
            stmt.memory,
            shape,
            stmt.dtype.bytes,
            len(self.events),
            stmt.span,
            place.first,
            per_cta=whole and not private,
            storage=storage(self.proc.block, stmt),
            selection=place.selection,
        )
        self.emit(stmt, place, f"allocation of {stmt.name}", Exec.EACH)

    def arrive(self, stmt: Arrive, place: _Place) -> None:
        """One event, or one for each CTA of a range."""
        cta: Index | None = None
        match stmt.ctas:
            case Point(index):
                cta = index
            case Range(lo, extent):
                place, cta = self.spread(place, lo, extent)
            case None:
                pass
        action = ArriveAction(stmt.barrier, 0 if stmt.tx is None else const(stmt.tx), cta, stmt.relaxed)
        self.emit(stmt, place, f"Arrive {stmt.barrier}", Exec.FIRST, action=action)

    def spread(self, place: _Place, lo: Index, extent: int) -> tuple[_Place, Index]:
        """The place of one effect for each CTA `lo .. lo + extent - 1`, and the variable with the CTA."""
        var = f"cta.{len(self.events)}"
        return place.enter(Loop(var, lo, plus(lo, Int(extent)), LoopKind.CTAS)), Var(var)

    def assign(self, stmt: Assign, place: _Place) -> None:
        accesses = list(self.value_reads(stmt.rhs))
        dims = tuple((i, 1) for i in stmt.index)
        if stmt.op == "+=":
            accesses.append(Access(stmt.buffer, dims, Mode.READ, Proxy.GENERIC, stmt.span))
        accesses.append(Access(stmt.buffer, dims, Mode.WRITE, Proxy.GENERIC, stmt.span))
        computed = (*((i, ()) for i in stmt.index), *computed_by_value(stmt.rhs))
        found = tuple(Computed(*c) for c in computed)
        self.emit(stmt, place, f"assignment to {stmt.buffer}", Exec.EACH, tuple(accesses), computed=found)

    def value_reads(self, value: Value) -> tuple[Access, ...]:
        return tuple(
            Access(r.buffer, tuple((i, 1) for i in r.index), Mode.READ, Proxy.GENERIC, r.span, guards=under)
            for r, under in reads(value)
            if r.buffer in self.info  # not a scalar argument
        )

    # -- instructions --------------------------------------------------------------------------------------------

    def instr(self, call: InstrCall, place: _Place) -> None:
        instr = call.instr
        match instr.effect:
            case NamedArrive():
                self.named(call, instr.effect, place)
                return
            case ClusterArrive(relaxed):
                self.join_cluster(call, place, instr.name, relaxed=relaxed)
                return
            case ClusterWait():
                self.await_cluster(call, place, instr.name)
                return
        accesses = tuple(footprint(call, f, self.info) for f in instr.footprints)
        cta: Index | None = None
        if instr.spread is not None:
            ctas = next(d for d in call.window(instr.spread).dims if isinstance(d, Range))
            place, cta = self.spread(place, ctas.lo, ctas.extent)
            accesses = tuple(one_cta(call, f, cta, self.info) for f in instr.footprints)
        completion = completion_of(call, delivered(call, self.info, spread=cta is not None), cta)
        mode = Exec.WARPS if completion is not None and instr.aligned else Exec.EACH
        action = effect(call)
        mode = Exec.FIRST if isinstance(action, ArriveAction) else mode
        self.emit(
            call,
            place,
            instr.name,
            mode,
            accesses,
            action=action,
            completion=completion,
            aligned=instr.aligned,
            pipeline=pipeline(call),
            computed=(*(Computed(i) for a in accesses for i in ends(a)), *conditions(call)),
            alignments=alignments(call, self.info),
        )

    def named(self, call: InstrCall, joins: NamedArrive, place: _Place) -> None:
        """Every thread of the warps arrives; a sync is an arrive, and a wait for what it is part of."""
        barrier = barrier_of(call, joins.barrier)
        label = f"{call.instr.name} {barrier}"
        arrive = ArriveAction(barrier, 0, waits=joins.waits)
        self.emit(call, place, label, Exec.EACH, action=arrive, aligned=True)
        if joins.waits:
            self.emit(call, place, label, Exec.EACH, action=AwaitAction(barrier, 0, joined=True), aligned=True)

    def join_cluster(self, stmt: Stmt, place: _Place, label: str, *, relaxed: bool = False) -> None:
        """Every thread arrives at the cluster's barrier, which is kept with CTA 0."""
        arrive = ArriveAction(CLUSTER_BARRIER, 0, Int(0), relaxed)
        self.emit(stmt, place, label, Exec.EACH, action=arrive, aligned=True)

    def await_cluster(self, stmt: Stmt, place: _Place, label: str) -> None:
        """Every thread waits for the generation that it has joined."""
        wait = AwaitAction(CLUSTER_BARRIER, 0, joined=True, cta=Int(0))
        self.emit(stmt, place, label, Exec.EACH, action=wait, aligned=True)

    def fence(self, stmt: Fence, place: _Place) -> None:
        """A fence of the whole cluster is the cluster's barrier, which other statements may use in two parts."""
        block = self.proc.block
        if self.split and place.size == block.threads * block.cluster and place.first == Int(0):
            self.join_cluster(stmt, place, "Fence")
            self.await_cluster(stmt, place, "Fence")
        else:
            self.emit(stmt, place, "Fence", Exec.TOGETHER, action=FenceAction())

    # -- events --------------------------------------------------------------------------------------------------

    def emit(
        self,
        stmt: Stmt,
        place: _Place,
        label: str,
        mode: Exec,
        accesses: tuple[Access, ...] = (),
        *,
        action: Action | None = None,
        completion: TxOn | InGroup | None = None,
        aligned: bool = False,
        pipeline: str | None = None,
        computed: tuple[Computed, ...] = (),
        alignments: tuple[Aligned, ...] = (),
        chooses: Selection | None = None,
    ) -> None:
        """Appends the event of a statement at its place; its label names the file if that is not the kernel's."""
        elsewhere = stmt.span.file != self.proc.span.file
        self.events.append(
            Event(
                id=len(self.events),
                label=f"{label} in {Path(stmt.span.file).name}" if elsewhere else label,
                role=place.role,
                span=stmt.span,
                path=(*place.path, Step(place.counter.take(), None, len(place.guards))),
                guards=place.guards,
                first=place.first,
                size=place.size,
                exec=mode,
                accesses=accesses,
                action=action,
                completion=completion,
                aligned=aligned,
                pipeline=pipeline,
                computed=computed,
                alignments=alignments,
                selection=place.selection,
                chooses=chooses,
            )
        )


def lower(proc: Proc) -> Program:
    """The parallel program of a well-formed kernel."""
    out = _Lowering(proc)
    for arg in proc.args:
        if isinstance(arg, TensorArg):
            out.info[arg.name] = BufferInfo(arg.dtype, Gmem(), arg.shape)
            out.buffers[arg.name] = Buffer(arg.name, Gmem(), arg.shape, arg.dtype.bytes, None, arg.span, Int(0))
    counter = _Counter()
    block = proc.block
    place = _Place((), (), counter, Int(0), block.threads * block.cluster, CTA_ROLE)
    out.block(proc.body, place)
    out.events.append(exit_event(block, proc.span, counter.take(), len(out.events)))
    events = accumulator_births(tuple(out.events), out.buffers, block.threads)
    return Program(
        name=proc.name,
        span=proc.span,
        sizes=tuple(a.name for a in proc.args if isinstance(a, SizeArg)),
        requires=tuple(r.cond for r in proc.requires),
        threads=proc.block.threads,
        cluster=proc.block.cluster,
        persistent=proc.block.persistent,
        tasks=tuple(out.tasks),
        buffers=out.buffers,
        barriers=barriers_of(proc),
        events=events,
        derived=unknown_coordinates(tuple(out.tasks), events, out.buffers.values()),
    )
