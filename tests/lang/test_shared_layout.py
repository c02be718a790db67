"""Placement of buffers and barriers in shared memory, and what does not fit."""

from __future__ import annotations

from itertools import pairwise

import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.index import Int
from exogpu.ir.layout import CAPACITY, SharedLayout, plan_layout
from exogpu.ir.proc import BarrierDecl, Launch, Proc
from exogpu.ir.stmt import Alloc, For, Stmt, Threads
from exogpu.ir.types import Rmem, Scalar, Smem


def layout(*body: Stmt, barriers: tuple[BarrierDecl, ...] = ()) -> SharedLayout:
    return plan_layout(Proc("k", (), (), Launch(256), barriers, body))


def smem(name: str, *shape: int, dtype: Scalar = Scalar.F32, swizzle: int = 0, ring: int = 1) -> Alloc:
    return Alloc(name, dtype, shape, Smem(swizzle, ring))


def test_nothing_needs_nothing() -> None:
    assert layout(Alloc("r", Scalar.F32, (8,), Rmem())).total == 0


def test_slots_are_aligned_to_the_swizzle_pattern_and_do_not_overlap() -> None:
    found = layout(
        smem("small", 3),
        smem("a", 12, 64, dtype=Scalar.BF16, swizzle=128, ring=3),
        smem("b", 9, 16, dtype=Scalar.F32, swizzle=64, ring=2),
        barriers=(BarrierDecl("full", 3, 1), BarrierDecl("empty", 3, 4)),
    )
    assert found.alignment == 1024
    for name, align in (("a", 1024), ("b", 512), ("small", 128)):
        placed = found.buffers[name]
        assert placed.offset % align == 0 and placed.slot_bytes % align == 0
    spans = [(p.offset, p.offset + p.slot_bytes * p.slots * p.copies) for p in found.buffers.values()]
    spans += [(offset, offset + 24) for offset in found.barriers.values()]
    assert all(end <= start for (_, end), (start, _) in pairwise(sorted(spans)))
    assert max(end for _, end in spans) + 1024 - 16 == found.total
    assert all(offset % 8 == 0 for offset in found.barriers.values())


def test_each_group_that_allocates_has_a_copy() -> None:
    loop = For("w", Int(0), Int(8), Threads(32), (smem("x", 32, ring=2),))
    placed = layout(loop).buffers["x"]
    assert (placed.copies, placed.slots, placed.slot_bytes) == (8, 2, 128)


def test_the_capacity_is_a_limit_with_a_reason() -> None:
    rows = (CAPACITY - 1008) // 1024 * 8
    assert layout(smem("a", rows, 32, swizzle=128)).total <= CAPACITY
    with pytest.raises(BadInput) as caught:
        layout(smem("a", rows // 2 + 8, 32, swizzle=128, ring=2))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "smem.capacity"
    assert str(CAPACITY) in diagnostic.message
    assert "2 slots" in diagnostic.notes[0]
