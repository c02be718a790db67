"""A procedure as a CUDA translation unit: parameters, entry code, and one program per role."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.codegen.counters import plan_counters
from exogpu.codegen.cuda.printer import reserved_names
from exogpu.codegen.cuda.prune import names_in, prune
from exogpu.codegen.cuda.tree import (
    Apply,
    Binary,
    Branch,
    Declare,
    Do,
    Expr,
    Function,
    IntLit,
    Name,
    Node,
    Parameter,
    Remark,
    Source,
    Unary,
)
from exogpu.codegen.lower.advance import check_advances, declare_counters
from exogpu.codegen.lower.place import pitch_name
from exogpu.codegen.lower.role import set_registers
from exogpu.codegen.lower.state import C_TYPES, Gathered, MapSpec, State, barrier_name
from exogpu.codegen.lower.statement import lower_block
from exogpu.codegen.lower.team import CTA_RANK, cluster, plus
from exogpu.codegen.specialise import project, size_facts, specialise
from exogpu.ir.buffers import buffers_of
from exogpu.ir.collective import WARP
from exogpu.ir.instr import Mode
from exogpu.ir.layout import SharedLayout, plan_layout
from exogpu.ir.named import plan_barriers
from exogpu.ir.proc import Proc, RoleDecl, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import Arrive, Assign, Block, InstrCall
from exogpu.ir.types import Scalar
from exogpu.ir.walk import walk


@dataclass(frozen=True, slots=True)
class MapParam:
    """A kernel parameter: a tensor map."""

    spec: MapSpec


@dataclass(frozen=True, slots=True)
class PointerParam:
    """A kernel parameter: the address of a tensor's first element."""

    tensor: str


@dataclass(frozen=True, slots=True)
class PitchParam:
    """A kernel parameter: the distance of a tensor's rows in elements, 64 bits."""

    tensor: str


@dataclass(frozen=True, slots=True)
class SizeParam:
    """A kernel parameter: a size, 32 bits."""

    name: str


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A kernel parameter: a data scalar in its storage type."""

    name: str
    dtype: Scalar


KernelParam = MapParam | PointerParam | PitchParam | SizeParam | ScalarParam


@dataclass(frozen=True, slots=True)
class Lowered:
    """A lowered kernel: its source and what a launch must know of it."""

    source: Source
    params: tuple[KernelParam, ...]
    layout: SharedLayout
    written: frozenset[str]


def written_buffers(body: Block) -> frozenset[str]:
    """Buffers that some statement writes."""
    names: set[str] = set()
    for stmt in walk(body):
        match stmt:
            case Assign(buffer):
                names.add(buffer)
            case InstrCall(instr):
                names |= {stmt.window(f.operand).buffer for f in instr.footprints if f.mode is not Mode.READ}
            case _:
                pass
    return frozenset(names)


def remote_barriers(proc: Proc) -> frozenset[str]:
    """Barriers on which some thread arrives across CTAs."""
    return frozenset(s.barrier for s in walk(proc.body) if isinstance(s, Arrive) and s.ctas is not None)


def lower(proc: Proc, header: tuple[str, ...], prelude: str) -> Lowered:
    """The CUDA of a procedure; BadInput if it exceeds a resource or needs something unsupported."""
    layout = plan_layout(proc)
    gathered = Gathered(plan_barriers(proc), remote_barriers(proc))
    written = written_buffers(proc.body)
    program = _roles(proc, layout, gathered, written)
    entry = _entry(proc, layout, gathered)
    body = prune((*entry, *program))
    params = tuple(_parameters(proc, gathered, written, body))
    head = f'extern "C" __global__ void __launch_bounds__({proc.block.threads}, 1)'
    if proc.block.clustered:
        head += f" __cluster_dims__({proc.block.cluster}, 1, 1)"
    kernel = Function(head, entry_name(proc, prelude), tuple(p for _, p in params), body)
    helpers = tuple(gathered.functions[name] for name in sorted(gathered.functions))
    return Lowered(Source(header, prelude, helpers, kernel), tuple(k for k, _ in params), layout, written)


def entry_name(proc: Proc, prelude: str) -> str:
    """The compiled function's name: the procedure's, or with a suffix if C++ has that word."""
    return f"{proc.name}_kernel" if proc.name in reserved_names(prelude) else proc.name


def _roles(proc: Proc, layout: SharedLayout, gathered: Gathered, written: frozenset[str]) -> tuple[Node, ...]:
    def program(role: str | None) -> tuple[Node, ...]:
        facts = size_facts(proc)
        body = specialise(project(proc.body, role), facts)
        plan = plan_counters(proc, body)
        team = cluster(proc.block.threads, proc.block.cluster)
        state = State(proc, buffers_of(proc), written, layout, gathered, plan, team, facts)
        nodes = lower_block(state, body, ())
        check_advances(plan, nodes)
        return (*declare_counters(plan.counters), *nodes)

    if not proc.block.roles:
        return program(None)
    bodies = {role.name: (*_role_entry(proc, role), *program(role.name)) for role in proc.block.roles}
    covered = sum(r.threads for r in proc.block.roles)
    chain = program(None) if covered < proc.block.threads else ()
    for role in reversed(proc.block.roles):
        body = bodies[role.name]
        end = role.first + role.threads
        if end == proc.block.threads:
            chain = body
        else:
            chain = (Branch(Binary("<", Name("warp"), IntLit(end // WARP)), body, chain),)
    return chain


def _role_entry(proc: Proc, role: RoleDecl) -> list[Node]:
    """Registers and thread coordinates of a role."""
    return [
        Remark(f"role {role.name}: threads {role.first} to {role.first + role.threads - 1}"),
        *set_registers(proc.block, role),
        Declare("const int", Name(f"{role.name}_thread"), plus(Name("thread"), -role.first)),
        Declare("const int", Name(f"{role.name}_warp"), plus(Name("warp"), -role.first // WARP)),
    ]


def _entry(proc: Proc, layout: SharedLayout, gathered: Gathered) -> list[Node]:
    """Thread coordinates, the aligned base of shared memory, tensor-map prefetches and barrier initialisation."""
    nodes: list[Node] = [
        Declare("const int", Name("thread"), Name("threadIdx.x")),
        Declare("const int", Name("lane"), Binary("&", Name("thread"), IntLit(WARP - 1))),
        Declare("const int", Name("warp"), Apply("__shfl_sync", (Name("0xffffffffu"), _WARP_INDEX, IntLit(0)))),
        *([Declare("const unsigned", CTA_RANK, Apply("cluster_rank", ()))] if proc.block.clustered else []),
        Declare("alignas(16) extern __shared__ unsigned char", Name("shared_raw"), extent=0),
        Declare("unsigned char* const", Name("shared"), _aligned_base(layout)),
        Declare("const unsigned", Name("shared_base"), Apply("shared_address", (Name("shared"),))),
    ]
    start: list[Node] = [Do(Apply("prefetch_map", (name,))) for name in gathered.maps.values()]
    for barrier in proc.barriers:
        first = Name(barrier_name(barrier.name))
        nodes.append(Declare("const unsigned", first, plus(Name("shared_base"), layout.barriers[barrier.name])))
        slots: list[Expr] = [plus(first, 8 * slot) for slot in range(barrier.ring)]
        start += [Do(Apply("mbarrier_init", (slot, IntLit(barrier.count)))) for slot in slots]
    if proc.barriers:
        start.append(Do(Apply("mbarrier_init_done", ())))
    if start:
        nodes.append(Branch(Binary("==", Name("thread"), IntLit(0)), tuple(start)))
    if proc.block.clustered:
        # every CTA has started and initialised its barriers before another touches its shared memory
        nodes.append(Do(Apply("cluster_barrier", ())))
    elif proc.barriers:
        nodes.append(Do(Apply("__syncthreads", ())))
    return nodes


_WARP_INDEX = Binary(">>", Name("thread"), IntLit(5))


def _aligned_base(layout: SharedLayout) -> Expr:
    raw = Name("shared_raw")
    if layout.alignment <= 16:
        return raw
    missing = Binary("&", Unary("-", Apply("shared_address", (raw,))), IntLit(layout.alignment - 1, "u"))
    return Binary("+", raw, missing)


def _parameters(
    proc: Proc, gathered: Gathered, written: frozenset[str], body: tuple[Node, ...]
) -> Iterator[tuple[KernelParam, Parameter]]:
    """Tensor maps first, then for each argument what the body uses of it."""
    used = frozenset(names_in(body))
    for spec, name in gathered.maps.items():
        yield MapParam(spec), Parameter("const __grid_constant__ TensorMap", name)
    for arg in proc.args:
        name = Name(arg.name, user=True)
        match arg:
            case TensorArg(dtype=dtype):
                # a restricted pointer licenses non-coherent loads, also of what TMA writes through a tensor map
                kind = f"{C_TYPES[dtype]}*" if arg.name in written else f"const {C_TYPES[dtype]}* __restrict__"
                if name in used:
                    yield PointerParam(arg.name), Parameter(kind, name)
                if (pitch := Name(pitch_name(arg.name))) in used:
                    yield PitchParam(arg.name), Parameter("int64", pitch)
            case SizeArg():
                if name in used:
                    yield SizeParam(arg.name), Parameter("int", name)
            case ScalarArg(dtype=dtype):
                if name in used:
                    yield ScalarParam(arg.name, dtype), Parameter(C_TYPES[dtype], name)
