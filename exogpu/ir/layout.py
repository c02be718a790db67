"""Where shared-memory buffers and mbarriers lie in a CTA's dynamic shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.evaluate import evaluate
from exogpu.ir.pools import slot_bytes, swizzle_alignment
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, For, If, Role, Stmt, Threads
from exogpu.ir.types import Smem

CAPACITY = 232_448
"""Dynamic shared memory of a CTA on sm_90, with opt-in, in bytes (CUDA programming guide, technical specifications)."""

BASE_ALIGNMENT = 16
"""What the launch guarantees for the first byte; more is made by hand."""

MBARRIER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Placed:
    """A buffer: `slots` ring slots of `slot_bytes` for each of `copies` collectives that allocate it."""

    offset: int
    slot_bytes: int
    slots: int
    copies: int


@dataclass(frozen=True, slots=True)
class SharedLayout:
    """Offsets in bytes from the aligned base; `total` includes what aligning the base can cost."""

    buffers: dict[str, Placed]
    barriers: dict[str, int]
    alignment: int
    total: int


def allocations(proc: Proc, block: tuple[Stmt, ...], copies: int = 1) -> Iterator[tuple[Alloc, Smem, int]]:
    """Every shared-memory allocation with the number of collectives that execute it side by side: iterations of thread
    loops, and units of a role that take turns."""
    for stmt in block:
        match stmt:
            case Alloc(memory=Smem() as memory):
                yield stmt, memory, copies
            case For(mode=mode, body=body):
                yield from allocations(proc, body, copies * _trips(stmt) if isinstance(mode, Threads) else copies)
            case Role(name, body, index=index):
                units = 1 if index is None else next(r.threads // r.unit for r in proc.block.roles if r.name == name)
                yield from allocations(proc, body, copies * units)
            case If(_, then, orelse):
                yield from allocations(proc, then, copies)
                yield from allocations(proc, orelse, copies)
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Region:
    """A buffer of its own, or a pool; offsets are from its start."""

    members: dict[str, Placed]
    alignment: int

    @property
    def size(self) -> int:
        return max(p.offset + p.slot_bytes * p.slots * p.copies for p in self.members.values())


def _regions(proc: Proc) -> list[_Region]:
    regions: dict[str | int, _Region] = {}
    for n, (alloc, memory, copies) in enumerate(allocations(proc, proc.body)):
        placed = Placed(memory.offset, slot_bytes(proc.block, alloc, memory), memory.ring, copies)
        key = n if memory.pool is None else memory.pool
        known = regions.get(key, _Region({}, 0))
        align = max(known.alignment, swizzle_alignment(memory.swizzle))
        regions[key] = _Region({**known.members, alloc.name: placed}, align)
    return list(regions.values())


def _trips(loop: For) -> int:
    return max(0, evaluate(loop.hi, {}) - evaluate(loop.lo, {}))


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def plan_layout(proc: Proc) -> SharedLayout:
    """The layout of a procedure's shared memory; BadInput if it does not fit a CTA."""
    offset, alignment = 0, MBARRIER_BYTES
    buffers: dict[str, Placed] = {}
    for region in sorted(_regions(proc), key=lambda r: -r.alignment):
        alignment = max(alignment, region.alignment)
        offset = _round_up(offset, region.alignment)
        buffers |= {name: replace(p, offset=p.offset + offset) for name, p in region.members.items()}
        offset += region.size
    barriers: dict[str, int] = {}
    offset = _round_up(offset, MBARRIER_BYTES)
    for barrier in proc.barriers:
        barriers[barrier.name] = offset
        offset += MBARRIER_BYTES * barrier.ring
    total = offset + max(0, alignment - BASE_ALIGNMENT) if offset else 0
    if total > CAPACITY:
        raise BadInput((_too_large(proc, buffers, total),))
    return SharedLayout(buffers, barriers, alignment, total)


def _too_large(proc: Proc, buffers: dict[str, Placed], total: int) -> Diagnostic:
    notes = tuple(
        f"`{name}` takes {p.slot_bytes * p.slots * p.copies} bytes ({p.slots} slots of {p.slot_bytes})"
        for name, p in buffers.items()
    )
    return Diagnostic(
        "smem.capacity",
        f"the kernel needs {total} bytes of shared memory, a CTA has {CAPACITY}",
        proc.span,
        notes=notes,
        help="reduce the ring depth or the tile",
    )
