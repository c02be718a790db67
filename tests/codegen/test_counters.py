"""Ring slots and parities of random programs, run step by step against their definition.

The n-th execution of an allocation or arrive uses slot n mod ring; the n-th await waits for phase n - lag, which is
slot (n - lag) mod ring with parity ((n - lag) div ring) mod 2; a copy uses the slot of the thread's next arrive.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from exogpu.codegen.counters import Counter, CounterPlan, Path, Use, plan_counters
from exogpu.codegen.cuda.tree import Branch, Name, Node, Set
from exogpu.codegen.lower.advance import advance, check_advances
from exogpu.diagnostics import InternalError
from exogpu.ir.index import Bool, Int, Var
from exogpu.ir.proc import BarrierDecl, Launch, Proc
from exogpu.ir.stmt import (
    Alloc,
    Arrive,
    Await,
    BarrierRef,
    For,
    If,
    InstrCall,
    Seq,
    Stmt,
    Tasks,
    Threads,
    Unroll,
)
from exogpu.ir.types import Scalar, Smem
from exogpu.isa import tma_load
from tests.codegen.tree_value import value

RINGS = {"p": 1, "q": 2, "r": 3, "s": 4}


def program(rng: random.Random, depth: int) -> tuple[Stmt, ...]:
    """A random block: sites, copies, sequential loops, expanded loops, thread loops that all threads take."""
    out: list[Stmt] = []
    for _ in range(rng.randint(1, 4)):
        barrier = rng.choice(list(RINGS))
        pick = rng.random()
        if depth and pick < 0.2:
            out.append(For(f"i{rng.random()}", Int(0), Var("trips"), Seq(), program(rng, depth - 1)))
        elif depth and pick < 0.3:
            out.append(If(Bool(True), program(rng, depth - 1), program(rng, depth - 1)))
        elif depth and pick < 0.4:
            body = program(rng, depth - 1)
            out += [For(f"u{rng.random()}", Int(v), Int(v + 1), Unroll(), body) for v in range(rng.choice([2, 4, 8]))]
        elif depth and pick < 0.5:
            out.append(For(f"t{rng.random()}", Int(0), Int(2), Threads(16), program(rng, depth - 1)))
        elif pick < 0.65:
            out.append(Alloc(f"buffer_{barrier}", Scalar.F32, (4,), Smem(0, RINGS[barrier])))
        elif pick < 0.8:
            out.append(Arrive(barrier, None))
        elif pick < 0.9:
            out.append(InstrCall(tma_load, (("barrier", BarrierRef(barrier)),)))
        else:
            out.append(Await(barrier, rng.choice([0, RINGS[barrier], 1, 2 * RINGS[barrier], RINGS[barrier] + 1])))
    return tuple(out)


@dataclass
class Machine:
    """Runs a program with random trip counts, keeping the true counts and the plan's counters."""

    plan: CounterPlan
    rng: random.Random
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    state: dict[str, list[int]] = field(default_factory=dict)
    checked: int = 0

    def run(self, block: tuple[Stmt, ...], path: Path) -> None:
        for i, stmt in enumerate(block):
            here = (*path, i)
            self.statement(stmt, here)
            for step in self.plan.after.get(here, ()):
                assert isinstance(stmt, Arrive) or not step.by_first, "each thread counts what it executes"
                self.advance(step.counter)
        for counter in self.plan.at_end.get(path, ()):
            self.advance(counter)

    def advance(self, counter: Counter) -> None:
        slot, phase, total = self.state[counter.name]
        wraps = slot + 1 == counter.ring
        self.state[counter.name] = [0 if wraps else slot + 1, phase ^ wraps, min(total + 1, counter.limit)]

    def read(self, use: Use) -> tuple[int, int, int]:
        if use.counter is None:
            return use.slot, use.flip, 0 if use.skip else 1
        slot, phase, total = self.state[use.counter.name]
        assert use.skip <= use.counter.limit
        return slot, phase ^ use.flip, int(total >= use.skip)

    def statement(self, stmt: Stmt, path: Path) -> None:
        match stmt:
            case For(mode=Seq() | Tasks(), body=body):
                for _ in range(self.rng.randint(0, 5)):
                    self.run(body, path)
            case For(body=body):
                self.run(body, path)
            case If(_, then, orelse):
                branch = self.rng.randint(0, 1)
                self.run((then, orelse)[branch], (*path, branch))
            case Alloc(name):
                n = self.count("alloc", name)
                assert self.read(self.plan.uses[path])[0] == n % RINGS[name[-1]]
            case Arrive(barrier):
                n = self.count("arrive", barrier)
                assert self.read(self.plan.uses[path])[0] == n % RINGS[barrier]
            case Await(barrier, lag):
                self.check_wait(self.count("await", barrier) - lag, RINGS[barrier], self.plan.uses[path])
            case InstrCall():
                (barrier,) = (arg.name for _, arg in stmt.operands if isinstance(arg, BarrierRef))
                if path in self.plan.uses:
                    n = self.counts.get(("arrive", barrier), 0)
                    assert self.read(self.plan.uses[path])[0] == n % RINGS[barrier]
            case _:
                raise AssertionError(stmt)
        self.checked += 1

    def count(self, kind: str, name: str) -> int:
        n = self.counts.get((kind, name), 0)
        self.counts[kind, name] = n + 1
        return n

    def check_wait(self, phase: int, ring: int, use: Use) -> None:
        slot, parity, waits = self.read(use)
        if phase < -ring:
            assert not waits, "a wait for a phase before the first lap would block"
        elif phase < 0:
            assert not waits or (slot, parity) == (phase % ring, 1), "a fresh barrier lets parity 1 pass"
        else:
            assert waits and (slot, parity) == (phase % ring, phase // ring % 2)


def proc(body: tuple[Stmt, ...], persistent: bool) -> Proc:
    barriers = tuple(BarrierDecl(name, ring, 1) for name, ring in RINGS.items())
    return Proc("k", (), (), Launch(32, persistent=persistent), barriers, body)


@pytest.mark.parametrize("seed", range(200))
def test_random_programs(seed: int) -> None:
    rng = random.Random(seed)
    body: tuple[Stmt, ...] = program(rng, 3)
    persistent = rng.random() < 0.7
    if rng.random() < 0.6:
        body = (*program(rng, 0), For("task", Int(0), Var("n"), Tasks(), body), *program(rng, 0))
    plan = plan_counters(proc(body, persistent), body)
    for attempt in range(5):
        machine = Machine(plan, random.Random(attempt if persistent else 0))
        machine.state = {c.name: [c.start, 0, 0] for c in plan.counters}
        machine.run(body, ()) if persistent else run_once(machine, body)
        assert machine.checked >= len(body)


def run_once(machine: Machine, body: tuple[Stmt, ...]) -> None:
    """Without a persistent loop each CTA runs one task."""
    for i, stmt in enumerate(body):
        if isinstance(stmt, For) and isinstance(stmt.mode, Tasks):
            machine.run(stmt.body, (i,))
            machine.checked += 1
        else:
            machine.statement(stmt, (i,))
        for step in machine.plan.after.get((i,), ()):
            machine.advance(step.counter)
    for counter in machine.plan.at_end.get((), ()):
        machine.advance(counter)


def test_a_buffer_with_the_name_of_a_counter_has_its_own() -> None:
    body: tuple[Stmt, ...] = (
        Alloc("q_await", Scalar.F32, (4,), Smem(0, 3)),
        If(Bool(True), (Await("q", 0),), ()),
        If(Bool(True), (), (Await("q", 0),)),
    )
    loop: tuple[Stmt, ...] = (For("k", Int(0), Var("n"), Seq(), body),)
    plan = plan_counters(proc(loop, persistent=True), loop)
    assert sorted(c.ring for c in plan.counters) == [2, 3]
    assert len({c.name for c in plan.counters}) == 2
    rings = {path: use.counter.ring for path, use in plan.uses.items() if use.counter}
    assert rings == {(0, 0): 3, (0, 1, 0, 0): 2, (0, 2, 1, 0): 2}


def test_each_thread_counts_its_awaits_in_different_thread_loops() -> None:
    half = For("w", Int(0), Int(1), Threads(16), (Await("q", 0),))
    body: tuple[Stmt, ...] = (Await("q", 0), half)
    plan = plan_counters(proc(body, persistent=True), body)
    assert [step.by_first for steps in plan.after.values() for step in steps] == [False, False]


def test_a_missing_advance_is_an_internal_error() -> None:
    body: tuple[Stmt, ...] = (For("k", Int(0), Var("n"), Seq(), (Await("q", 0), Await("p", 0))),)
    plan = plan_counters(proc(body, persistent=True), body)
    nodes = tuple(node for counter in plan.counters for node in advance(counter))
    check_advances(plan, nodes)
    with pytest.raises(InternalError, match="advances at 0 places"):
        check_advances(plan, nodes[1:])


def test_the_count_of_a_late_wait_stops() -> None:
    counter = Counter("c", 2, 0, True, limit=3)
    nodes, env = advance(counter), {"c_slot": 0, "c_phase": 0, "c_count": 0}
    for n in range(1, 9):
        execute(nodes, env)
        assert env == {"c_slot": n % 2, "c_phase": n // 2 % 2, "c_count": min(n, 3)}


def execute(nodes: Iterable[Node], env: dict[str, int]) -> None:
    for node in nodes:
        if isinstance(node, Branch):
            execute(node.then if value(node.cond, env) else node.orelse, env)
        else:
            assert isinstance(node, Set) and isinstance(node.target, Name)
            given, name = value(node.value, env), node.target.text
            env[name] = {"=": given, "+=": env[name] + given, "^=": env[name] ^ given}[node.op]


def test_one_counter_serves_a_whole_pipeline() -> None:
    ring = RINGS["s"]
    body: tuple[Stmt, ...] = (
        Alloc("buffer_s", Scalar.F32, (4,), Smem(0, ring)),
        Await("s", ring),
        InstrCall(tma_load, (("barrier", BarrierRef("s")),)),
        Arrive("s", Int(64)),
    )
    loop: tuple[Stmt, ...] = (For("k", Int(0), Var("n"), Seq(), body),)
    plan = plan_counters(proc(loop, persistent=True), loop)
    assert len(plan.counters) == 1
    assert {use.counter for use in plan.uses.values()} == set(plan.counters)


def test_slots_of_an_expanded_loop_are_constants() -> None:
    once = tuple(
        For("c", Int(v), Int(v + 1), Unroll(), (Alloc("buffer_q", Scalar.F32, (4,), Smem(0, 2)),)) for v in range(4)
    )
    body: tuple[Stmt, ...] = (For("task", Int(0), Var("n"), Tasks(), once),)
    plan = plan_counters(proc(body, persistent=True), body)
    assert plan.counters == ()
    assert [use.slot for _, use in sorted(plan.uses.items())] == [0, 1, 0, 1]
