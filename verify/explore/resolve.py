"""An operation with its operands as numbers, and what is wrong with it whatever other threads do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exogpu.ir.collective import WARP
from exogpu.ir.index import Index
from exogpu.ir.skeleton.objects import Flags, Global, Ref
from exogpu.ir.skeleton.operations import (
    Access,
    Arrive,
    Await,
    BarSync,
    Check,
    CopyArrive,
    CpAsync,
    Expect,
    Init,
    Inval,
    Operation,
    SetMaxnreg,
    Signal,
    Spin,
    StAsync,
    TmaLoad,
    TmaStore,
    Wgmma,
)
from exogpu.verify.explore.events import Event, Path, Problem, Window
from exogpu.verify.explore.outcome import Excessive
from exogpu.verify.explore.storage import EVERYWHERE, OutOfBounds

if TYPE_CHECKING:
    from exogpu.verify.explore.trace import Walk

MOST_BYTES = (1 << 20) - 1
"""Pending bytes of a phase (PTX ISA, mbarrier: tx-count)."""
NAMED_BARRIERS = 16
"""Of a CTA (PTX ISA, bar)."""


def resolve(walk: Walk, op: Operation, path: Path) -> Event:
    """The event of a class of threads; raises Split if they differ in more than their footprints, and Excessive for
    what has no meaning here."""
    return Resolution(walk, op).event(path)


class Resolution:
    """One operation of a walk, with the first problem found."""

    def __init__(self, walk: Walk, op: Operation) -> None:
        self.walk = walk
        self.op = op
        self.problem: Problem | None = None

    def event(self, path: Path) -> Event:
        """The event."""
        barriers, windows = self._barriers(), self._windows()
        number = self._number()
        storage = self.walk.setting.storage
        shown = storage.text(barriers[0][1], 1 << barriers[0][2]) if barriers else "?"
        return Event(self.op, path, self.walk.iteration, barriers, shown, number, windows, self.problem)

    def _wrong(self, rule: str, message: str, label: str) -> None:
        if self.problem is None:
            self.problem = Problem(rule, message, label)

    # -- barriers ----------------------------------------------------------------------------------------------------

    def _barriers(self) -> tuple[tuple[int, str, int], ...]:
        match self.op:
            case TmaLoad(barrier=b, multicast=targets) if targets is not None:
                return tuple(entry for cta in self._masked(targets) for entry in self._named(b, cta))
            case TmaLoad(dst=dst, barrier=b) | StAsync(dst=dst, barrier=b):
                if self.walk.cta_of(dst) != self.walk.cta_of(b):
                    self._wrong(
                        "cluster.remote_op", "a copy completes on a barrier of another CTA", "not beside its data"
                    )
                return self._named(b, self.walk.cta_of(b))
            case Arrive(barrier=b) | Expect(barrier=b):
                return self._named(b, self.walk.cta_of(b))
            case Await(barrier=b) | Init(barrier=b) | Inval(barrier=b) | CopyArrive(barrier=b):
                self._own(b, "mbarrier")
                return self._named(b, self.walk.cta_of(b))
            case Signal(flag=f) | Spin(flag=f):
                return self._named(f, EVERYWHERE)
            case _:
                return ()

    def _masked(self, targets: tuple[Index, ...]) -> list[int]:
        """The CTAs of a multicast; one that is named twice is one bit of the mask."""
        return list(dict.fromkeys(self.walk.index(t) for t in targets))

    def _named(self, ref: Ref, cta: int) -> tuple[tuple[int, str, int], ...]:
        """The barriers (flags) of a reference, in the CTA."""
        self._alive(ref, cta)
        mask = self.walk.same_cells(ref)
        if isinstance(mask, OutOfBounds):
            self._outside(mask)
            return ()
        cells = [n for n in range(mask.bit_length()) if mask >> n & 1]
        if len(cells) > 1 and not isinstance(self.op, Init | Inval):
            raise Excessive(f"an operation on several elements of {ref.name} at once")
        return tuple((cta, ref.name, n) for n in cells)

    def _own(self, ref: Ref, what: str) -> None:
        if self.walk.cta_of(ref) != self.walk.cta:
            kind = type(self.op).__name__.lower()
            message = f"{kind} of `{ref.name}` in another CTA"
            self._wrong("cluster.remote_op", message, f"only on the own CTA's {what}")

    def _alive(self, ref: Ref, cta: int) -> None:
        everywhere = isinstance(self.walk.setting.storage.objects[ref.name], Global | Flags)
        if not everywhere and not 0 <= cta < self.walk.setting.skeleton.cluster:
            self._wrong("bounds", f"`{ref.name}` of CTA {cta}, which the cluster does not have", "no such CTA")

    def _outside(self, found: OutOfBounds) -> None:
        message = f"index {found.index} of `{found.name}` is outside dimension {found.dim}, which has {found.extent}"
        self._wrong("bounds", message, "outside its object")

    # -- memory ------------------------------------------------------------------------------------------------------

    def _windows(self) -> tuple[Window, ...]:
        match self.op:
            case Access(ref=ref):
                return (self._window(ref, self.walk.cta_of(ref)),)
            case TmaLoad(dst=dst, multicast=targets, src=src):
                ctas = [self.walk.cta_of(dst)] if targets is None else self._masked(targets)
                return (*(self._window(dst, cta) for cta in ctas), *self._optional(src))
            case StAsync(dst=dst):
                return (self._window(dst, self.walk.cta_of(dst)),)
            case TmaStore(src=src, dst=to):
                self._own(src, "shared memory")
                return (self._window(src, self.walk.cta), *self._optional(to))
            case CpAsync(dst=dst, src=src):
                self._own(dst, "shared memory")
                return (self._window(dst, self.walk.cta), *self._optional(src))
            case Wgmma(acc=acc, operands=operands):
                return tuple(self._window(r, self.walk.cta) for r in (acc, *operands))
            case Init(barrier=b) | Inval(barrier=b):
                return (self._window(b, self.walk.cta),)
            case _:
                return ()

    def _optional(self, ref: Ref | None) -> tuple[Window, ...]:
        return () if ref is None else (self._window(ref, self.walk.cta_of(ref)),)

    def _window(self, ref: Ref, cta: int) -> Window:
        self._alive(ref, cta)
        storage = self.walk.setting.storage
        first = storage.roots[ref.name][1]
        found: list[int] = []
        for mask in self.walk.cells(ref):
            if isinstance(mask, OutOfBounds):
                self._outside(mask)
            found.append(0 if isinstance(mask, OutOfBounds) else mask << first)
        space = storage.space(ref.name, cta)
        return Window(ref, space, found[0] if len(found) == 1 or len(set(found)) == 1 else tuple(found))

    # -- numbers -----------------------------------------------------------------------------------------------------

    def _number(self) -> int:
        match self.op:
            case TmaLoad(tx=e) | StAsync(tx=e) | Expect(tx=e):
                return self._bytes(self.walk.index(e))
            case Arrive(tx=e):
                return 0 if e is None else self._bytes(self.walk.index(e))
            case Await(parity=e):
                return self.walk.index(e) % 2
            case Signal(value=e) | Spin(value=e):
                return self.walk.index(e)
            case BarSync():
                return self._named_barrier(self.op)
            case SetMaxnreg(registers=n):
                if n % 8 or not 24 <= n <= 256:
                    self._wrong("setmaxnreg.pool", f"setmaxnreg to {n} registers", "a multiple of 8 from 24 to 256")
                return n
            case Check(cond, text):
                if not self.walk.truth(cond):
                    self._wrong("seq.mismatch", f"the check does not hold: {text}", "false here")
                return 0
            case _:
                return 0

    def _bytes(self, value: int) -> int:
        if not 0 <= value <= MOST_BYTES:
            self._wrong("mbar.tx_bytes", f"{value} bytes in one phase", f"0 to {MOST_BYTES} bytes")
        return value

    def _named_barrier(self, op: BarSync) -> int:
        number, count = self.walk.index(op.id), op.count
        if not 0 <= number < NAMED_BARRIERS:
            self._wrong("bar.ids", f"barrier {number}: a CTA has barriers 0 to 15", "no such barrier")
        if count is not None and (count <= 0 or count % WARP):
            self._wrong("bar.count", f"barrier {number} for {count} threads", "a positive multiple of 32")
        return number
