"""The question whether two procedures compute the same: a proof for all sizes, or sizes at which they do not."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from exogpu.diagnostics import BadInput
from exogpu.equiv.arguments import mismatches
from exogpu.equiv.conditions import BUDGET, SHORT, Facts, Logic, joined
from exogpu.equiv.prove import Equal, prove, written
from exogpu.equiv.result import Equivalence, Side, Verdict
from exogpu.equiv.trial import Tried, compare_runs
from exogpu.ir.preconditions import known_sizes
from exogpu.ir.print_expr import cond_text
from exogpu.ir.proc import Proc


def equivalent(a: Proc, b: Proc) -> Equivalence:
    """Whether two procedures leave the same in every tensor, for all sizes that both allow and whatever the arguments
    hold. Tensors that are given for different arguments do not overlap: the runtime refuses a call where one that is
    written does.

    Meanings are sequential: that a kernel run in parallel computes its sequential meaning is what `verify` proves. Sums
    of f32, f64 and i32 may be taken in another order, which the outcome says; roundings have to be in the same places.
    BadInput if the procedures do not take the same arguments.
    """
    start = perf_counter()
    found = _decided(a, b)
    return replace(found, seconds=perf_counter() - start)


def _decided(a: Proc, b: Proc) -> Equivalence:
    logic = Logic(budget=SHORT)
    facts = joined((), (*known_sizes(a), *known_sizes(b)))
    problems = tuple(mismatches(a, b, logic, facts))
    if problems:
        raise BadInput(problems)
    assumed = tuple(dict.fromkeys(cond_text(r.cond) for r in (*a.requires, *b.requires)))
    nothing = Equivalence(Side(a.name, a.span), Side(b.name, b.span), Verdict.UNKNOWN, written(a, b), assumed=assumed)
    if logic.impossible(facts):
        return replace(nothing, verdict=Verdict.VACUOUS, reason="no sizes are allowed by both")
    return _proved(nothing, a, b, facts, logic)


def _proved(nothing: Equivalence, a: Proc, b: Proc, facts: Facts, logic: Logic) -> Equivalence:
    """A proof, or else a difference found by running both, which does not wait for a long search for a proof."""
    proof = prove(a, b, facts, logic)
    if isinstance(proof, Equal):
        return replace(nothing, verdict=Verdict.PROVED, reassociated=proof.reassociated)
    tried = compare_runs(a, b)
    if tried.difference is not None:
        return replace(nothing, verdict=Verdict.REFUTED, difference=tried.difference)
    if logic.exhausted:
        logic.budget = BUDGET
        proof = prove(a, b, facts, logic)
    if isinstance(proof, Equal):
        return replace(nothing, verdict=Verdict.PROVED, reassociated=proof.reassociated)
    return replace(nothing, reason=f"{proof.reason}; {_without(tried)}", span=proof.span, labels=proof.labels)


def _without(tried: Tried) -> str:
    """That runs showed nothing."""
    sizes = "1 choice of sizes" if tried.compared == 1 else f"{tried.compared} choices of sizes"
    return f"no difference at {sizes}" + (f"; {tried.trouble}" if tried.trouble else "")
