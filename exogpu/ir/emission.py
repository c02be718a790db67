"""The vocabulary in which an instruction says how it is emitted.

    emission ::= asm(text, operands) | guard(element, dims) { emission } | repeat(var, count) { emission }
               | store(element, values) | pack(register, pair) | copy(element, element)
               | copy_async(element, element) | pin

`asm` is inline PTX. Its text names operands as `$name`; each operand is typed, and the emitter turns it into a
register, an immediate or a register list. Windows are named by the instruction's parameter. An offset inside a
window is an index expression over `THREAD`, the thread's index inside the executing unit, `WARP`, that of its warp,
`LANE`, its index inside the warp, and variables of enclosing repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.ir.index import Cond, Index, Var
from exogpu.ir.types import Scalar

THREAD = Var("$thread")
WARP = Var("$warp")
LANE = Var("$lane")


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the window given for `operand`: one offset per ranged dimension, or none for the first element."""

    operand: str
    offsets: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class Fragment:
    """Register `index` of those that the executing thread holds of an accumulator window or an A fragment, in the order
    of the wgmma D and A fragments (PTX ISA, wgmma): one element of D, or two of A."""

    operand: str
    index: Index


@dataclass(frozen=True, slots=True)
class Applied:
    """The per-element function given for `operand`, applied to a value; the value itself if none was given."""

    operand: str
    value: RegisterValue


@dataclass(frozen=True, slots=True)
class Loaded:
    """An element of a window, read by the executing thread."""

    at: Element


RegisterValue = Fragment | Applied | Loaded


@dataclass(frozen=True, slots=True)
class SharedAddress:
    """32-bit shared-memory address of an element, swizzle applied; a multiple of `align` bytes."""

    at: Element
    align: int


@dataclass(frozen=True, slots=True)
class GlobalAddress:
    """64-bit global-memory address of an element."""

    at: Element


@dataclass(frozen=True, slots=True)
class TileAddress:
    """32-bit shared-memory address of a window's first row as TMA takes it: the hardware swizzles, not the address."""

    operand: str
    align: int


@dataclass(frozen=True, slots=True)
class TensorMap:
    """64-bit address of the tensor map for the global window `tensor`, with the window's extents as the box and the
    swizzle of the shared window `tile`."""

    tensor: str
    tile: str


@dataclass(frozen=True, slots=True)
class Coordinate:
    """32-bit coordinate of the window's first element along dimension `dim` (0 is the outermost)."""

    tensor: str
    dim: int


@dataclass(frozen=True, slots=True)
class BarrierAddress:
    """32-bit shared-memory address of the mbarrier whose phase the instruction completes on."""

    operand: str


@dataclass(frozen=True, slots=True)
class BarrierId:
    """The number of a named barrier, a literal."""

    operand: str


@dataclass(frozen=True, slots=True)
class BarrierCount:
    """How many threads join a generation of a named barrier, a literal."""

    operand: str


@dataclass(frozen=True, slots=True)
class CtaMask:
    """16-bit mask of the CTAs that the first range of a window names (PTX ISA, ctaMask)."""

    operand: str


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """64-bit wgmma shared-memory descriptor of a window (PTX ISA, matrix descriptor).

    `leading` and `stride` are the two byte offsets divided by 16, `layout` the swizzle code. The window's first
    row starts at a multiple of `atom` bytes, so that the base offset is zero.
    """

    operand: str
    leading: int
    stride: int
    layout: int
    atom: int


@dataclass(frozen=True, slots=True)
class Accumulator:
    """All registers that the thread holds of an accumulator window, as a register list in braces. They are always
    written; `reads` says whether their old values count."""

    operand: str
    reads: bool = True


@dataclass(frozen=True, slots=True)
class Pairs:
    """`count` registers of an A fragment starting at one, as a register list in braces: written, or else read."""

    first: Fragment
    count: int
    written: bool = False


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition: a predicate register, or the literal 1 or 0 if it is constant."""

    cond: Cond


@dataclass(frozen=True, slots=True)
class Packed:
    """Two values rounded to a 16-bit type, `low` in the low half of a 32-bit register."""

    to: Scalar
    low: RegisterValue
    high: RegisterValue


@dataclass(frozen=True, slots=True)
class Rounded:
    """A value rounded to the type `to`, in a register of its size."""

    to: Scalar
    value: RegisterValue


AsmOperand = (
    SharedAddress
    | GlobalAddress
    | TileAddress
    | TensorMap
    | Coordinate
    | BarrierAddress
    | BarrierId
    | BarrierCount
    | CtaMask
    | MatrixDescriptor
    | Accumulator
    | Pairs
    | Predicate
    | Packed
    | Rounded
)

Operands = tuple[tuple[str, AsmOperand], ...]
"""Named operands."""


@dataclass(frozen=True, slots=True)
class Asm:
    """One PTX instruction. `name` becomes a name in the generated source; `$x` in `text` stands for operand `x`."""

    name: str
    text: str
    operands: Operands = ()


@dataclass(frozen=True, slots=True)
class Guard:
    """`body` runs only where the element lies inside its tensor, in the dimensions `dims` of the tensor."""

    inside: Element
    dims: tuple[int, ...]
    body: tuple[Emission, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` for each value of `var` below `count`, unrolled. The variable's name starts with `$`."""

    var: Var
    count: int
    body: tuple[Emission, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """Consecutive elements starting at `to` = values, each rounded to the buffer's type; one access if several."""

    to: Element
    values: tuple[RegisterValue, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """A register of an A fragment = two values."""

    to: Fragment
    pair: Packed


@dataclass(frozen=True, slots=True)
class CopyVector:
    """`size` bytes (a power of two, at most 16) from one place to another in one access each."""

    to: Element
    source: Element
    size: int


@dataclass(frozen=True, slots=True)
class CopyAsync:
    """`size` bytes from global to shared memory by cp.async; what lies outside the tensor becomes zero."""

    to: Element
    source: Element
    size: int


@dataclass(frozen=True, slots=True)
class Pin:
    """The C++ compiler may not move reads or writes of wgmma's register operands across this point."""


Emission = Asm | Guard | Repeat | Store | Pack | CopyVector | CopyAsync | Pin
