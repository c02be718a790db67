"""Memory-model axioms: readings of the PTX ISA where it is silent or contradicts practice.

A proof lists those that its edges use. `Policy` says which may be used: every axiom that is assumed by default, less
those withdrawn, plus those accepted on request. `strict` withdraws the axioms that a kernel can do without, because
the ISA leaves it another form that is safe by the letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axiom:
    """One reading. `isa`: what the PTX ISA says; `reading`: what is taken to hold; `alternative`: what a kernel writes
    to do without it (empty if the hardware offers nothing else); `assumed`: in force unless withdrawn; `rules`: the
    diagnostics whose proofs may use it; `alias`: a name for the command line."""

    name: str
    title: str
    isa: str
    reading: str
    alternative: str
    assumed: bool
    rules: tuple[str, ...]
    alias: str = ""


AXIOMS = (
    Axiom(
        "F1",
        "a wgmma fence is taken to order a wgmma in flight before one of another shape on the same registers",
        "The text of wgmma.fence asks for it between two wgmmas of different shapes on one accumulator; that of "
        "wgmma.wait_group leaves every access to the registers of a wgmma in flight undefined.",
        "A wgmma_fence between the two orders their accesses to the accumulator, as it orders those of a thread.",
        "wgmma_commit() and wgmma_wait(0) between the two, before the wgmma_fence().",
        True,
        ("wgmma.reg_fence",),
    ),
    Axiom(
        "F5",
        "each warp of a warpgroup is taken to read its own rows of a wgmma's first operand in shared memory",
        "wgmma.mma_async is one operation of all four warps of a warpgroup; the ISA does not say which of them reads "
        "what of an operand in shared memory.",
        "Warp w reads rows 16 w to 16 w + 15 of the first operand, whose product it holds, so what it has itself "
        "written there needs no barrier of the warpgroup.",
        "A Fence() of the warpgroup between the last access to the operand by another warp and the wgmma, and between "
        "the wgmma_wait and the next access.",
        True,
        ("race.raw", "race.war", "proxy.generic_to_async", "smem.reuse"),
    ),
    Axiom(
        "F6",
        "a wgmma is taken to start after the waits that its thread passed before",
        "PTX ISA 8.9.1.1: asynchronous operations start after the prior instructions of their thread, except "
        "wgmma.mma_async, for which program order alone orders nothing.",
        "An mbarrier wait or a thread barrier that a thread has passed orders the shared-memory reads of the wgmma "
        "that it issues afterwards, as every published kernel relies on.",
        "",
        True,
        ("race.raw", "proxy.generic_to_async"),
    ),
    Axiom(
        "L1",
        "a proxy fence on the side of the thread that issues the asynchronous operation is taken to suffice",
        "fence.proxy.async orders accesses of different proxies along the causality order; the ISA does not say in "
        "which thread of the path it must be executed.",
        "A fence after the synchronisation with the writer, in the same CTA, orders the writer's ordinary accesses "
        "as well as a fence in the writing thread would.",
        "Every thread that made ordinary accesses executes fence_proxy_async() itself, after them and before the "
        "barrier that hands the memory on.",
        True,
        ("proxy.generic_to_async", "fence.state_space"),
    ),
    Axiom(
        "L3",
        "an arrive of CTA scope on another CTA's barrier is taken to synchronise with its waiters",
        "PTX ISA 8.7: two operations synchronise only if the scope of each includes the other's thread; an mbarrier "
        "counts arrivals of any scope.",
        "A remote arrive of CTA scope publishes what its thread did before, as CUTLASS assumes.",
        "Arrive and wait with cluster scope on barriers that other CTAs arrive on. exogpu emits nothing else, so no "
        "proof uses this axiom.",
        False,
        ("mbar.scope",),
    ),
    Axiom(
        "L4",
        "asynchronous operations of two CTAs of a cluster are taken to be ordered by what orders their threads",
        "PTX ISA 8.9.5: proxy-preserved causality relates operations of one proxy within one CTA only.",
        "Waits and arrives order asynchronous operations of different CTAs, as every multicast pipeline relies on. To "
        "overwrite shared memory it is enough that the operations that used it have certainly ended before, so a "
        "relaxed arrive may say so, and arrive and wait may be of any scope.",
        "",
        True,
        ("race.raw", "race.war", "race.waw"),
    ),
    Axiom(
        "L5",
        "the end of a wgmma group is taken to include the reads of its shared-memory operands",
        "The wait for a wgmma group completes all its operations; the ISA does not name the reads of the operands "
        "separately.",
        "When wgmma_wait returns, the operands of the group's wgmmas have been read and may be overwritten.",
        "",
        True,
        ("race.war", "race.async_inflight"),
    ),
    Axiom(
        "L6",
        "the hardware is taken to drain the bulk stores that are in flight when a CTA ends",
        "The source of a bulk copy must stay valid until it has been read; the ISA does not say what the end of the "
        "CTA does to a copy in flight.",
        "A CTA may end while its bulk stores still read its shared memory.",
        "Wait before the end: bulk_wait_read(0) in the thread that committed the stores.",
        False,
        ("race.async_inflight",),
        "store-at-exit",
    ),
    Axiom(
        "L7",
        "the bytes of a copy are taken to be visible to every thread that waits for their phase",
        "The completion of a bulk copy has release semantics at cluster scope; the ISA does not say to which thread "
        "it belongs, hence neither which scope an acquiring wait needs.",
        "An acquiring wait of any scope receives the bytes of the copies that completed the phase.",
        "",
        True,
        ("race.raw", "race.waw"),
    ),
    Axiom(
        "L10",
        "a phase that is certainly complete is taken to have been observed",
        "PTX ISA, mbarrier: a successful wait for a phase comes before every arrive for the next one.",
        "An arrive may also come when all arrivals and copies of the phase before in its slot have come, though no "
        "thread has waited for it.",
        "Some thread waits for every phase, and the arrives for the next phase in its slot come after the wait.",
        True,
        ("mbar.unobserved_phase",),
    ),
    Axiom(
        "L11",
        "that an operation has certainly happened earlier is taken to suffice for counting phases",
        "PTX ISA 8.9.1.1: the completion of an asynchronous operation publishes only its own accesses, so by the "
        "letter nothing orders a peer's wait before the arrive that follows a multicast copy of that peer.",
        "Arrivals, phases and parities need temporal order only, which runs through the issue and the completion of "
        "asynchronous operations, too.",
        "",
        True,
        ("mbar.unobserved_phase", "mbar.parity_alias"),
    ),
    Axiom(
        "L12",
        "one warp's wait for a wgmma group is taken to cover the operations of its whole warpgroup",
        "wgmma.wait_group makes the executing threads wait for their groups; the ISA does not say that the parts of "
        "the other three warps are complete.",
        "When wgmma_wait returns in one warp, the wgmmas of the group are complete in all four warps, so one thread "
        "may release a slot for its warpgroup, as in CUTLASS.",
        "One arrive per warp, or a Fence() of the warpgroup before a single arrive.",
        False,
        ("mbar.lane_release", "race.war"),
        "warpgroup-wait",
    ),
    Axiom(
        "L13",
        "the arrives with which a thread tells several CTAs are taken to count at one time",
        "PTX ISA, mbarrier: an arrive for a phase comes after a successful wait for the one before. Two arrives of a "
        "thread, on the barriers of two CTAs, are two operations; others may wait and arrive between them.",
        "What follows from one of the arrives comes after all of them, if they stand side by side. Otherwise a peer "
        "whose wait follows from the first could arrive for the next phase before the second counts, and the two "
        "arrivals would be exchanged.",
        "The next arrive on the barrier of each CTA follows from something of that CTA: its own copy or arrive for the "
        "phase that the arriving thread waits for.",
        True,
        ("mbar.unobserved_phase",),
    ),
    Axiom(
        "L14",
        "a memory fence before a barrier is taken to publish, by a relaxed store behind it, what its threads did",
        "PTX ISA 8.8: a fence and a relaxed store behind it release what comes before the fence, if one thread makes "
        "both. What others did before their own fences reaches that thread only through the barrier, after its fence.",
        "If every thread of a barrier has just executed a fence of that scope, a relaxed store or arrive right behind "
        "the barrier releases what all of them did, as split-K kernels rely on.",
        "The thread that stores executes a fence behind the barrier, or its store is a release.",
        True,
        ("race.raw", "race.war", "race.waw"),
    ),
)

ASSUMED = frozenset(a.name for a in AXIOMS if a.assumed)
"""In force by default."""
AVOIDABLE = frozenset(a.name for a in AXIOMS if a.alternative)
"""Those that `strict` withdraws."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Which axioms proofs may use."""

    strict: bool = False
    without: frozenset[str] = frozenset()
    accepted: frozenset[str] = frozenset()

    @property
    def in_force(self) -> frozenset[str]:
        """Names of the axioms that proofs may use; an axiom named explicitly is decided by its name."""
        assumed = ASSUMED - AVOIDABLE if self.strict else ASSUMED
        return (assumed | self.accepted) - self.without

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """Axioms of the default that are not in force, sorted."""
        return in_order(ASSUMED - self.in_force)


DEFAULT = Policy()


def find_axiom(name: str) -> Axiom | None:
    """The axiom with this name or alias, or None."""
    return next((a for a in AXIOMS if name in (a.name, a.alias)), None) if name else None


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names of axioms by letter and number."""
    return tuple(sorted(names, key=lambda name: (name[:1], int(name[1:]) if name[1:].isdigit() else 0, name)))
