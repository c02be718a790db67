"""The state of an execution: strands, barriers, memory, asynchronous operations, and what everybody knows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple, NoReturn

from exogpu.ir.instr import Group
from exogpu.ir.skeleton.objects import Mbarriers
from exogpu.verify.explore.events import Event
from exogpu.verify.explore.exchange import Told
from exogpu.verify.explore.finding import Finding, Violation
from exogpu.verify.explore.flights import Flight, Groups
from exogpu.verify.explore.hints import Early, Hints, Late
from exogpu.verify.explore.knowledge import PLAIN, TEMPORAL, Clock, Knowledge, Mind, common, join, nothing
from exogpu.verify.explore.mbarriers import Key, Mbarrier
from exogpu.verify.explore.memory import Memory
from exogpu.verify.explore.program import Program, Strand
from exogpu.verify.explore.registers import Registers
from exogpu.verify.explore.rendezvous import Cluster, Named, Warp

RUNNING, WARP_WAITS, BARRIER_WAITS, ENDED, EXITED = range(5)
"""A strand: may move; has reached a statement of its whole warp; has joined a barrier; has come to its end."""


class Logged(NamedTuple):
    """A step: the strand, its event, what happened in a word, and a barrier with its state afterwards."""

    strand: int
    event: int
    what: str
    barrier: str = ""
    state: str = ""


class Met(NamedTuple):
    """An operation of a strand (of one lane of it, or of all) at an mbarrier met this phase in this life of it; or a
    join of a named barrier, this generation."""

    strand: int
    event: int
    lane: int | None
    key: Key
    phase: int
    life: int = 0


class Flag:
    """An integer in global memory, and what those tell who wrote it."""

    __slots__ = ("seen_by", "told", "value", "writers")

    def __init__(self) -> None:
        self.value = 0
        self.told = Told()
        self.writers: set[int] = set()
        self.seen_by: list[tuple[int, int]] = []


class Machine:
    """An execution. `axioms` in force; `lenient` names what is forgiven to find out what a fault is due to: "scope",
    "relaxed", "lanes", "depth", "thread"."""

    def __init__(self, program: Program, axioms: frozenset[str], lenient: frozenset[str] = frozenset()) -> None:
        strands = program.strands
        self.program, self.axioms, self.lenient = program, axioms, lenient
        self.rows, self.threads = program.rows, len(strands)
        self.minds = [Mind.blank(s.number, len(strands), program.rows.count) for s in strands]
        self.pc = [0] * len(strands)
        self.state = [RUNNING] * len(strands)
        self.started = set(range(program.skeleton.cluster)) if program.met else set[int]()
        self.ended: set[int] = set()
        self.mbarriers: dict[Key, Mbarrier] = {}
        self.last_phase: dict[tuple[int, Key], int] = {}
        self.named: defaultdict[tuple[int, int], Named] = defaultdict(Named)
        self.cluster = Cluster()
        self.unwaited = [False] * len(strands)
        self.flags: defaultdict[Key, Flag] = defaultdict(Flag)
        self.fenced = [(nothing(len(strands)),) * 2 for _ in strands]
        """What each strand's own memory fences cover, of CTA and of wider scope."""
        self.acquiring: defaultdict[int, list[tuple[Told, int]]] = defaultdict(list)
        self.memory = Memory()
        self.registers: defaultdict[Warp, Registers] = defaultdict(Registers)
        self.warpgroups: defaultdict[Warp, list[tuple[Event, int]]] = defaultdict(list)
        self.wgmmas: defaultdict[Warp, Counter[int]] = defaultdict(Counter)
        self.maxnregs: Counter[Warp] = Counter()
        self.flights: list[Flight] = []
        self.air: list[Flight] = []
        self.groups: defaultdict[tuple[int, Group], Groups] = defaultdict(Groups)
        self.warp_groups: defaultdict[Warp, Groups] = defaultdict(Groups)
        self.regs = dict.fromkeys(program.warps, program.skeleton.registers or 0)
        self.pool = dict.fromkeys(range(program.skeleton.cluster), 0)
        self.written: defaultdict[str, int] = defaultdict(int)
        self.remote: set[tuple[int, int, int]] = set()
        self.hints = Hints()
        self.mild: list[tuple[Finding, int]] = []
        self.log: list[Logged] = []
        self.observed: list[Met] = []
        self._start()

    def _start(self) -> None:
        p = self.program
        for o in p.skeleton.objects:
            if isinstance(o, Mbarriers):
                for cta in range(p.skeleton.cluster):
                    for cell in range(p.storage.size(o.name)):
                        b = self.mbarriers[cta, o.name, cell] = Mbarrier(
                            (cta, o.name, cell), self._barrier_name(o, cta, cell), nothing(self.threads)
                        )
                        if o.count is not None:
                            b.start(o.count, None)

    def _barrier_name(self, o: Mbarriers, cta: int, cell: int) -> str:
        """As the user writes it, with its CTA if there are several."""
        name = self.program.storage.text(o.name, 1 << cell)
        return name if self.program.skeleton.cluster == 1 else f"{name} of CTA {cta}"

    def event(self, s: Strand) -> Event:
        """The strand's next event."""
        return s.events[self.pc[s.number]]

    def strands(self, warp: Warp) -> tuple[Strand, ...]:
        """The strands of a warp."""
        return tuple(self.program.strands[n] for n in self.program.warps[warp])

    def alive(self, warp: Warp) -> tuple[Strand, ...]:
        """Those that have not exited."""
        return tuple(s for s in self.strands(warp) if self.state[s.number] != EXITED)

    # -- findings ----------------------------------------------------------------------------------------------------

    def fail(self, finding: Finding) -> NoReturn:
        """Ends the execution."""
        raise Violation(finding)

    def note(self, s: Strand, what: str, barrier: str = "", state: str = "", index: int = -1) -> None:
        """Adds a step to the log, of the strand's current event or the event `index`."""
        self.log.append(Logged(s.number, self.pc[s.number] if index < 0 else index, what, barrier, state))

    def mention(self, finding: Finding) -> None:
        """Goes on with a fault that is found once."""
        if not any(f.rule == finding.rule and f.span == finding.span for f, _ in self.mild):
            self.mild.append((finding, len(self.log)))

    # -- knowledge ---------------------------------------------------------------------------------------------------

    def enter(self, s: Strand) -> Mind:
        """The strand executes its current event: what it knows, that included."""
        mind = self.minds[s.number]
        mind.advance(self.pc[s.number] + 1)
        return mind

    def publish(self, s: Strand) -> Knowledge:
        """What the strand's lanes tell now, the current event included."""
        mind = self.enter(s)
        if "lanes" not in self.lenient:
            return mind.published()
        return self.together(self.program.warps[s.cta, s.warp])

    def together(self, strands: Iterable[int]) -> Knowledge:
        """What these strands know together."""
        found: Knowledge | None = None
        for n in strands:
            mine = self.minds[n].published()
            found = mine if found is None else join(found, mine)
        assert found is not None
        return found

    def in_common(self, strands: Iterable[int]) -> Knowledge:
        """What each of their lanes knows: an operation of a warp publishes nothing from lane to lane."""
        minds = ((self.minds[n], self.program.strands[n].weight) for n in strands)
        each = [mind.published() if weight == 1 else mind.shared for mind, weight in minds]
        return tuple(reduce(common, rows) for rows in zip(*each, strict=True))

    def temporal(self, s: Strand) -> Clock:
        """What certainly happened before, for each lane of the strand."""
        mind = self.minds[s.number]
        return mind.published_row(TEMPORAL) if s.weight == 1 else mind.shared[TEMPORAL]

    # -- other orders ------------------------------------------------------------------------------------------------

    def early(self, s: Strand, since: Clock) -> None:
        """The strand's event could come before all of that has happened."""
        self._early(s, self.pc[s.number], self.minds[s.number].published_row(TEMPORAL), since, flight=False)

    def early_flight(self, f: Flight, since: Clock) -> None:
        """The end of an operation could."""
        self._early(self.program.strands[f.actor], f.index, f.knew, since, flight=True)

    def _early(self, s: Strand, index: int, cut: Clock, since: Clock, *, flight: bool) -> None:
        over = frozenset((f.actor, f.index) for f in self.flights if cut.over & f.bit)
        missing = (n for n, (have, had) in enumerate(zip(cut.seen, since.seen, strict=True)) if have < had)
        hint = Early(s.number, index, cut.seen, over, frozenset(missing) - {s.number}, flight)
        self.hints.add(hint, (s.role.name, s.cta, s.events[index].path, flight))

    def late(self, strand: int, pos: int, *, flight: bool = False) -> None:
        """A strand's event, the `pos`-th, or the operation that it starts could come later."""
        s = self.program.strands[strand]
        self.hints.add(Late(strand, pos - 1, flight), (s.role.name, s.cta, s.events[pos - 1].path, flight))

    # -- operations that are over ------------------------------------------------------------------------------------

    def over(self, bits: int, read: int = 0) -> Clock:
        """Operations that are over, as knowledge."""
        return nothing(self.threads)._replace(over=bits, read=bits | read)

    def learn_over(self, strands: Iterable[int], bits: int) -> None:
        """Strands know that operations are over."""
        clock = self.over(bits)
        for n in strands:
            for row in (PLAIN, TEMPORAL):
                self.minds[n].learn_row(row, clock)
