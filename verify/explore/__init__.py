"""The explorer: executes a skeleton at concrete sizes, under many schedules, and finds what goes wrong.

It is the engine of REFUTED verdicts, and an oracle for the prover, with which it shares the IR and nothing else; a test
holds it to that. Control flow of a skeleton depends on nothing that other threads do, so every thread's events are
known before the first is executed. Lanes of a warp with the same events move together as a *strand*. Vector clocks tell
in any one execution which accesses nothing orders, and which events other schedules could order otherwise; those
schedules are then tried. Where there are none, one execution settles all.

outcome                      what an exploration ends with
storage, events              where objects lie and which cells a reference names; an event with its operands as numbers
trace, resolve, program      the events of a class of threads; strands, warps and CTAs with their events
choices                      unknown numbers, and the lane that an election chooses
knowledge, exchange          vector clocks, one for each kind of path; what threads tell each other through an object
memory, registers            accesses so far and pairs that nothing orders; registers that wgmma uses
mbarriers, rendezvous        mbarrier objects; named barriers, and the cluster's
flights                      asynchronous operations between issue and completion, and their groups
machine                      the state of an execution
accesses, phases             what touches memory; what arrives and waits at mbarriers
progress, actions,           how strands complete events and end; what a thread's operation does, and a warp's
  collectives, step
hints, schedule, search      orders that could be otherwise; who moves next; which executions are tried
finding, ending              what an execution runs into, on its way or when nothing moves any more
explain, steps, text, help   the most telling rule and the interleaving, in words
sizes                        small problem sizes worth a try
"""

from exogpu.verify.explore.outcome import Clean, Fault, Observation, TooLarge
from exogpu.verify.explore.search import explore, observe
from exogpu.verify.explore.sizes import small_sizes

__all__ = ["Clean", "Fault", "Observation", "TooLarge", "explore", "observe", "small_sizes"]
