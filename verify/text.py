"""Messages and advice of the diagnostics, per rule."""

from __future__ import annotations

from collections.abc import Iterable

from exogpu.ir.instr import Group
from exogpu.verify.concrete import Occurrence
from exogpu.verify.program import Event

HELP = {
    "race.raw": "order the write before the read: a Fence that both pass, or Arrive after it and Await before the read",
    "race.war": "order the read before the overwrite: a Fence that both pass, or Arrive after the read is done "
    "and Await before the overwrite",
    "race.waw": "order the two writes: wait for the first to complete before the second starts",
    "race.async_inflight": "wait for the operation before the CTA ends",
    "proxy.generic_to_async": "execute fence_proxy_async() after the access and before the barrier that hands it on",
    "fence.state_space": "execute fence_proxy_async_all(): fence_proxy_async() covers shared memory only",
    "wgmma.reg_fence": "execute wgmma_fence() between the register access and the first wgmma",
    "wgmma.reg_inflight": "wait for the wgmma group (wgmma_wait) before touching the accumulator",
    "mbar.lane_release": "an Arrive publishes only what its own thread did: Fence() first, or let every warp arrive",
    "uninit": "write every element of a fresh buffer before it is read, also where a loop has no trips (or require "
    "some); the first wgmma of a tile does not accumulate",
    "mbar.count": "initialise the barrier with the number of arriving threads",
    "bar.count": "declare the barrier with the number of threads that arrive or sync in each generation",
    "bar.recycle": "let the warp wait for a thread that has synced in the generation before, or sync itself",
    "mbar.tx_bytes": "expect exactly the bytes of the phase's copies; a copy counts for its thread's next Arrive, "
    "so the copies come before the Arrive that expects them",
    "mbar.unobserved_phase": "wait for the phase that last used this mbarrier before arriving on it again",
    "mbar.parity_alias": "let every waiter pass its phase before the barrier can advance by another ring",
    "mbar.lag": "wait with a lag of at most the ring: with lag=ring the n-th await waits until slot n mod ring is free",
    "deadlock.cycle": "make every awaited phase complete by arrives that come earlier in the sequential order",
    "smem.reuse": "hand it on: a Fence that both pass, or Arrive when the last access is done and Await before "
    "the next owner's first",
    "cluster.exit": "let the whole cluster pass a Fence() after the last access or arrive, before the end",
    "setmaxnreg.pool": "lower the register counts of the roles",
}

LANDING = (
    "let the copying thread wait (cp_async_wait) before the barrier that hands the copy on, or arrive with "
    "cp_async_arrive: no barrier and no other arrive waits for a copy that is in flight"
)

NOBODY = "let the threads that hand something on arrive: nothing completes a phase of this barrier"
HOLD = "let the thread that holds the phase open arrive for it afterwards, in the same unit of its role"


CLOSING = {
    Group.BULK: "close the group of the store: no bulk_commit() follows it in its thread, and bulk_wait(n) and "
    "bulk_wait_read(n) wait for closed groups only",
    Group.COPY: "close the group of the copy: no cp_async_commit() follows it in its thread, and cp_async_wait(n) "
    "waits for closed groups only (cp_async_wait_all() for every copy)",
    Group.WGMMA: "close the group of the wgmma: no wgmma_commit() follows it, and wgmma_wait(n) waits for closed "
    "groups only",
}
"""Advice where the group of an operation stays open."""


ENDING = {
    Group.BULK: "let the thread that issued it execute bulk_wait_read(0) before the CTA ends",
    Group.COPY: "let the threads that issued it execute cp_async_wait_all() before the CTA ends",
    Group.WGMMA: "let the warpgroup execute wgmma_wait(0) before the CTA ends",
}
"""Advice where an operation of a group may be in flight when the CTA ends."""


def fence_help(second: Event, *, everywhere: bool, abroad: bool, both: bool) -> str:
    """Which proxy fence, and where: `everywhere` for other memory than the CTA's own shared memory; `abroad`: the first
    access is another CTA's; `both`: a fence on one side is not enough."""
    fence = "fence_proxy_async_all()" if everywhere else "fence_proxy_async()"
    if not abroad:
        reason = ": fence_proxy_async() covers the shared memory of its own CTA only" if everywhere else ""
        return f"execute {fence} after the access and before the barrier that hands it on{reason}"
    also = " besides the one after the access" if both else ""
    return (
        f"let the thread that issues {second.label} execute {fence} after its Await and before {second.label}{also}: "
        "the fence has to stand in the CTA of the asynchronous operation"
        + (", and fence_proxy_async() covers that CTA's own shared memory only" if everywhere else "")
    )


def lane_help(arrive: Occurrence, together: bool) -> str:
    """The first access is not of the arriving thread; `together`: of one whose first thread arrives."""
    where = f"the Arrive at line {arrive.event.span.line}"
    if together:
        return (
            f"{where} publishes only what the first of the {arrive.event.size} threads that execute it has done: let "
            f"these {arrive.event.size} pass a Fence() before it, in the same loop"
        )
    return f"{where} publishes only what its own thread has done: let it and the others pass a Fence() before it"


def relaxed_help(arrive: Occurrence) -> str:
    """A relaxed arrive hands nothing on."""
    return (
        f"make {arrive.event.label} (line {arrive.event.span.line}) an ordinary arrive: a relaxed one counts, but "
        "publishes nothing of what came before it"
    )


def split_help(var: str) -> str:
    """Two iterations of one loop over threads meet."""
    return (
        f"split the loop over {var}: the sequential program runs its iterations one after the other, the threads at "
        "once; put what has to come first into a loop of its own, with a Fence(), or Arrive and Await, between the two"
    )


def race_message(rule: str, place: str, first: str, second: str) -> str:
    """One sentence for a pair of statements that nothing orders; `place` is the buffer, quoted."""
    match rule:
        case "race.raw":
            return f"race on {place}: {second} can read it before {first} has written it"
        case "race.war":
            return f"race on {place}: {second} can overwrite it while {first} still reads it"
        case "race.waw":
            return f"race on {place}: {second} can write it before the write of {first} is done"
        case "smem.reuse":
            return f"race on {place}: {second} can come while {first} is not done"
        case "mbar.lane_release":
            return f"the release of {place} covers only its own thread: {second} can come while {first} is not done"
        case "cluster.exit":
            return f"the CTA that holds {place} can end while {first} of the cluster still accesses it"
        case "race.async_inflight":
            return f"the CTA can end while {first} still accesses {place}"
        case "proxy.generic_to_async":
            return f"no proxy fence orders the access of {place} by {first} before the asynchronous one by {second}"
        case "fence.state_space":
            return f"the proxy fence between {first} and {second} does not cover the memory where {place} lies"
        case "wgmma.reg_fence":
            return f"no wgmma_fence orders the register access of {place} by {first} before {second}"
        case _:
            return f"{place} is touched by {second} while {first} is still in flight"


def pair_question(first: Event, second: Event, what: str) -> str:
    """What is asked of the solver for a pair of statements."""
    x, y = (f"{e.label} (line {e.span.line})" for e in (first, second))
    return f"executions x of {x} and y of {y} {what}"


def single_question(events: Iterable[Event], title: str) -> str:
    """What is asked of the solver for one statement, or two."""
    named = " and ".join(f"{e.label} (line {e.span.line})" for e in events)
    return f"executions of {named} that violate: {title}"
