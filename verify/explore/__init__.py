"""The explorer: executes a skeleton at concrete sizes, under many schedules, and finds what goes wrong.

It is the engine of REFUTED verdicts, and an oracle for the prover, with which it shares the IR and nothing else; a test
holds it to that. Control flow of a skeleton depends on nothing that other threads do, so every thread's events are
known before the first is executed. Lanes of a warp with the same events move together as a *strand*.

outcome                     what an exploration ends with
storage                     where objects lie, and which cells a reference names
trace, resolve              the events of a class of threads, with their operands as numbers
program                     strands, warps and CTAs with their events
knowledge                   vector clocks: who knows of whose events and of which asynchronous operations, on which path
memory                      accesses so far, and pairs of them that nothing orders
mbarriers, rendezvous       mbarrier objects; named, CTA and cluster barriers
registers                   accumulators and register operands of wgmma
flights                     asynchronous operations between issue and completion
machine, actions            the state of an execution and what a step of a strand does to it
hints                       orders of events that other schedules could change
schedule, search            who moves next; which schedules are tried
explain, steps, text        what went wrong, in words
sizes                       small problem sizes worth a try
"""

from exogpu.verify.explore.outcome import Clean, Fault, Observation, TooLarge
from exogpu.verify.explore.search import explore, observe
from exogpu.verify.explore.sizes import small_sizes

__all__ = ["Clean", "Fault", "Observation", "TooLarge", "explore", "observe", "small_sizes"]
