"""The verifier. `prove` is the way in; the rest, from the bottom up:

axioms                      readings of the PTX ISA that proofs may use
program, lower, calls,      the parallel program, and how a kernel becomes one
  owners
memo, pieces, workers       what is worked out once about a program; the parts of a proof; processes that decide them
instance, index, ordinal,   symbolic instances of its events; how often a statement was executed before one, in closed
  bounds_of, phases           form; hence phases of barriers and commit groups
landing                     when a cp.async has landed for those that await an mbarrier
concrete, graph, mbarrier,  the explicit engine: unrolled at concrete sizes, happens-before paths, an operational run
  flights, endings, machine
session, single, ordering,  one solver session; properties of single instances; ordering of pairs by lifted chains
  chain, lift
races, reuse, barriers,     what has to be shown, one module per kind of obligation
  bounds, overflow, claim,
  registers, reductions
data_verdicts,              the verdicts as obligations, with counterexamples in the user's words
  barrier_verdicts, witness, text
small, initialised          sizes at which a sequential program is run; results that depend on unwritten memory
result, proven, cache       what comes out; the seal that `codegen` asks for; reports of earlier runs
explain                     a chain in the words of a kernel engineer
explicit, simulator         the oracles that keep the prover honest, one with the prover's own events, one without
edits, assess               edits of synchronisation, and what becomes of an edited kernel
mutants, slim               every systematic edit; what a kernel can do without
"""

if __name__ != "exogpu.verify":
    raise ImportError("import it as exogpu.verify")
