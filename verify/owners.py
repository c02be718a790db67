"""Who owns a register buffer: the collective that allocates it, and the birth of accumulators in its threads."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.instr import Mode, Proxy
from exogpu.ir.types import Rmem, WgmmaA, WgmmaD
from exogpu.ir.walk import index_names, substitute_index
from exogpu.verify.program import Access, Buffer, Event, Exec, Loop, LoopKind, Step


def accumulator_births(events: tuple[Event, ...], buffers: dict[str, Buffer], threads: int) -> tuple[Event, ...]:
    """Allocating an accumulator is a register write by its warps: this is why the first wgmma needs a fence.

    The owner of `acc[w]` is the warpgroup of the first statement that names it; `ownership` proves that the others
    agree. `threads` are those of a CTA.
    """
    out = list(events)
    for buffer in buffers.values():
        if isinstance(buffer.memory, WgmmaD) and buffer.alloc is not None:
            offset = first_offset(events, buffer, threads)
            if offset is not None:
                out[buffer.alloc] = _birth(out[buffer.alloc], buffer, Bin("+", buffer.first, offset), threads)
    return tuple(out)


def _birth(alloc: Event, buffer: Buffer, base: Index, threads: int) -> Event:
    """A write by each warp of the owners, CTA after CTA and warpgroup after warpgroup."""
    extents = [e.value if isinstance(e, Int) else 0 for e in buffer.shape]
    counts, tile = (extents[:2], extents[2:]) if buffer.per_cta else (extents[:1], extents[1:])
    units = (threads, WARPGROUP) if buffer.per_cta else (WARPGROUP,)
    place = alloc.path[-1].position
    path, first = alloc.path[:-1], base
    variables = [f"{buffer.name}.{word}" for word in ("cta", "warpgroup")[-len(units) :]]
    for var, count, unit in zip(variables, counts, units, strict=True):
        path = (*path, Step(place, Loop(var, Int(0), Int(count), LoopKind.THREADS, unit, first)))
        first = Bin("+", first, Bin("*", Int(unit), Var(var)))
        place = 0
    dims: tuple[tuple[Index, int], ...] = (*((Var(v), 1) for v in variables), *((Int(0), n) for n in tile))
    access = Access(buffer.name, dims, Mode.WRITE, Proxy.GENERIC, buffer.span, warp_dim=len(counts))
    return replace(
        alloc,
        path=(*path, Step(0, None)),
        first=first,
        size=WARPGROUP,
        exec=Exec.WARPS,
        accesses=(access,),
        aligned=True,
    )


def owner(buffer: Buffer, access: Access, threads: int) -> Index | None:
    """The owning thread, up to an offset, of the element or tile that an access names; None if it is not in
    registers of known threads. `threads` are those of a CTA."""
    dims, base = access.dims, buffer.first
    shape = buffer.shape
    if buffer.per_cta:
        base = Bin("+", base, Bin("*", Int(threads), dims[0][0]))
        dims, shape = dims[1:], shape[1:]
    match buffer.memory:
        case Rmem(threads=count) if count:
            coordinates = count - buffer.per_cta
            linear: Index = Int(0)
            for (index, _), extent in zip(dims[:coordinates], shape[:coordinates], strict=True):
                linear = Bin("+", Bin("*", linear, extent), index)
            return Bin("+", base, linear)
        case WgmmaD() | WgmmaA():
            return Bin("+", base, Bin("*", Int(WARPGROUP), dims[0][0]))
        case _:
            return None


def first_offset(events: tuple[Event, ...], buffer: Buffer, threads: int) -> Index | None:
    """What `owner` leaves open, from the first statement that touches the buffer; None if there is none.

    It is one thread for each execution of the allocation: only variables of the loops around that are kept.
    """
    for event in events:
        for access in event.accesses:
            place = owner(buffer, access, threads) if access.buffer == buffer.name else None
            if place is not None and buffer.alloc is not None:
                offset = Bin("-", event.first, place)
                loops = (loop for loop in events[buffer.alloc].loops if loop.kind in (LoopKind.TASK, LoopKind.SEQ))
                known = {loop.var for loop in loops}
                return substitute_index(offset, {name: Int(0) for name in index_names(offset) if name not in known})
    return None
