"""Contents of buffers as threads and asynchronous operations see them.

A thread's store may stay its own until it releases (Arrive, Fence, a proxy fence, its end); the async proxy has a view
of its own, which follows ordinary accesses only at a fence. Elements that were accessed since are `unfenced`: an
asynchronous write must not meet them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from exogpu.ir.arrays import Numbers, Truths
from exogpu.ir.instr import Proxy
from exogpu.ir.numeric import Array, compute_dtype, convert, poison
from exogpu.ir.types import Gmem, Smem
from exogpu.verify.simulator.clocks import Knowledge, Monitor, Shadow, Touch
from exogpu.verify.simulator.layout import Place
from exogpu.verify.simulator.moves import Access, Move
from exogpu.verify.simulator.outcome import Race, Violation

MOST_HELD = 1 << 21
"""Buffers with more elements times threads show every store at once."""

Which = Numbers | slice
"""Which lanes of a movement."""


@dataclass(slots=True, eq=False)
class Contents:
    """One buffer: `data` as threads see it, `behind` as the async proxy does (the same array where nobody asks).

    `held` marks the stores of each thread that others do not see yet, `mine` has their values; made when needed.
    `shadow` accounts for accesses, if anybody does. Of storage that is shared, `owner` has the buffer that has written
    each cell last; `mark` is this one.
    """

    place: Place
    threads: int
    data: Array
    behind: Array
    unfenced: Truths
    held: Truths | None = None
    mine: Array | None = None
    shadow: Shadow | None = None
    owner: Numbers | None = None
    mark: int = 0

    @classmethod
    def of(cls, place: Place, threads: int, data: Array | None = None) -> Contents:
        """Fresh contents, or those of an argument, for this many threads that access them."""
        if data is None:
            data = np.full(place.total, poison(place.dtype), compute_dtype(place.dtype))
        behind = data.copy() if place.asynchronous else data
        return cls(place, threads, data, behind, np.zeros(place.total, np.bool_))

    @property
    def can_hold(self) -> bool:
        """Whether stores to it can be held back."""
        return isinstance(self.place.memory, Gmem | Smem) and self.threads * self.place.total <= MOST_HELD

    # -- ordinary accesses -------------------------------------------------------------------------------------------

    def load(self, positions: Numbers, threads: Numbers) -> Array:
        """What these threads see."""
        if self.place.asynchronous:
            self.unfenced[positions] = True
        seen = self.kept(positions, self.data)
        if self.held is None or self.mine is None:
            return seen
        return np.where(self.held[threads, positions], self.mine[threads, positions], seen)

    def kept(self, positions: Numbers, view: Array) -> Array:
        """Elements of a view; what a buffer that shares the storage has written over is gone."""
        if self.owner is None or self.place.cells is None:
            return view[positions]
        owner = self.owner[self.place.cells.of(positions)].reshape(len(positions), -1)
        return np.where((owner == self.mark).all(axis=1), view[positions], poison(self.place.dtype)).astype(view.dtype)

    def claim(self, positions: Numbers) -> None:
        """These elements are written."""
        if self.owner is not None and self.place.cells is not None:
            self.owner[self.place.cells.of(positions)] = self.mark

    def store(self, positions: Numbers, threads: Numbers, values: Array, *, hold: bool) -> None:
        """A store of these threads, for all to see or held back."""
        if hold and self.can_hold:
            if self.held is None or self.mine is None:
                self.held = np.zeros((self.threads, self.place.total), np.bool_)
                self.mine = np.zeros((self.threads, self.place.total), self.data.dtype)
            self.held[threads, positions] = True
            self.mine[threads, positions] = values
            return
        if self.held is not None:
            self.held[threads, positions] = False
        self.claim(positions)
        self.data[positions] = values
        self.unfenced[positions] = True

    def release(self, threads: Numbers) -> None:
        """The held stores of these threads become visible."""
        if self.held is None or self.mine is None:
            return
        rows, found = np.nonzero(self.held[threads])
        if len(rows):
            self.claim(found)
            self.data[found] = self.mine[threads[rows], found]
            self.unfenced[found] = True
            self.held[threads] = False

    # -- other proxies -----------------------------------------------------------------------------------------------

    def fence(self, part: Which = slice(None)) -> None:
        """The other proxy catches up with the ordinary accesses."""
        if self.place.asynchronous:
            np.copyto(self.behind[part], self.data[part], where=self.unfenced[part])
            self.unfenced[part] = False

    def meet(self, positions: Numbers, what: str) -> None:
        """An asynchronous write of `what` must find ordinary accesses fenced; raises Violation."""
        if self.unfenced[positions].any():
            text = f"{what} writes `{self.place.name}` where an ordinary access has no fence behind it"
            raise Violation(Race(text))

    def deliver(self, positions: Numbers, values: Array, *, adds: bool) -> None:
        """An asynchronous write, visible to all."""
        if adds:
            np.add.at(self.behind, positions, values)
            values = convert(self.behind[positions], self.place.dtype)
        self.claim(positions)
        self.behind[positions] = values
        self.data[positions] = values


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The buffers of a cluster. Global ones are shared with the other clusters: there its threads begin at `base`. The
    monitor, if there is one, looks for unordered accesses."""

    contents: Mapping[str, Contents]
    base: int
    monitor: Monitor | None = None

    def _rows(self, contents: Contents, threads: Numbers) -> Numbers:
        return threads + self.base if isinstance(contents.place.memory, Gmem) else threads

    def execute(self, move: Move, which: Which, what: str, *, hold: bool) -> None:
        """Threads perform some lanes of a movement; raises Violation if the monitor sees a race."""
        threads, at = move.threads[which], move.positions[which]
        values = self.values(move, which, asynchronous=False, what=what)
        target = self.contents[move.place.name]
        rows = self._rows(target, threads)
        if self.monitor is not None and target.shadow is not None:
            if move.adds and not move.commutes:
                self.monitor.load(target.shadow, *_cells(target.place, at, threads + self.base), what)
            cells, by = _cells(target.place, at, threads + self.base)
            self.monitor.store(target.shadow, cells, by, what, commutes=move.commutes)
        if move.adds and move.gathers:
            np.add.at(target.data, at, values)
            target.store(at, rows, convert(target.data[at], move.place.dtype), hold=False)
            return
        if move.adds:
            values = target.load(at, rows) + values
        target.store(at, rows, np.broadcast_to(convert(values, move.place.dtype), at.shape), hold=hold)

    def values(self, move: Move, which: Which, *, asynchronous: bool, what: str = "") -> Array:
        """What some lanes of a movement compute from what they read now."""
        threads = move.threads[which]

        def fetch(access: Access) -> Array:
            source = self.contents[access.place.name]
            at = access.positions[which]
            if asynchronous and move.proxy(source.place) is not Proxy.GENERIC:
                return source.kept(at, source.behind)
            if asynchronous:
                source.unfenced[at] = True
                return source.kept(at, source.data)
            under = slice(None) if access.under is None else access.under[which]
            if self.monitor is not None and source.shadow is not None:
                self.monitor.load(source.shadow, *_cells(source.place, at[under], threads[under] + self.base), what)
            if access.under is None:
                return source.load(at, self._rows(source, threads))
            out: Array = np.zeros(at.shape, source.data.dtype)
            out[under] = source.load(at[under], self._rows(source, threads[under]))
            return out

        return move.compute(fetch, lambda array: array[which])

    def start(self, move: Move, which: Which, number: int, known: Knowledge, issuer: int, what: str) -> None:
        """An asynchronous operation of a thread is about to perform some lanes of a movement; raises Violation if the
        monitor sees that this may meet another access."""
        monitor = self.monitor
        if monitor is None:
            return

        def fetch(access: Access) -> Array:
            source = self.contents[access.place.name]
            at = access.positions[which]
            if source.shadow is not None:
                under = slice(None) if access.under is None else access.under[which]
                proxy = move.proxy(source.place)
                monitor.touch(
                    source.shadow, Touch(number, False, proxy), _at(source.place, at[under]), known, issuer, what
                )
            return source.behind[at]

        move.compute(fetch, lambda array: array[which])
        target = self.contents[move.place.name]
        if target.shadow is not None:
            touch = Touch(number, True, move.proxy(move.place), move.commutes)
            at = _at(target.place, move.positions[which])
            monitor.touch(target.shadow, touch, at, known, issuer, what)

    def deliver(self, move: Move, which: Which, values: Array, what: str) -> None:
        """An asynchronous operation writes some lanes of a movement."""
        target, at = self.contents[move.place.name], move.positions[which]
        found = values if move.adds else convert(values, move.place.dtype)
        if move.proxy(move.place) is Proxy.GENERIC:
            target.claim(at)
            target.data[at] = found
            target.unfenced[at] = True
            return
        target.meet(at, what)
        target.deliver(at, np.broadcast_to(found, at.shape), adds=move.adds)

    def release(self, threads: Numbers) -> None:
        """Everything that these threads stored becomes visible."""
        for contents in self.contents.values():
            if contents.held is not None:
                contents.release(self._rows(contents, threads))

    def proxy_fence(self, *, everywhere: bool) -> None:
        """The async proxy catches up, in shared memory or in all."""
        for contents in self.contents.values():
            if isinstance(contents.place.memory, Smem) or (everywhere and isinstance(contents.place.memory, Gmem)):
                contents.fence()

    def register_fence(self, warps: Iterable[int]) -> None:
        """Asynchronous register accesses of these warps catch up."""
        for contents in self.contents.values():
            place = contents.place
            if not isinstance(place.memory, Gmem | Smem):
                copy = place.total // place.copies
                for warp in warps:
                    first, end = (t // place.span for t in (32 * warp, 32 * warp + 31))
                    contents.fence(slice(first * copy, (end + 1) * copy))

    def vanish(self, cta: int, ctas: int, threads: range) -> None:
        """The shared memory of one of the CTAs, their first dimension, is gone with its threads; raises Violation."""
        for contents in self.contents.values():
            place = contents.place
            if isinstance(place.memory, Smem):
                if self.monitor is not None and contents.shadow is not None:
                    part = np.arange(place.total).reshape(place.ring, ctas, -1)[:, cta].reshape(-1)
                    self.monitor.end(contents.shadow, _at(place, part), [t + self.base for t in threads])
                for view in (contents.data, contents.behind):
                    view.reshape(place.ring, ctas, -1)[:, cta] = poison(place.dtype)

    def forget(self, place: Place, threads: Numbers) -> None:
        """A fresh allocation in registers of these threads."""
        contents = self.contents[place.name]
        copy = place.total // place.copies
        for n in np.unique(threads // place.span):
            part = slice(int(n) * copy, (int(n) + 1) * copy)
            contents.data[part] = contents.behind[part] = poison(place.dtype)
            contents.unfenced[part] = True


def _at(place: Place, positions: Numbers) -> Numbers:
    """Where elements are accounted for: their cells in shared storage."""
    return positions if place.cells is None else place.cells.of(positions)


def _cells(place: Place, positions: Numbers, threads: Numbers) -> tuple[Numbers, Numbers]:
    """The same with the thread that accesses each."""
    return _at(place, positions), threads if place.cells is None else np.repeat(threads, place.cells.width)
