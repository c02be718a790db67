"""Which bytes of a pool of shared memory an access touches: rows of consecutive bytes, and swizzling inside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from exogpu.ir.evaluate import const
from exogpu.ir.pools import Storage
from exogpu.smt.poly import Poly, lift
from exogpu.verify.concrete import Occurrence, Unrolling
from exogpu.verify.instance import Instance, Model
from exogpu.verify.phases import Phases
from exogpu.verify.program import Access, Buffer
from exogpu.verify.races import concrete_box

CHUNK = 16
"""Bytes that swizzling keeps together."""


def some_row(model: Model, phases: Phases, buffer: Buffer, x: Instance, access: Access, tag: str) -> tuple[Poly, Poly]:
    """First byte in the pool, and one past the last, of any one row; `tag` names its variables. Where addresses are
    permuted, of all bytes that they are permuted with."""
    ctx, place, strides = model.ctx, place_of(buffer), _strides(buffer)
    box = model.box(x, access)[buffer.per_cta :]
    extents = [_constant(extent) for _, extent in box]
    inner = _consecutive(buffer, extents)
    low = lift(0)
    for d, ((lo, _), stride) in enumerate(zip(box, strides, strict=True)):
        low = low + lo * stride
        if d < inner and extents[d] > 1:
            low = low + ctx.fresh(f"{tag}.row{d}", 0, extents[d]) * stride
    high = low + extents[inner] * strides[inner]
    if place.block > 1:
        low = ctx.floordiv(low, place.block) * place.block
        high = -(ctx.floordiv(-high, place.block) * place.block)
    slot = ctx.mod(phases.slot(x, buffer.name), place.slots) * place.slot_bytes + place.offset
    return slot + low, slot + high


def common_bytes(u: Unrolling, *uses: tuple[Buffer, Occurrence, Access]) -> frozenset[int]:
    """The bytes of the pool that two accesses both touch."""
    spans = [_hull(u, *use) for use in uses]
    if max(s.start for s in spans) >= min(s.stop for s in spans):
        return frozenset()
    one, other = (frozenset(b for row in _rows(u, *use) for b in row) for use in uses)
    return one & other


def _hull(u: Unrolling, buffer: Buffer, x: Occurrence, access: Access) -> range:
    """From the first byte to the last."""
    place, strides, box = place_of(buffer), _strides(buffer), concrete_box(x, access)[buffer.per_cta :]
    low = sum(r.start * stride for r, stride in zip(box, strides, strict=True))
    high = sum((r.stop - 1) * stride for r, stride in zip(box, strides, strict=True)) + buffer.element_bytes
    slot = _slot(u, buffer, x)
    return range(slot + low // place.block * place.block, slot - -high // place.block * place.block)


def _rows(u: Unrolling, buffer: Buffer, x: Occurrence, access: Access) -> Iterator[range]:
    """Runs of consecutive bytes."""
    place, strides, box = place_of(buffer), _strides(buffer), concrete_box(x, access)[buffer.per_cta :]
    slot = _slot(u, buffer, x)
    inner = _consecutive(buffer, [len(r) for r in box])
    rest = sum(r.start * stride for r, stride in zip(box[inner + 1 :], strides[inner + 1 :], strict=True))
    for index in product(*box[:inner]):
        start = (
            sum(i * stride for i, stride in zip(index, strides, strict=False))
            + rest
            + box[inner].start * strides[inner]
        )
        row = range(start, start + len(box[inner]) * strides[inner])
        for part in (row,) if place.block == 1 else _chunks(row):
            first = _permuted(part.start, place.block)
            yield range(slot + first, slot + first + len(part))


def _chunks(row: range) -> Iterator[range]:
    """The row cut where swizzling may cut it."""
    for start in range(row.start // CHUNK * CHUNK, row.stop, CHUNK):
        yield range(max(start, row.start), min(start + CHUNK, row.stop))


def _permuted(address: int, block: int) -> int:
    """Where swizzling puts a byte: the number of its chunk in a block, xor that of the 128 bytes that it is in."""
    return address ^ (address // (8 * CHUNK) % (block // CHUNK) * CHUNK) if block > 1 else address


def _slot(u: Unrolling, buffer: Buffer, x: Occurrence) -> int:
    place = place_of(buffer)
    n = 0 if buffer.alloc is None else u.executions(buffer.alloc, x) - 1
    return place.offset + n % place.slots * place.slot_bytes


def _consecutive(buffer: Buffer, extents: Sequence[int]) -> int:
    """The outermost dimension inside which an access of these extents leaves out nothing."""
    shape = [const(e) for e in buffer.shape[buffer.per_cta :]]
    inner = len(shape) - 1
    while inner > 0 and extents[inner] == shape[inner]:
        inner -= 1
    return inner


def _constant(extent: Poly) -> int:
    if extent.constant is None:
        raise TypeError("the extent of a window is a number")
    return extent.constant


def place_of(buffer: Buffer) -> Storage:
    """Where a buffer of a pool lies."""
    if buffer.storage is None:
        raise TypeError(f"{buffer.name} is in no pool")
    return buffer.storage


def _strides(buffer: Buffer) -> Sequence[int]:
    """Bytes between neighbours of each dimension inside a CTA."""
    strides = [buffer.element_bytes]
    for extent in reversed(buffer.shape[buffer.per_cta + 1 :]):
        strides.append(strides[-1] * const(extent))
    return strides[::-1]
