"""How two synchronisations of one bare kernel differ, as changes that can be made one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TypeVar

from exogpu.ir.proc import BarrierDecl, NamedBarrier, Proc
from exogpu.ir.stmt import Block, Stmt
from exogpu.ir.walk import children, with_blocks
from exogpu.sync.plan import unnamed
from exogpu.verify.edits import only_synchronises

Chosen = Callable[[int], bool]
"""Whether the change of a number is to be made."""
D = TypeVar("D", BarrierDecl, NamedBarrier)


@dataclass(frozen=True, slots=True)
class Changes:
    """From `before` to `after`, which have the same data statements, in `count` changes numbered from 0; `removals` are
    those that only take statements out, `additions` those that only put some in."""

    before: Proc
    after: Proc
    count: int
    removals: frozenset[int]
    additions: frozenset[int]

    def made(self, chosen: frozenset[int]) -> Proc:
        """The kernel with some of the changes."""
        return _Mixture(lambda n: n in chosen).proc(self.before, self.after)


def changes(before: Proc, after: Proc) -> Changes:
    """The changes between two kernels with the same data statements."""
    mixture = _Mixture(lambda n: True)
    mixture.proc(before, after)
    return Changes(before, after, mixture.seen, frozenset(mixture.removals), frozenset(mixture.additions))


class _Mixture:
    """Numbers the changes in the order of the text, and makes those that are chosen."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self.seen = 0
        self.removals: list[int] = []
        self.additions: list[int] = []

    def proc(self, before: Proc, after: Proc) -> Proc:
        barriers = self._declared(before.barriers, after.barriers)
        named = self._declared(before.named, after.named)
        return replace(before, barriers=barriers, named=named, body=self._block(before.body, after.body))

    def _take(self, *, removes: bool = False, adds: bool = False) -> bool:
        self.removals += [self.seen] * removes
        self.additions += [self.seen] * adds
        self.seen += 1
        return self._chosen(self.seen - 1)

    def _declared(self, before: tuple[D, ...], after: tuple[D, ...]) -> tuple[D, ...]:
        old: dict[str, D] = {d.name: d for d in before}
        new: dict[str, D] = {d.name: d for d in after}
        out: list[D] = []
        for name in dict.fromkeys((*old, *new)):
            kept = old.get(name)
            if old.get(name) != new.get(name) and self._take(adds=name not in old):
                kept = new.get(name) and replace(new[name], span=old[name].span if name in old else new[name].span)
            out += [kept] if kept is not None else []
        return tuple(out)

    def _block(self, before: Block, after: Block) -> Block:
        """Data statements correspond one to one; between them stands synchronisation."""
        out: list[Stmt] = []
        old, new = _gaps(before), _gaps(after)
        for (gap, stmt), (other_gap, other) in zip(old, new, strict=True):
            out += self._gap(gap, other_gap)
            if stmt is not None and other is not None:
                out.append(self._data(stmt, other))
        return tuple(out)

    def _gap(self, before: Block, after: Block) -> Iterator[Stmt]:
        a, b = ([unnamed(s) for s in block] for block in (before, after))
        for kind, i, j, k, m in SequenceMatcher(a=a, b=b, autojunk=False).get_opcodes():
            if kind == "equal" or not self._take(removes=kind == "delete", adds=kind == "insert"):
                yield from before[i:j]
            else:
                yield from after[k:m]

    def _data(self, before: Stmt, after: Stmt) -> Stmt:
        blocks = [self._block(a, b) for a, b in zip(children(before), children(after), strict=True)]
        if blocks:
            return with_blocks(before, blocks)
        return after if before != after and self._take() else before


def _gaps(block: Block) -> list[tuple[Block, Stmt | None]]:
    """Every data statement with the synchronisation before it, and what is left at the end."""
    out: list[tuple[Block, Stmt | None]] = []
    gap: list[Stmt] = []
    for stmt in block:
        if only_synchronises(stmt):
            gap.append(stmt)
        else:
            out.append((tuple(gap), stmt))
            gap = []
    return [*out, (tuple(gap), None)]
