"""Names of inferred barriers: those that the kernel gives to barriers of the same use, else fresh ones."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.completion import completes_on
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Arrive, Await, InstrCall
from exogpu.sync.nodes import Touch, nodes, touches
from exogpu.sync.plan import Names
from exogpu.sync.rings import Naming, Ring

FULL, EMPTY, TURN = "full", "empty", "turn"
Roles = frozenset[str]


class _Uses:
    """Which roles arrive on and wait for the barriers of a kernel, and which buffers are filled under them."""

    def __init__(self, proc: Proc) -> None:
        self.names = [b.name for b in proc.barriers]
        self._arriving: dict[str, set[str]] = {name: set() for name in self.names}
        self._awaiting: dict[str, set[str]] = {name: set() for name in self.names}
        self._filled: dict[str, str] = {}
        found = nodes(proc)
        for node in found:
            role = node.role[0] if node.role else ""
            match node.stmt:
                case Arrive(barrier) if barrier in self._arriving:
                    self._arriving[barrier].add(role)
                case Await(barrier) if barrier in self._awaiting:
                    self._awaiting[barrier].add(role)
                case _:
                    pass
        for touch in touches(found):
            if touch.landing and isinstance(touch.node.stmt, InstrCall):
                self._filled[touch.buffer] = completes_on(touch.node.stmt) or ""

    def wishes(self, kind: str, ring: Ring) -> Iterator[str]:
        """Barriers of the kernel that a ring may use, the likeliest first."""
        writers, readers = _roles(ring.writes), _roles(ring.reads)
        if kind == FULL:
            filled = {self._filled.get(t.buffer) for t in ring.writes}
            yield from (name for name in self.names if name in filled)
        ends = {FULL: (writers, readers), EMPTY: (readers, writers), TURN: (readers, readers)}[kind]
        for one_side in (False, True):
            for name in self.names:
                arrives, awaits = self._arriving[name], self._awaiting[name]
                matches = (
                    arrives & ends[0] or (one_side and not arrives),
                    awaits & ends[1] or (one_side and not awaits),
                )
                if all(matches) and (arrives or awaits):
                    yield name


def _roles(side: tuple[Touch, ...]) -> Roles:
    return frozenset(t.node.role[0] if t.node.role else "" for t in side)


def naming(original: Proc, bare: Proc) -> Naming:
    """Names for the barriers of a bare kernel, given the kernel as it was; each is used once."""
    uses, names, taken = _Uses(original), Names.of(bare), set[str]()

    def name(kind: str, ring: Ring) -> str:
        found = next((n for n in uses.wishes(kind, ring) if n not in taken), None)
        while found is None or found in taken:
            found = names.fresh(kind)
        taken.add(found)
        return found

    return name
