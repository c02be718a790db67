"""What lowering carries along: fixed facts of the kernel, things gathered for its head, and the current place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from exogpu.codegen.counters import CounterPlan, Path, Use
from exogpu.codegen.cuda.tree import Binary, Expr, Function, IntLit, Name
from exogpu.codegen.fold import Facts, Interval
from exogpu.codegen.lower.index import Indices
from exogpu.codegen.lower.team import Team, plus, times
from exogpu.ir.index import Index
from exogpu.ir.instr import BufferInfo
from exogpu.ir.layout import SharedLayout
from exogpu.ir.named import BarrierIds
from exogpu.ir.proc import Proc
from exogpu.ir.types import Scalar, Smem

C_TYPES = {
    Scalar.F64: "double",
    Scalar.F32: "float",
    Scalar.TF32: "tf32",
    Scalar.F16: "f16",
    Scalar.BF16: "bf16",
    Scalar.E4M3: "e4m3",
    Scalar.E5M2: "e5m2",
    Scalar.I32: "int",
    Scalar.I8: "signed char",
    Scalar.U8: "unsigned char",
}


@dataclass(frozen=True, slots=True)
class MapSpec:
    """A tensor map that the kernel needs: box extents from the outermost dimension, swizzle in bytes."""

    tensor: str
    box: tuple[int, ...]
    swizzle: int


@dataclass(slots=True)
class Gathered:
    """Collected while statements are lowered: tensor maps, helper functions by their text, named barriers. `remote` are
    the mbarriers on which threads of other CTAs arrive."""

    barriers: BarrierIds
    remote: frozenset[str] = frozenset()
    maps: dict[MapSpec, Name] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def map_name(self, spec: MapSpec) -> Name:
        """The kernel parameter for a tensor map."""
        if spec not in self.maps:
            others = sum(s.tensor == spec.tensor for s in self.maps)
            self.maps[spec] = Name(f"{spec.tensor}_map" + (f"_{others + 1}" if others else ""))
        return self.maps[spec]


@dataclass(frozen=True, slots=True)
class State:
    """The place of a statement: kernel, executing team, variable facts and names, scalar values by name, slots of the
    ring buffers in scope, wgmma register operands in scope, variables that hold the number of the executing CTA. `turn`
    is the unit whose turn it is, where that has been tested; `idle`: it is another's, so only counters advance."""

    proc: Proc
    buffers: Mapping[str, BufferInfo]
    written: frozenset[str]
    layout: SharedLayout
    gathered: Gathered
    plan: CounterPlan
    team: Team
    facts: Facts
    names: Mapping[str, Expr] = field(default_factory=dict)
    fragments: tuple[str, ...] = ()
    own_cta: tuple[str, ...] = ()
    turn: Index | None = None
    idle: bool = False

    @property
    def indices(self) -> Indices:
        """The translator of index expressions at this place."""
        return Indices(self.facts, self.names)

    def with_team(self, team: Team) -> State:
        """The same place, executed by another team."""
        return replace(self, team=team)

    def with_variable(self, name: str, values: Interval) -> State:
        """A place inside a loop over `name`."""
        return replace(self, facts={**self.facts, name: values})

    def use(self, path: Path) -> Use:
        """The slot and parity of the statement at `path`."""
        return self.plan.uses[path]


def slot_expr(use: Use) -> Expr:
    """The ring slot of a use."""
    return Name(f"{use.counter.name}_slot") if use.counter else IntLit(use.slot)


def parity_expr(use: Use) -> Expr:
    """The parity that a wait tests."""
    if use.counter is None:
        return IntLit(use.flip)
    phase = Name(f"{use.counter.name}_phase")
    return Binary("^", phase, IntLit(1)) if use.flip else phase


def barrier_address(state: State, barrier: str, use: Use) -> Expr:
    """Shared-memory address of the mbarrier of a use."""
    first = Name(barrier_name(barrier))
    slot = times(slot_expr(use), 8)
    return plus(first, slot.value) if isinstance(slot, IntLit) else Binary("+", first, slot)


def barrier_name(barrier: str) -> str:
    """The variable that holds the address of a barrier's first mbarrier."""
    return f"{barrier}_barrier"


def swizzle_of(info: BufferInfo) -> int:
    """Swizzle of a buffer's memory in bytes, 0 outside shared memory."""
    return info.memory.swizzle if isinstance(info.memory, Smem) else 0
