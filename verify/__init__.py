"""The verifier. `prove` is the way in; the rest, from the bottom up:

program, lower, owners      the parallel program, and how a kernel becomes one
memo, pieces, workers       what is worked out once about a program; the parts of a proof; processes that decide them
instance, index, ordinal,   symbolic instances of its events; how often a statement was executed before one, in closed
  bounds_of, phases           form; hence phases of barriers and commit groups
concrete, graph, machine    the explicit engine: unrolled at concrete sizes, happens-before paths, an operational run
session, single, ordering,  one solver session; properties of single instances; ordering of pairs by lifted chains
  chain, lift
races, barriers, bounds,    what has to be shown, one module per kind of obligation
  overflow, claim, registers
data_verdicts,              the verdicts as obligations, with counterexamples in the user's words
  barrier_verdicts, initialised, witness, text
result, proven, cache       what comes out; the seal that `codegen` asks for; reports of earlier runs
explicit, mutants           the oracle that keeps the prover honest; systematic edits
"""

if __name__ != "exogpu.verify":
    raise ImportError("import it as exogpu.verify")
