"""From a kernel to its trace: the walk of all threads of a cluster through the program, at concrete sizes and tasks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from exogpu.diagnostics import InternalError
from exogpu.ir.arrays import Numbers, Truths, cond, index, lanes, negated
from exogpu.ir.buffers import buffers_of
from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.index import ORDINAL, Bin, Int, Var
from exogpu.ir.instr import (
    BufferInfo,
    ClusterArrive,
    ClusterWait,
    Commit,
    CompleteTx,
    CopyArrive,
    Group,
    GroupMember,
    HoldsPhase,
    NamedArrive,
    ProxyFence,
    WgmmaFence,
)
from exogpu.ir.instr import InOrder as CompletesInOrder
from exogpu.ir.instr import WaitGroup as WaitsForGroup
from exogpu.ir.proc import Proc, RoleDecl
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Assign,
    Await,
    BarrierRef,
    Fence,
    For,
    If,
    IndexArg,
    InstrCall,
    Point,
    Range,
    Role,
    Stmt,
    Tasks,
    Threads,
)
from exogpu.ir.types import Rmem, Smem, WgmmaA, WgmmaD
from exogpu.ir.walk import walk
from exogpu.verify.simulator.meaning import moves
from exogpu.verify.simulator.moves import Context, Frame, Move, move
from exogpu.verify.simulator.trace import (
    CLUSTER,
    Action,
    AfterCopies,
    ArriveOn,
    AwaitOn,
    Fresh,
    InGroup,
    InOrder,
    Issue,
    Join,
    OnBarrier,
    Operation,
    Pass,
    Rendezvous,
    Trace,
    WaitGroup,
)

Task = Mapping[str, int]

EVERY_GROUP = 1 << 40
"""More commit groups than there are."""


@dataclass(frozen=True, slots=True, eq=False)
class _Team:
    """The lanes of a frame are the threads of collectives of `size` threads, which begin at `firsts`. `turn`: they are
    those of a unit of this role, which counts for its other units too."""

    frame: Frame
    firsts: Numbers
    size: int
    turn: RoleDecl | None = None

    def where(self, truth: bool | Truths) -> _Team:
        """The threads for which a condition holds."""
        if isinstance(truth, bool) and truth:
            return self
        keep = np.flatnonzero(np.broadcast_to(np.asarray(truth), (len(self.firsts),)))
        if len(keep) == len(self.firsts):
            return self
        return _Team(self.frame.take(keep), self.firsts[keep], self.size, self.turn)

    def bind(self, **values: int | Numbers) -> _Team:
        """The team with values of variables."""
        return replace(self, frame=replace(self.frame, env={**self.frame.env, **values}))


@dataclass(slots=True, eq=False)
class Walk:
    """The walk: operations so far, and how often each thread did what the language counts."""

    proc: Proc
    context: Context
    tasks: tuple[Task, ...]
    operations: list[Operation] = field(default_factory=list)
    buffers: dict[str, BufferInfo] = field(init=False)
    allocated: Counter[str] = field(default_factory=Counter)
    counts: dict[tuple[str, object], Numbers] = field(init=False)
    split: bool = field(init=False)

    def __post_init__(self) -> None:
        self.buffers = buffers_of(self.proc)
        calls = [s.instr.effect for s in walk(self.proc.body) if isinstance(s, InstrCall)]
        self.split = any(isinstance(effect, ClusterArrive | ClusterWait) for effect in calls)
        block = self.proc.block
        # a last column for CTAs that the cluster does not have: a run that gets there ends
        self.counts = defaultdict(lambda: np.zeros((block.threads * block.cluster, block.cluster + 1), np.int64))

    def trace(self, sizes: Mapping[str, int]) -> Trace:
        """The trace of one cluster that walks `tasks`."""
        threads = np.arange(self.proc.block.threads * self.proc.block.cluster)
        self._block(self.proc.body, _Team(Frame(dict(sizes), threads), np.zeros_like(threads), len(threads)))
        mine: list[list[int]] = [[] for _ in threads]
        for n, operation in enumerate(self.operations):
            for t in operation.threads.tolist():
                mine[t].append(n)
        return Trace(tuple(self.operations), tuple(tuple(m) for m in mine))

    # -- statements --------------------------------------------------------------------------------------------------

    def _block(self, block: tuple[Stmt, ...], team: _Team) -> None:
        for stmt in block:
            if not len(team.firsts):
                return
            match stmt:
                case For():
                    self._loop(stmt, team)
                case If(test, then, orelse):
                    truth = cond(test, team.frame.env)
                    self._block(then, team.where(truth))
                    self._block(orelse, team.where(negated(truth)))
                case Role():
                    self._role(stmt, team)
                case Alloc():
                    team = self._alloc(stmt, team)
                case _:
                    self._leaf(stmt, team)

    def _role(self, stmt: Role, team: _Team) -> None:
        role = next(r for r in self.proc.block.roles if r.name == stmt.name)
        place = team.frame.threads - team.firsts
        inside = team.where((place >= role.first) & (place < role.first + role.threads))
        firsts = inside.firsts + role.first
        if stmt.index is None:
            self._block(stmt.body, _Team(inside.frame, firsts, role.threads))
            return
        unit = lanes(index(stmt.index, inside.frame.env), len(firsts))
        chosen = _Team(inside.frame, firsts + role.unit * unit, role.unit, role)
        self._block(stmt.body, chosen.where((inside.frame.threads - firsts) // role.unit == unit))

    def _unit(self, threads: Numbers, role: RoleDecl) -> Numbers:
        return (threads % self.proc.block.threads - role.first) // role.unit

    def _loop(self, loop: For, team: _Team) -> None:
        if isinstance(loop.mode, Tasks):
            body: tuple[Stmt, ...] = (loop,)
            while len(body) == 1 and isinstance(body[0], For) and isinstance(body[0].mode, Tasks):
                body = body[0].body
            for n, task in enumerate(self.tasks):
                self._block(body, team.bind(**task, **{ORDINAL: n}))
            return
        lo, hi = index(loop.lo, team.frame.env), index(loop.hi, team.frame.env)
        if isinstance(loop.mode, Threads):
            unit = loop.mode.unit
            v = (team.frame.threads - team.firsts) // unit
            inside = team.bind(**{loop.var: v}).where((v >= lo) & (v < hi))
            firsts = inside.firsts + unit * lanes(inside.frame.env[loop.var], len(inside.firsts))
            self._block(loop.body, _Team(_uniform(inside.frame, loop.var), firsts, unit, team.turn))
            return
        for value in range(int(np.min(lo)), int(np.max(hi))):
            inside = team if isinstance(lo, int) and isinstance(hi, int) else team.where((lo <= value) & (value < hi))
            self._block(loop.body, inside.bind(**{loop.var: value}))

    def _alloc(self, stmt: Alloc, team: _Team) -> _Team:
        """The team with the allocation's slot; registers are fresh each time."""
        match stmt.memory:
            case Smem(ring=ring):
                slot = self.allocated[stmt.name] % ring
                if team.turn is not None:  # every unit has slots of its own
                    slot += ring * int(self._unit(team.frame.threads, team.turn)[0])
                self.allocated[stmt.name] += 1
                frame = team.frame
                return replace(team, frame=replace(frame, slots={**frame.slots, stmt.name: slot}))
            case Rmem() | WgmmaD() | WgmmaA():
                self._emit(
                    f"allocation of {stmt.name}", stmt, team.frame.threads, Fresh(self.context.places[stmt.name])
                )
        return team

    def _leaf(self, stmt: Stmt, team: _Team) -> None:
        threads = team.frame.threads
        match stmt:
            case Assign(buffer):
                action: Action = InOrder((move(stmt, team.frame, self.context, gathers=False),))
                self._emit(f"assignment to {buffer}", stmt, threads, action)
            case Fence() if self.split and team.size == self.proc.block.threads * self.proc.block.cluster:
                self._join_cluster("Fence", stmt, threads)
                self._pass_cluster("Fence", stmt, threads)
            case Fence():
                self._emit("Fence", stmt, threads, Rendezvous(team.size, team.firsts))
            case Arrive():
                self._arrive(stmt, team.where(threads == team.firsts))
            case Await(barrier, lag):
                phases = self._count("await", barrier, threads, turn=team.turn) - lag
                self._emit(f"Await({barrier})", stmt, threads, AwaitOn(barrier, phases))
            case InstrCall():
                self._instruction(stmt, team)
            case _:
                raise InternalError(f"no simulation of a {type(stmt).__name__}")

    def _arrive(self, stmt: Arrive, team: _Team) -> None:
        """One operation for every CTA whose barrier is meant."""
        threads = team.frame.threads
        match stmt.ctas:
            case None:
                targets = [self._own(threads)]
            case Point(cta):
                targets = [lanes(index(cta, team.frame.env), len(threads))]
            case Range(lo, extent):
                targets = [lanes(index(lo, team.frame.env) + n, len(threads)) for n in range(extent)]
        for ctas in targets:
            bytes_ = 0 if stmt.tx is None else evaluate(stmt.tx, {})
            phases = self._count("arrive", stmt.barrier, threads, ctas, team.turn)
            arrive = ArriveOn(stmt.barrier, bytes_, phases, ctas, stmt.relaxed)
            self._emit(f"Arrive({stmt.barrier})", stmt, threads, arrive)

    def _own(self, threads: Numbers) -> Numbers:
        """The CTA of each thread."""
        return threads // self.proc.block.threads

    def _count(
        self, what: str, of: object, threads: Numbers, ctas: Numbers | int = 0, turn: RoleDecl | None = None
    ) -> Numbers:
        """How often each thread did this before (to these CTAs); counts one more, for every unit that takes turns."""
        counter = self.counts[what, of]
        column = np.clip(ctas, -1, self.proc.block.cluster)
        before: Numbers = counter[threads, column]
        if turn is None:
            counter[threads, column] += 1
            return before
        unit_0 = threads - turn.unit * self._unit(threads, turn)
        for n in range(turn.threads // turn.unit):
            counter[unit_0 + turn.unit * n, column] += 1
        return before

    def _emit(self, what: str, stmt: Stmt, threads: Numbers, action: Action, *, together: bool = False) -> None:
        if len(threads):
            self.operations.append(Operation(what, stmt.span, threads, action, together))

    # -- instructions ------------------------------------------------------------------------------------------------

    def _instruction(self, call: InstrCall, team: _Team) -> None:
        instr, threads = call.instr, team.frame.threads
        action: Action | None = None
        match instr.effect, instr.completion:
            case Commit(group), _:
                self._count("commit", group, threads)
            case WaitsForGroup(group, operand, reads_only), _:
                below = np.full_like(threads, EVERY_GROUP)
                if operand is not None:
                    below = self.counts["commit", group][threads, 0] - _literal(call, operand)
                action = WaitGroup(group, below, reads_only)
            case CopyArrive(barrier), _:
                name, ctas = _barrier(call, barrier), self._own(threads)
                phases = self._count("arrive", name, threads, ctas, team.turn)
                action = Issue((), AfterCopies(Group.COPY, name, phases, ctas, holds=False), 1, None)
            case _, HoldsPhase(barrier):
                name, ctas = _barrier(call, barrier), self._own(threads)
                phases = self.counts["arrive", name][threads, ctas]
                action = Issue((), AfterCopies(Group.COPY, name, phases, ctas, holds=True), 1, None)
            case NamedArrive() | ClusterArrive() | ClusterWait() as effect, _:
                self._joins(call, effect, team)
            case ProxyFence() | WgmmaFence() as fence, _:
                action = fence
            case _, CompletesInOrder():
                action = InOrder(self._moves(call, team))
            case _, CompleteTx() | GroupMember() as completion:
                for part, ctas in self._parts(call, threads):
                    moved, ends = self._moves(part, team), self._completion(part, completion, threads, ctas)
                    issue = Issue(moved, ends, WARP if instr.aligned else 1, _chain(call))
                    self._emit(instr.name, call, threads, issue, together=instr.aligned)
        if action is not None:
            self._emit(instr.name, call, threads, action, together=instr.aligned)

    def _joins(self, call: InstrCall, effect: NamedArrive | ClusterArrive | ClusterWait, team: _Team) -> None:
        threads, what = team.frame.threads, call.instr.name
        match effect:
            case ClusterArrive(relaxed):
                self._join_cluster(what, call, threads, relaxed=relaxed)
            case ClusterWait():
                self._pass_cluster(what, call, threads)
            case NamedArrive(barrier, waits):
                name = _barrier(call, barrier)
                generations = self._count("join", name, threads, turn=team.turn)
                self._emit(what, call, threads, Join(name, generations), together=call.instr.aligned)
                if waits:
                    self._emit(what, call, threads, Pass(name, generations), together=call.instr.aligned)

    def _join_cluster(self, what: str, stmt: Stmt, threads: Numbers, *, relaxed: bool = False) -> None:
        join = Join(CLUSTER, self._count("join", CLUSTER, threads), relaxed)
        self._emit(what, stmt, threads, join, together=True)

    def _pass_cluster(self, what: str, stmt: Stmt, threads: Numbers) -> None:
        """Each thread waits for the generation that it has joined last."""
        joined = self.counts["join", CLUSTER][threads, 0] - 1
        self._emit(what, stmt, threads, Pass(CLUSTER, joined), together=True)

    def _moves(self, call: InstrCall, team: _Team) -> tuple[Move, ...]:
        leaders = team.frame if call.instr.unit == 1 else team.where(team.frame.threads == team.firsts).frame
        return moves(call, leaders, self.buffers, self.context)

    def _parts(self, call: InstrCall, threads: Numbers) -> Iterator[tuple[InstrCall, Numbers]]:
        """The operations that an instruction starts, with the CTA that each completes in: one for every CTA of the
        window that it is spread over."""
        if call.instr.spread is None:
            yield call, self._own(threads)
            return
        window = call.window(call.instr.spread)
        n, over = next((n, d) for n, d in enumerate(window.dims) if isinstance(d, Range))
        first = evaluate(over.lo, {})
        for cta in range(first, first + over.extent):
            one = replace(window, dims=(*window.dims[:n], Range(Int(cta), 1), *window.dims[n + 1 :]))
            operands = tuple((p, one if p == call.instr.spread else arg) for p, arg in call.operands)
            yield replace(call, operands=operands), np.full_like(threads, cta)

    def _completion(
        self, call: InstrCall, completion: CompleteTx | GroupMember, threads: Numbers, ctas: Numbers
    ) -> OnBarrier | InGroup:
        match completion:
            case GroupMember(group):
                return InGroup(group, self.counts["commit", group][threads, 0])
            case CompleteTx(barrier, data):
                name, window = _barrier(call, barrier), call.window(data)
                bytes_ = int(np.prod(window.shape)) * self.buffers[window.buffer].dtype.bytes
                # the phase is that of the issuer's next arrive on the barrier of its own CTA
                phases = self.counts["arrive", name][threads, self._own(threads)]
                return OnBarrier(name, bytes_, phases, ctas)


def _uniform(frame: Frame, var: str) -> Frame:
    """The frame with a variable that is equal in all lanes as a number."""
    value = frame.env[var]
    if isinstance(value, np.ndarray) and len(value) and (value == value[0]).all():
        return replace(frame, env={**frame.env, var: int(value[0])})
    return frame


def _barrier(call: InstrCall, operand: str) -> str:
    ref = call.operand(operand)
    assert isinstance(ref, BarrierRef)
    return ref.name


def _literal(call: InstrCall, operand: str) -> int:
    arg = call.operand(operand)
    assert isinstance(arg, IndexArg)
    assert isinstance(arg.value, Var | Int | Bin)
    return evaluate(arg.value, {})


def _chain(call: InstrCall) -> str | None:
    """Operations of one shape on one register window run in order (PTX ISA, wgmma.fence)."""
    return None if call.instr.pipelined is None else call.instr.pipelined(call)


def tasks_of(proc: Proc, sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Coordinates of every task of the grid."""
    loops = [s for s in walk(proc.body) if isinstance(s, For) and isinstance(s.mode, Tasks)]
    ranges = [range(evaluate(loop.lo, sizes), evaluate(loop.hi, sizes)) for loop in loops]
    for point in product(*ranges):
        yield dict(zip((loop.var for loop in loops), point, strict=True))
