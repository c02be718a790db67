"""The parts of a proof: what goes wrong leaves its obligation open, and the twin's are all shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify import lift, ordering
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.derived import concrete, used
from exogpu.verify.nest import TooLarge
from exogpu.verify.result import Obligation, Status
from exogpu.verify.skeleton.joined import joined
from exogpu.verify.skeleton.laps import in_laps
from exogpu.verify.skeleton.rolled import rolled
from exogpu.verify.skeleton.shifted import shifted
from exogpu.verify.skeleton.verdict import prepare, proof
from tests.skeletons.twins import fault, pairs, twins

Form = Callable[[Skeleton], Skeleton]

SIZES = 6


def left_open(skeleton: Skeleton) -> list[Obligation]:
    return [o for o in proof(skeleton, DEFAULT) if o.status is not Status.PROVED]


@pytest.mark.parametrize(("part", "bad", "good"), list(twins("prover")))
def test_twins(part: str, bad: Skeleton, good: Skeleton) -> None:
    found = left_open(bad)
    assert any(o.name.startswith(part) or o.rule == part for o in found), [(o.name, o.rule) for o in found]
    assert all(o.status is Status.UNKNOWN and o.reason for o in found)
    assert [(o.name, o.reason) for o in left_open(good)] == []
    assert fault(bad, SIZES) is not None
    assert fault(good, 3) is None


def written_otherwise(form: Form) -> Iterator[Skeleton]:
    """Skeletons of the twins that have this form besides that in which they are written."""
    for name in ("prover", "soundness"):
        for _, *pair in (p.values for p in twins(name)):
            yield from (s for s in pair if isinstance(s, Skeleton) and form(s) is not s)


@pytest.mark.parametrize("form", [rolled, joined, shifted, in_laps])
def test_other_forms_execute_alike(form: Form) -> None:
    found = list(written_otherwise(form))
    assert len(found) >= 6
    for skeleton in found:
        written, compact = fault(skeleton, SIZES), fault(form(skeleton), SIZES)
        assert (written and {written.rule, *written.other}) == (compact and {compact.rule, *compact.other})


@pytest.mark.parametrize(("written", "compact"), list(pairs("prover", "ROLLED")))
def test_loops_for_what_is_unrolled_by_hand_multiply_no_variables(written: Skeleton, compact: Skeleton) -> None:
    assert rolled(written) is written
    assert rolled(compact) is not compact


@pytest.mark.parametrize(("bad", "good"), list(pairs("prover", "COUNTED")))
def test_executions_that_are_named_by_their_number_exist(
    bad: Skeleton, good: Skeleton, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that never execute a statement are not taken for ones that do."""
    monkeypatch.setattr(ordering, "PATIENCE", -1)
    counted = partial(lift._Naming, step=True, flat=False)
    monkeypatch.setattr(lift, "_namings", lambda _, sizes, *, nested: (counted(counts=sizes if nested else None),))
    assert [o.rule for o in left_open(bad)] != []
    assert left_open(good) == []


def test_counters_are_not_counted_at_sizes_that_are_too_large() -> None:
    counting = (p.values[2] for p in twins("soundness_counters") if isinstance(p.values[2], Skeleton))
    programs = (prepare(skeleton, DEFAULT)[0] for skeleton in counting)
    program, name, event = next((p, n, e) for p in programs for e in p.events for n in used(p, e))
    env = {"n": 10**9, **{loop.var: 0 for loop in event.loops}}
    with pytest.raises(TooLarge):
        concrete(program, name, event, env)
