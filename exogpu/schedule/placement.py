"""Operators that say where a buffer is and of which type: they never change what is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exogpu.ir.formats import contains
from exogpu.ir.stmt import Assign
from exogpu.ir.types import Gmem, Memory, Scalar, Smem
from exogpu.ir.value import Arith, Call, Cast, FromIndex, Neg, Num, Read, Select, Value
from exogpu.ir.value_type import computed, value_type
from exogpu.ir.walk import reads, walk
from exogpu.schedule.cursor import Where
from exogpu.schedule.dimensions import Allocated
from exogpu.schedule.errors import limit
from exogpu.schedule.work import Work, operator


@operator
def set_memory(at: Work, where: Where, memory: Memory) -> None:
    """Puts an allocated buffer into another memory, with its layout: `SMEM(swizzle=128)`, `WGMMA_D`, ..."""
    buffer = Allocated.find(at, where)
    if isinstance(memory, Gmem):
        raise limit("global memory is not allocated by kernels", buffer.alloc.span)
    buffer.becomes(replace(buffer.alloc, memory=memory))


@operator
def set_layout(at: Work, where: Where, *, swizzle: int | None = None, pool: str | None = None, offset: int = 0) -> None:
    """How a buffer lies in shared memory: with swizzled rows, or in a pool whose storage other buffers share."""
    buffer = Allocated.find(at, where)
    memory = buffer.alloc.memory
    if not isinstance(memory, Smem):
        raise limit(f"`{buffer.alloc.name}` is not in shared memory", buffer.alloc.span)
    swizzle = memory.swizzle if swizzle is None else swizzle
    buffer.becomes(replace(buffer.alloc, memory=replace(memory, swizzle=swizzle, pool=pool, offset=offset)))


@operator
def set_type(at: Work, where: Where, dtype: Scalar) -> None:
    """Gives an allocated buffer another type, where that changes no result.

    Its elements must be computed with in the same type as before, and nothing may be added to it. Then either
    everything that is written to it is a number of both types, whatever the data: an element of a buffer of a type that
    both contain, a value cast to such a type, a literal that both have. Or the algorithm rounds to the new type anyway:
    whatever is read is stored as it is to a buffer of that type, and the old type holds exactly what is written.
    """
    buffer = Allocated.find(at, where)
    old, name = buffer.alloc.dtype, buffer.alloc.name
    if computed(dtype) is not computed(old):
        raise limit(f"values of {old.value} and {dtype.value} are computed in different types", buffer.alloc.span)
    buffer.in_no_instruction()
    types = at.types
    users = [stmt for stmt in walk(buffer.users) if isinstance(stmt, Assign)]
    later = all(_rounded(stmt, name, dtype, types) for stmt in users)
    for stmt in users:
        if stmt.buffer != name:
            continue
        if stmt.op == "+=":
            raise limit(f"sums in `{name}` are rounded to its type", stmt.span)
        stored = exact(stmt.rhs, old, types) or (old is computed(old) and value_type(stmt.rhs, types) in (None, old))
        if not (stored if later else all(exact(stmt.rhs, kind, types) for kind in (old, dtype))):
            raise limit(f"a value that is written to `{name}` may not be a number of {dtype.value}", stmt.span)
    buffer.becomes(replace(buffer.alloc, dtype=dtype))


def _rounded(stmt: Assign, name: str, dtype: Scalar, types: Mapping[str, Scalar]) -> bool:
    """Whether a statement stores what it reads of a buffer in a type, and nothing else, if it reads any of it."""
    if all(read.buffer != name for read, _ in reads(stmt.rhs)):
        return True
    value = stmt.rhs.arg if isinstance(stmt.rhs, Cast) and stmt.rhs.to is dtype else stmt.rhs
    return isinstance(value, Read) and stmt.op == "=" and types[stmt.buffer] is dtype and stmt.buffer != name


def exact(value: Value, dtype: Scalar, types: Mapping[str, Scalar]) -> bool:
    """Whether a store of a value to a type never rounds it."""
    match value:
        case Read(buffer):
            return contains(dtype, types[buffer])
        case Cast(to, arg):
            return contains(dtype, to) or (exact(arg, dtype, types) and exact(arg, to, types))
        case Num(number):
            from exogpu.ir.numeric import is_number  # only now: it loads NumPy

            return is_number(number, dtype)
        case Neg(arg):
            return dtype.is_float and exact(arg, dtype, types)
        case Select(_, left, right) | Arith("min" | "max", left, right):
            return exact(left, dtype, types) and exact(right, dtype, types)
        case Arith() | Call() | FromIndex():
            return False
