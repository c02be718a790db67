"""What to do about a fault, by rule, in the statements of skeletons."""

HELP = {
    "race.raw": "let the writer arrive, or join a barrier, after the write, and the reader wait for it before the read",
    "race.war": "let the reader arrive, or join a barrier, when it has read, and wait for that before the overwrite; "
    "an asynchronous reader has read when its group or phase is complete",
    "race.waw": "order the two writes: the first must be complete before the second starts",
    "race.async_inflight": "wait for the operation before the CTA ends",
    "proxy.generic_to_async": "execute proxy_fence() in the thread that made the access, between it and the arrive or "
    "barrier that tells of it",
    "fence.state_space": "execute proxy_fence(everywhere=True): proxy_fence() covers shared memory only",
    "smem.reuse": "order the last access through the old object before the first through the new one",
    "mbar.uninit": "initialise the mbarrier before its first use",
    "mbar.init_unordered": "put a barrier that all users pass after the initialisation: cta_sync(), or for other CTAs "
    "init_fence() and cluster_sync()",
    "mbar.reinit": "initialise an mbarrier once; inval() it before its memory is used otherwise",
    "mbar.alias": "keep other objects away from the memory of live mbarriers",
    "mbar.count": "initialise the mbarrier with the number of arrivals that are executed in each phase",
    "mbar.tx_bytes": "expect in each phase exactly the bytes of the copies that complete in it",
    "mbar.unobserved_phase": "wait for the phase before the one that is arrived for; if all arrivals are meant for one "
    "phase, let the mbarrier count them all",
    "mbar.scope": 'arrive and wait with scope="cluster" where threads of another CTA take part',
    "mbar.lane_release": "warp_sync() before the single arrive, or let every lane (for wgmma: every warp) arrive",
    "wgmma.reg_fence": "execute wgmma_fence() between the register access and the wgmma",
    "wgmma.reg_inflight": "wait for the wgmma group before its registers are touched",
    "wgmma.convergence": "let all 128 threads of a warpgroup execute it",
    "group.wrong_thread": "wait in the thread that issued and committed the operations",
    "group.depth": "commit the operation before the wait, and let the wait leave fewer of the youngest groups pending; "
    "or tell of it later, behind a wait that finishes it",
    "bar.divergence": "let all threads execute it, or use bar_sync with the number of those that do",
    "bar.recycle": "let a thread that arrives wait for the generation before it arrives for the next",
    "bar.id_count_mismatch": "give all participants of a barrier the same count",
    "cluster.entry": "cluster_sync() before the first access to another CTA",
    "cluster.exit": "cluster_sync() after the last access to another CTA, before the end",
    "setmaxnreg.pool": "lower the register counts so that the CTA's registers suffice, in every warp of the warpgroup",
    "deadlock.cycle": "let what is waited for come from threads that do not themselves stand behind the wait",
}

WHOLE_WAIT = (
    "let every warp arrive behind its own wgmma_wait; or accept with --axiom L12 that one warp's wait covers the whole "
    "warpgroup, as CUTLASS takes it"
)
"""Where one warp tells that the wgmmas of its warpgroup are complete."""

FAR_FENCE = (
    "execute proxy_fence(everywhere=True) in the CTA that issues the asynchronous operation, before it and after "
)
FAR_FENCE += "the wait for the other access (axiom L1)"
"""About a proxy fence between accesses by threads of two CTAs."""

PHASE = (
    "let every awaited phase get as many arrivals as its mbarrier counts, from threads that do not themselves stand "
    "behind the wait"
)
"""Where an mbarrier is waited for, for ever."""

OVERTAKEN = "let the next phase complete only when every thread that waits for the one before has passed"
"""Where its phase is over, and the one after too."""

MEETING = "let all threads for which the barrier waits come to it, in the same order as to other barriers"
"""Where threads do not all meet."""


def passing(barrier: str) -> str:
    """An addition for a wait on a fresh mbarrier whose arrivals all stand behind it."""
    return f"; if the first wait on {barrier} is to pass at once, because nothing is in use yet, let it be for parity 1"
