"""Who owns a register buffer: the collective that allocates it, and the birth of accumulators in its threads."""

from __future__ import annotations

from dataclasses import replace

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.index import Bin, Index, Int, Var
from exogpu.ir.instr import Mode, Proxy
from exogpu.ir.types import WgmmaD
from exogpu.ir.walk import index_names, substitute_index
from exogpu.verify.program import Access, Buffer, Event, Exec, Loop, LoopKind, Step


def accumulator_births(events: tuple[Event, ...], buffers: dict[str, Buffer]) -> tuple[Event, ...]:
    """Allocating an accumulator is a register write by its warps: this is why the first wgmma needs a fence.

    The owner of `acc[w]` is the warpgroup of the first statement that names it; `ownership` proves that the others
    agree.
    """
    out = list(events)
    for buffer in buffers.values():
        if not isinstance(buffer.memory, WgmmaD) or buffer.alloc is None:
            continue
        user = next((e for e in events if any(a.buffer == buffer.name for a in e.accesses)), None)
        if user is None:
            continue
        access = next(a for a in user.accesses if a.buffer == buffer.name)
        alloc = out[buffer.alloc]
        offset = offset_at(alloc, Bin("-", user.first, owner(buffer, Bin("*", Int(WARPGROUP), access.dims[0][0]))))
        base = Bin("+", buffer.first, offset)
        var = f"{buffer.name}.warpgroup"
        extents = [e.value if isinstance(e, Int) else 0 for e in buffer.shape]
        loop = Loop(var, Int(0), Int(extents[0]), LoopKind.THREADS, WARPGROUP, base)
        path = (*alloc.path[:-1], Step(alloc.path[-1].position, loop), Step(0, None))
        dims: tuple[tuple[Index, int], ...] = ((Var(var), 1), *((Int(0), n) for n in extents[1:]))
        access = Access(buffer.name, dims, Mode.WRITE, Proxy.GENERIC, buffer.span, warp_dim=1)
        first = Bin("+", base, Bin("*", Int(WARPGROUP), Var(var)))
        out[buffer.alloc] = replace(
            alloc, path=path, first=first, size=WARPGROUP, exec=Exec.WARPS, accesses=(access,), aligned=True
        )
    return tuple(out)


def owner(buffer: Buffer, place: Index) -> Index:
    """The owning thread, up to an offset, of the element at thread coordinate `place` of a register buffer."""
    return Bin("+", buffer.first, place)


def offset_at(alloc: Event, e: Index) -> Index:
    """What an expression is for one execution of an allocation: only variables of the loops around it are kept."""
    known = {loop.var for loop in alloc.loops if loop.kind is not LoopKind.THREADS}
    return substitute_index(e, {name: Int(0) for name in index_names(e) if name not in known})
