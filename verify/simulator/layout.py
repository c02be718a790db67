"""Where buffers lie: how many copies there are, who shares one, and how an access is turned into positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from exogpu.ir.arrays import Numbers
from exogpu.ir.buffers import buffers_of
from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Proxy
from exogpu.ir.pools import storage
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Alloc, InstrCall, Role, Window
from exogpu.ir.types import Gmem, Memory, Rmem, Scalar, Smem, WgmmaA, WgmmaD
from exogpu.ir.walk import walk


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Elements in the storage of a pool of `size` cells: element e takes the `width` cells from `first[e]`."""

    pool: str
    size: int
    first: Numbers
    width: int

    def of(self, positions: Numbers) -> Numbers:
        """The cells of elements, `width` in a row for each."""
        return (self.first[positions][:, np.newaxis] + np.arange(self.width)).reshape(-1)


@dataclass(frozen=True, slots=True)
class Place:
    """A buffer of `ring` slots of `shape`; every `span` consecutive threads share a copy (0: all of a cluster do, since
    its CTAs are a dimension of shared memory).

    `asynchronous`: some instruction accesses it through another proxy than the generic one. `cells`: where its elements
    lie in storage that it shares, if it does.
    """

    name: str
    dtype: Scalar
    memory: Memory
    shape: tuple[int, ...]
    ring: int
    span: int
    copies: int
    asynchronous: bool
    cells: Cells | None = None

    @property
    def elements(self) -> int:
        """Elements of one slot of one copy."""
        return math.prod(self.shape)

    @property
    def total(self) -> int:
        """Elements of all copies."""
        return self.copies * self.ring * self.elements

    def positions(self, index: list[Numbers], slot: int, threads: Numbers) -> Numbers:
        """Flat positions of the elements at `index`, one array per dimension, that these threads access."""
        flat = np.zeros(len(threads), np.int64)
        for i, extent in zip(index, self.shape, strict=True):
            flat = flat * extent + i
        base = slot * self.elements
        return flat + base + (threads // self.span) * (self.ring * self.elements) if self.span else flat + base


def places(proc: Proc, sizes: Mapping[str, int]) -> dict[str, Place]:
    """The layout of every buffer of a kernel."""
    marked, units = _asynchronous(proc), dict(_units(proc))
    out: dict[str, Place] = {}
    for name, info in buffers_of(proc).items():
        shape = tuple(evaluate(e, sizes) for e in info.shape)
        ring, span = 1, 0
        match info.memory:
            case Smem(ring=ring):
                ring *= units.get(name, 1)
            case Rmem():
                span = 1
            case WgmmaD() | WgmmaA():
                span = WARP
            case Gmem():
                pass
        copies = proc.block.threads * proc.block.cluster // span if span else 1
        out[name] = Place(name, info.dtype, info.memory, shape, ring, span, copies, name in marked)
    return _pooled(proc, out)


def _pooled(proc: Proc, found: dict[str, Place]) -> dict[str, Place]:
    """With the cells of buffers that share storage; a cell is the smallest element of its pool."""
    members = [(s.name, where) for s in walk(proc.body) if isinstance(s, Alloc) and (where := storage(proc.block, s))]
    out = dict(found)
    for name, where in members:
        pool = [(n, w) for n, w in members if w.pool == where.pool]
        unit = min(found[n].dtype.bytes for n, _ in pool)
        size = max(w.offset + w.slot_bytes * found[n].ring for n, w in pool) // unit
        place = found[name]
        ctas = proc.block.cluster if proc.block.clustered else 1
        part = place.elements // ctas
        element = np.arange(place.total)
        slot, inside = element // place.elements, element % place.elements
        address = where.offset + slot * where.slot_bytes + _swizzled(inside % part * place.dtype.bytes, place.memory)
        first = inside // part * size + address // unit
        out[name] = replace(place, cells=Cells(where.pool, size * ctas, first, place.dtype.bytes // unit))
    return out


def _swizzled(address: Numbers, memory: Memory) -> Numbers:
    """Byte offsets inside a slot, 16-byte chunks exchanged within rows (PTX ISA, shared-memory matrix layouts)."""
    chunks = {128: 7, 64: 3, 32: 1}.get(memory.swizzle if isinstance(memory, Smem) else 0, 0)
    return address ^ (((address >> 7) & chunks) << 4)


def _units(proc: Proc) -> Iterator[tuple[str, int]]:
    """How many units allocate a buffer, each for itself, because they take turns."""
    for role in walk(proc.body):
        if isinstance(role, Role) and role.index is not None:
            decl = next(r for r in proc.block.roles if r.name == role.name)
            yield from ((s.name, decl.threads // decl.unit) for s in walk(role.body) if isinstance(s, Alloc))


def _asynchronous(proc: Proc) -> set[str]:
    marked: set[str] = set()
    for call in walk(proc.body):
        if isinstance(call, InstrCall):
            for footprint in call.instr.footprints:
                window = call.operand(footprint.operand)
                if footprint.proxy is not Proxy.GENERIC and isinstance(window, Window):
                    marked.add(window.buffer)
    return marked
