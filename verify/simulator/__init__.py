"""An interleaving simulator: the oracle that shares nothing with the prover but the IR.

It runs a kernel at concrete sizes as the hardware would: threads under a random scheduler, asynchronous operations
whose effects happen late and in pieces, physical mbarriers with parities, stores that become visible only at a
release, a separate view of memory for the async proxy. The results are compared with the sequential interpreter's. It
imports nothing else of `exogpu.verify`; a test holds it to that.

outcome               what a run ends with
expr                  index expressions over many lanes at once
layout                where buffers lie: copies per thread, warp or CTA, ring slots
moves, meaning        element-wise data movement, of assignments and of instructions
trace, walk           every thread's operations in program order, numbered; the same for all schedules
memory                contents: generic and async view, stores not visible yet, accesses not fenced yet
mbarrier, barriers    barrier objects, and all of a cluster's
flight                asynchronous operations between issue and completion
clocks                who knows of whose accesses: the races of a run
cluster               threads, barriers and operations in flight of one cluster, and what a step does
schedule, run         who moves next; the way in
"""

from exogpu.verify.simulator.outcome import Agrees, Broken, Outcome, Race, Stuck, Undefined, WrongValue
from exogpu.verify.simulator.run import simulate

__all__ = ["Agrees", "Broken", "Outcome", "Race", "Stuck", "Undefined", "WrongValue", "simulate"]
