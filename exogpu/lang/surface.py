"""The words of the language as Python objects, so that editors and linters know them; the parser gives them meaning.

`min`, `max` and `abs` are words too, under Python's own names: nothing is exported that would shadow a builtin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exogpu.ir.types import Gmem, Memory, Rmem, Scalar, Smem, WgmmaA, WgmmaD
from exogpu.lang.cuda import meant

__all__ = [
    "GMEM",
    "RMEM",
    "SMEM",
    "WGMMA_A",
    "WGMMA_D",
    "Arrive",
    "Await",
    "Fence",
    "bf16",
    "block",
    "cast",
    "ceildiv",
    "cos",
    "cta",
    "e4m3",
    "e5m2",
    "exp",
    "exp2",
    "f16",
    "f32",
    "f64",
    "i8",
    "i32",
    "index",
    "inf",
    "log",
    "log2",
    "mbarrier",
    "named_barrier",
    "ordinal",
    "relu",
    "require",
    "role",
    "rsqrt",
    "select",
    "seq",
    "sigmoid",
    "sin",
    "size",
    "sqrt",
    "tanh",
    "tasks",
    "tf32",
    "threads",
    "u8",
    "unroll",
    "warp",
    "warpgroup",
    "warpgroups",
    "warps",
]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the language. It has no value of its own: it is read below its `decorator`, never executed."""

    name: str
    about: str
    decorator: str = "@proc"

    def __call__(self, *args: object, **keywords: object) -> Any:
        """Refuse: the words are not functions."""
        raise TypeError(f"`{self.name}` has a meaning only inside a function decorated with {self.decorator}")


size = Word("size", "the type of a size argument")
index = Word("index", "index(e): an index expression used as a number")
block = Word("block", "block(n) or block(role=warps(n), ..., persistent=True, raster=1, cluster=1): the launch")
warps = Word("warps", "warps(n, regs=...): a role of n warps")
warpgroups = Word("warpgroups", "warpgroups(n, regs=...): a role of n warpgroups")
role = Word("role", "with role(name) or role(name[unit]): the threads that execute the body")
ordinal = Word("ordinal", "in role(name[unit]): the how-manieth task of its CTA this is, from 0")
cta = Word("cta", "unit=cta: the threads of one CTA of a cluster")
warp = Word("warp", "unit=warp: 32 threads")
warpgroup = Word("warpgroup", "unit=warpgroup: 128 threads")
mbarrier = Word("mbarrier", "mbarrier(ring=1, count=n): a sequence of phases of n arrivals each")
named_barrier = Word("named_barrier", "named_barrier(count=n): a barrier that whole warps of n threads join")
require = Word("require", "require(condition): a precondition on the sizes")
tasks = Word("tasks", "for v in tasks(lo, hi): across the CTAs (clusters) of the grid")
seq = Word("seq", "for v in seq(lo, hi): in order")
unroll = Word("unroll", "for v in unroll(lo, hi): in order and unrolled")
threads = Word("threads", "for v in threads(n, unit=1): across the units of the enclosing collective")
Await = Word("Await", "Await(barrier, lag=0): wait for a phase")
Arrive = Word("Arrive", "Arrive(barrier, tx=bytes): arrive on a barrier, or on barrier[c] of another CTA")
Fence = Word("Fence", "Fence(): barrier of the enclosing collective")
ceildiv = Word("ceildiv", "ceildiv(a, b): a / b rounded up")
select = Word("select", "select(condition, then, otherwise)")
cast = Word("cast", "cast(type, value): conversion, rounding to nearest even")
inf = Word("inf", "infinity")
exp = Word("exp", "exp(x)")
exp2 = Word("exp2", "exp2(x): 2 to the power x")
log = Word("log", "log(x): natural logarithm")
log2 = Word("log2", "log2(x): logarithm to base 2")
sqrt = Word("sqrt", "sqrt(x)")
rsqrt = Word("rsqrt", "rsqrt(x): 1 / sqrt(x)")
tanh = Word("tanh", "tanh(x)")
sin = Word("sin", "sin(x)")
cos = Word("cos", "cos(x)")
relu = Word("relu", "relu(x): max(x, 0)")
sigmoid = Word("sigmoid", "sigmoid(x): 1 / (1 + exp(-x))")

WORDS: dict[str, Word] = {word.name: word for word in tuple(globals().values()) if isinstance(word, Word)}

PYTHON_WORDS = frozenset({"min", "max", "abs"})

f64, f32, tf32, f16, bf16 = Scalar.F64, Scalar.F32, Scalar.TF32, Scalar.F16, Scalar.BF16
e4m3, e5m2, i32, i8, u8 = Scalar.E4M3, Scalar.E5M2, Scalar.I32, Scalar.I8, Scalar.U8

SCALARS: dict[str, Scalar] = {s.value: s for s in Scalar}

GMEM, SMEM, RMEM, WGMMA_D, WGMMA_A = Gmem, Smem, Rmem, WgmmaD, WgmmaA

MEMORIES: dict[str, type[Memory]] = {
    "GMEM": Gmem,
    "SMEM": Smem,
    "RMEM": Rmem,
    "WGMMA_D": WgmmaD,
    "WGMMA_A": WgmmaA,
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the names of a language mean that nobody declares: its words, Python's own names that are words too, and
    the names of types and memories; `unit` is what one function describes, and `meant` says how the language writes a
    word of another, such as CUDA C++."""

    unit: str
    words: Mapping[str, Word]
    python: frozenset[str]
    types: Mapping[str, object]
    meant: Callable[[str], str | None]


KERNELS = Vocabulary("procedure", WORDS, PYTHON_WORDS, {**SCALARS, **MEMORIES}, meant)
