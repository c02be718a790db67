"""Where buffers lie: how many copies there are, who shares one, and how an access is turned into positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import Proxy
from exogpu.ir.interp.plan import buffers_of
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import InstrCall, Window
from exogpu.ir.types import Gmem, Memory, Rmem, Scalar, Smem, WgmmaA, WgmmaD
from exogpu.ir.walk import walk
from exogpu.verify.simulator.expr import Numbers


@dataclass(frozen=True, slots=True)
class Place:
    """A buffer of `ring` slots of `shape`; every `span` consecutive threads share a copy (0: all of a cluster do, since
    its CTAs are a dimension of shared memory).

    `asynchronous`: some instruction accesses it through another proxy than the generic one.
    """

    name: str
    dtype: Scalar
    memory: Memory
    shape: tuple[int, ...]
    ring: int
    span: int
    copies: int
    asynchronous: bool

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
    marked = _asynchronous(proc)
    out: dict[str, Place] = {}
    for name, info in buffers_of(proc).items():
        shape = tuple(evaluate(e, sizes) for e in info.shape)
        ring, span = 1, 0
        match info.memory:
            case Smem(ring=ring):
                pass
            case Rmem():
                span = 1
            case WgmmaD() | WgmmaA():
                span = WARP
            case Gmem():
                pass
        copies = proc.block.threads * proc.block.cluster // span if span else 1
        out[name] = Place(name, info.dtype, info.memory, shape, ring, span, copies, name in marked)
    return out


def _asynchronous(proc: Proc) -> set[str]:
    marked: set[str] = set()
    for call in walk(proc.body):
        if isinstance(call, InstrCall):
            for footprint in call.instr.footprints:
                window = call.operand(footprint.operand)
                if footprint.proxy is not Proxy.GENERIC and isinstance(window, Window):
                    marked.add(window.buffer)
    return marked
