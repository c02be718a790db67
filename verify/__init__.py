"""The verifier. `prove` is the way in; the rest, from the bottom up:

axioms                      readings of the PTX ISA that proofs may use
program, lower, calls,      the parallel program, and how a kernel becomes one
  owners, declared, prepare
memo, pieces, workers       what is worked out once about a program; the parts of a proof; processes that decide them
instance, ordinal, nth,     symbolic instances of its events; how often a statement was executed before one, in closed
  bounds_of, iterations,      form; hence phases of barriers and commit groups
  flat, phases
derived, counters, skipped, variables whose values follow from others, and iterations that unknown numbers let pass; the
  walk, settled               tasks that a CTA walks over
landing                     when a cp.async has landed for those that await an mbarrier
needs                       what an order has to do, and which synchronisation does it
concrete, nest, bundles,    the explicit engine: unrolled at concrete sizes, happens-before paths, an operational run
  graph, mbarrier, flights,
  endings, machine, tally
session, single, ordering,  one solver session; properties of single instances; ordering of pairs by lifted chains
  chain, lift
races, reuse, barriers,     what has to be shown, one module per kind of obligation
  predecessor, holds, split,
  transactions, selection,
  turns, pipeline, spans,
  bounds, overflow, claim,
  registers, reductions,
  small, initialised
data_verdicts, violations,  the verdicts as obligations, with counterexamples in the user's words
  diagnose, replay, trial,
  barrier_verdicts,
  withdrawn, witness,
  performed, text
result, proven, entries,    what comes out; the seal that `codegen` asks for; reports of earlier runs
  cache
explain                     a chain in the words of a kernel engineer
skeleton, explore           sync skeletons, proved; their executions under many schedules
explicit, simulator         the oracles that keep the prover honest, one with the prover's own events, one without
edits, assess, meaning      edits of synchronisation, and what becomes of an edited kernel
mutants, slim               every systematic edit; what a kernel can do without
"""

if __name__ != "exogpu.verify":
    raise ImportError("import it as exogpu.verify")
