"""Pools of shared memory: allocations of one pool share storage, at byte offsets from its start.

Sharing does not change the sequential meaning as long as no two of them that overlap are alive at once: an allocation
lives from its statement to the end of the enclosing block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from exogpu.diagnostics import Diagnostic, Label
from exogpu.ir.proc import Launch
from exogpu.ir.stmt import Alloc, Role, Stmt
from exogpu.ir.types import Smem
from exogpu.ir.walk import children, walk

TMA_ALIGNMENT = 128
"""Of every buffer: a TMA tile needs it (PTX ISA, cp.async.bulk.tensor)."""


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a pooled buffer lies: ring slots of `slot_bytes` from byte `offset` of its pool. Inside a slot, addresses
    are permuted within blocks of `block` bytes (1: not at all)."""

    pool: str
    offset: int
    slot_bytes: int
    slots: int
    block: int

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.offset + self.slot_bytes * self.slots

    def overlaps(self, other: Storage) -> bool:
        """The two have bytes in common."""
        return self.pool == other.pool and self.offset < other.end and other.offset < self.end


def swizzle_alignment(swizzle: int) -> int:
    """Alignment of a buffer: the swizzle pattern of 128, 64 or 32 bytes repeats every 8 rows."""
    return 8 * swizzle if swizzle else TMA_ALIGNMENT


def cta_shape(block: Launch, shape: tuple[int, ...]) -> tuple[int, ...]:
    """What one CTA holds of a buffer in shared memory: a cluster's buffers have the CTA as their first dimension."""
    return shape[1:] if block.clustered else shape


def slot_bytes(block: Launch, alloc: Alloc, memory: Smem) -> int:
    """Bytes of one ring slot in one CTA."""
    align = swizzle_alignment(memory.swizzle)
    return -(-prod(cta_shape(block, alloc.shape)) * alloc.dtype.bytes // align) * align


def storage(block: Launch, stmt: Stmt) -> Storage | None:
    """Where a statement's buffer lies in its pool; None if it allocates none in a pool."""
    match stmt:
        case Alloc(memory=Smem(swizzle, ring, str() as pool, offset) as memory):
            return Storage(pool, offset, slot_bytes(block, stmt, memory), ring, swizzle or 1)
        case _:
            return None


def pool_problems(launch: Launch, body: tuple[Stmt, ...]) -> Iterator[Diagnostic]:
    """Misplaced members, pools that share nothing, and overlapping buffers that are alive at once."""
    members = [(s, found) for s in walk(body) if isinstance(s, Alloc) and (found := storage(launch, s)) is not None]
    for role in walk(body):
        if isinstance(role, Role) and role.index is not None:
            yield from _once_per_unit(launch, role)
    sizes = Counter(place.pool for _, place in members)
    for alloc, place in members:
        align = swizzle_alignment(alloc.memory.swizzle if isinstance(alloc.memory, Smem) else 0)
        if place.offset % align:
            text = f"`{alloc.name}` must start at a multiple of {align} bytes of its pool"
            yield Diagnostic("lang.memory", text, alloc.span, help=f"use an offset that is a multiple of {align}")
        if sizes[place.pool] == 1:
            text = f"`{alloc.name}` is alone in the pool `{place.pool}`"
            yield Diagnostic("lang.memory", text, alloc.span, help="give the same pool to what shares its storage")
    yield from _alive(launch, body, ())


def _alive(launch: Launch, block: tuple[Stmt, ...], living: tuple[Alloc, ...]) -> Iterator[Diagnostic]:
    for stmt in block:
        mine = storage(launch, stmt)
        if isinstance(stmt, Alloc) and mine is not None:
            for other in living:
                theirs = storage(launch, other)
                if theirs is not None and mine.overlaps(theirs):
                    yield _both_alive(stmt, other)
            living = (*living, stmt)
        for inner in children(stmt):
            yield from _alive(launch, inner, living)


def _both_alive(stmt: Alloc, other: Alloc) -> Diagnostic:
    return Diagnostic(
        "smem.lifetimes",
        f"`{stmt.name}` shares storage with `{other.name}`, which is still alive",
        stmt.span,
        "overlaps it",
        labels=(Label(other.span, "lives until the end of its block"),),
        help="give it another `offset`, or allocate it after the block of the other has ended",
    )


def _once_per_unit(launch: Launch, role: Role) -> Iterator[Diagnostic]:
    """A pool has one place for a buffer, not one for each unit of a role."""
    for alloc in walk(role.body):
        if isinstance(alloc, Alloc) and storage(launch, alloc) is not None:
            text = f"`{alloc.name}` exists once for each unit of `{role.name}`, and lies in a pool"
            yield Diagnostic("lang.memory", text, alloc.span, help="allocate it before the role, or in no pool")
