"""Who moves next: random schedulers with a bent."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from exogpu.ir.collective import WARP
from exogpu.verify.simulator.barriers import Chosen
from exogpu.verify.simulator.cluster import Cluster
from exogpu.verify.simulator.outcome import Broken, Stuck, Violation

LIMIT = 2_000_000
"""Most steps of a run."""

BURST = 24
"""Most operations that threads perform before the scheduler thinks again, plus one."""


class Flying(enum.Enum):
    """When asynchronous operations perform their effects."""

    ANY = "any"
    LATE = "late"
    SOON = "soon"


class Favour(enum.Enum):
    """Whether one warp runs ahead of the others, or behind."""

    NONE = "none"
    AHEAD = "ahead"
    BEHIND = "behind"


@dataclass(frozen=True, slots=True, eq=False)
class Bent:
    """A strategy. `hold`: how likely a store stays unseen until a release; `split`: how likely the threads that stand
    at one operation do not move together."""

    flying: Flying
    favour: Favour
    hold: float
    split: float


BENTS = (
    Bent(Flying.LATE, Favour.NONE, 1.0, 0.0),
    Bent(Flying.SOON, Favour.AHEAD, 0.0, 0.0),
    Bent(Flying.LATE, Favour.BEHIND, 0.5, 0.3),
    Bent(Flying.ANY, Favour.NONE, 0.5, 0.5),
    Bent(Flying.SOON, Favour.BEHIND, 0.0, 0.5),
    Bent(Flying.LATE, Favour.AHEAD, 1.0, 0.2),
)


@dataclass(slots=True, eq=False)
class Scheduler:
    """Runs clusters side by side."""

    clusters: Sequence[Cluster]
    bent: Bent
    random: Random

    def run(self) -> None:
        """To the end of all clusters; raises Violation if one does not end, or does something wrong."""
        favoured = self.random.choice(self.clusters), self.random.randrange(len(self.clusters[0].at) // WARP)
        for _ in range(LIMIT):
            if self.bent.flying is Flying.SOON and self._fly():
                continue
            if self.bent.flying is Flying.ANY and self.random.random() < 0.3 and self._fly():
                continue
            if not self._step(*favoured) and not self._fly():
                break
            self._finish()
        else:
            raise Violation(Broken("the run does not come to an end"))
        waits = tuple(w for c in self.clusters for w in c.waits())
        if waits:
            raise Violation(Stuck(waits))

    def _finish(self) -> None:
        for cluster in self.clusters:
            if not cluster.standing and not cluster.ended:
                cluster.end()

    def _fly(self) -> bool:
        """Some operation in flight performs an effect."""
        flights = [(c, f) for c in self.clusters for f in c.flights]
        self.random.shuffle(flights)
        return any(c.fly(f) for c, f in flights)

    def _step(self, cluster: Cluster, warp: int) -> bool:
        """Some threads perform their next operation, and perhaps more."""
        for c, number, chosen in self._candidates(cluster, warp):
            if c.step(number, chosen):
                for _ in range(self.random.randrange(BURST)):
                    following = c.next_of(chosen[0])
                    if following is None or not c.step(following, [t for t in chosen if c.next_of(t) == following]):
                        break
                return True
        return False

    def _candidates(self, cluster: Cluster, warp: int) -> Iterator[tuple[Cluster, int, Chosen]]:
        """Threads that might move, the preferred ones first; nobody is left out for good."""
        everyone = [(c, n, list(threads)) for c in self.clusters for n, threads in c.standing.items()]
        self.random.shuffle(everyone)
        if self.bent.favour is Favour.NONE:
            yield from ((c, n, self._some(threads)) for c, n, threads in everyone)
        else:
            mine, others = [], []
            for c, n, threads in everyone:
                own = [t for t in threads if c is cluster and t // WARP == warp]
                rest = [t for t in threads if c is not cluster or t // WARP != warp]
                mine += [(c, n, own)] if own else []
                others += [(c, n, rest)] if rest else []
            ahead = self.bent.favour is Favour.AHEAD
            for c, n, threads in (*mine, *others) if ahead else (*others, *mine):
                yield c, n, self._some(threads)
        yield from everyone

    def _some(self, threads: Chosen) -> Chosen:
        """Those that move together now."""
        if self.random.random() >= self.bent.split or len(threads) == 1:
            return threads
        match self.random.randrange(3):
            case 0:
                return [self.random.choice(threads)]
            case 1:
                cut = self.random.randrange(1, len(threads))
                return threads[:cut] if self.random.random() < 0.5 else threads[cut:]
            case _:
                return [t for t in threads if self.random.random() < 0.5] or threads
