"""What the explorer says: facts and steps of faults, what it calls exhaustive, what it declines, what it observes."""

from __future__ import annotations

import runpy
from itertools import islice
from pathlib import Path

from exogpu.ir.skeleton.tree import Skeleton
from exogpu.verify.axioms import ASSUMED
from exogpu.verify.explore import Clean, Fault, Observation, TooLarge, explore, observe, small_sizes
from exogpu.verify.explore.help import HELP

CASES = Path(__file__).resolve().parent / "cases"
PROTOCOLS = runpy.run_path(str(CASES / "protocols.py"))


def skeleton(name: str) -> Skeleton:
    found = PROTOCOLS[name]
    assert isinstance(found, Skeleton)
    return found


def fault(name: str, axioms: frozenset[str] = ASSUMED, **sizes: int) -> Fault:
    found = explore(skeleton(name), sizes, axioms)
    assert isinstance(found, Fault)
    return found


def test_overtaken_wait_names_phases_and_blocked_roles() -> None:
    found = fault("leader_frees", n=3)
    assert found.rule == "deadlock.cycle"
    assert "mbar.parity_alias" in found.other
    facts = dict(found.facts)
    assert facts["warp 1 of use"].startswith("waits for phase 2 of ready[0] (parity 0)")
    assert "waits in bar_sync(1, 64)" in facts["warp 0 of use"]
    assert "phase 0 of ready[0] was complete, but phase 1 completed before" in facts["overtaken"]
    assert [s.event for s in found.steps[-2:]] == ["wait(ready[0]) waits for ever", "bar_sync(1, 64) waits for ever"]


def test_a_deadlock_names_who_is_missing() -> None:
    found = fault("never_meets")
    assert found.rule == "deadlock.cycle"
    waiting = dict(found.facts)["a, CTA 0, 1"]
    assert waiting == "waits in cluster_wait() for the whole cluster; b, CTA 0 has not arrived"


def advice(file: str, name: str, **sizes: int) -> str:
    found = explore(runpy.run_path(str(CASES / f"{file}.py"))[name], sizes, ASSUMED)
    assert isinstance(found, Fault) and found.rule == "deadlock.cycle"
    return found.help or ""


def test_the_advice_on_a_deadlock_is_about_what_is_waited_for() -> None:
    """Parity 1 helps a wait for arrivals that stand behind it; not one that gets too few, or the wrong phase."""
    arrivals = "as many arrivals as its mbarrier counts"
    cycle = advice("mbarriers", "cycle", n=1)
    assert arrivals in cycle and "the first wait on a is to pass" in cycle and "parity 1" in cycle
    missing = advice("mbarriers", "count_high")
    assert arrivals in missing and "parity" not in missing
    assert "every thread that waits for the one before has passed" in advice("protocols", "leader_frees", n=3)
    assert "all threads for which the barrier waits" in advice("barriers", "too_few_join")
    assert "all threads for which the barrier waits" in advice("protocols", "never_meets")
    assert advice("clusters", "taken_back") == HELP["deadlock.cycle"]


def test_bytes_are_not_what_a_wait_for_parity_1_would_do_without() -> None:
    """Both roles wait on fresh mbarriers: the one that hands a tile on, and the one that says that it is free."""
    found = explore(skeleton("ring_out_of_step"), {"n": 1}, ASSUMED)
    assert isinstance(found, Fault) and found.help is not None
    assert "the first wait on empty[0] is to pass" in found.help and "full" not in found.help


def test_unordered_accesses_can_come_either_way() -> None:
    found = fault("either_way")
    assert {found.rule, *found.other} == {"race.raw", "race.war"}
    assert dict(found.facts)["cell"] == "x"
    assert [label.span.line for label in found.labels] != [found.span.line]
    assert found.steps[-1].event.endswith(": race")


def test_unknown_numbers_of_a_fault_are_told() -> None:
    found = fault("gate", n=1)
    assert {found.rule, *found.other} & {"deadlock.cycle", "race.waw"}
    assert dict(found.facts)["work(0)"] == "0"
    assert found.sizes == (("n", 1),)


def test_one_execution_settles_a_ring() -> None:
    for n in (0, 1, 3, 5):
        assert explore(skeleton("ring_3"), {"n": n}, ASSUMED) == Clean(True)
        assert explore(skeleton("ring_3"), {"n": n}, ASSUMED, effort=3) == Clean(True)
    assert explore(skeleton("ring_wide"), {"n": 3}, ASSUMED) == Clean(True)


def test_what_depends_on_the_schedule_is_not_exhausted() -> None:
    assert explore(skeleton("semaphore"), {}, ASSUMED) == Clean(False)


def test_a_fence_of_the_issuer_needs_its_axiom() -> None:
    assert explore(skeleton("issuer_fences"), {}, ASSUMED) == Clean(True)
    assert fault("issuer_fences", ASSUMED - {"L1"}).rule == "proxy.generic_to_async"


def test_one_warp_waits_for_its_warpgroup_by_axiom() -> None:
    one_thread = runpy.run_path(str(CASES / "wgmmas.py"))["one_thread"]
    found = explore(one_thread, {"n": 3}, ASSUMED)
    assert isinstance(found, Fault) and found.rule == "mbar.lane_release" and "--axiom L12" in (found.help or "")
    assert explore(one_thread, {"n": 3}, ASSUMED | {"L12"}) == Clean(True)


def test_narrow_scopes_do_by_axiom() -> None:
    narrow = runpy.run_path(str(CASES / "clusters.py"))["narrow_arrive"]
    assert isinstance(explore(narrow, {}, ASSUMED), Fault)
    assert explore(narrow, {}, ASSUMED | {"L3"}) == Clean(True)


def test_stores_drain_at_the_end_by_axiom() -> None:
    ends = runpy.run_path(str(CASES / "copies.py"))["ends_in_flight"]
    assert isinstance(explore(ends, {}, ASSUMED), Fault)
    assert explore(ends, {}, ASSUMED | {"L6"}) == Clean(True)


def test_too_large_and_unsupported_are_declined() -> None:
    assert explore(skeleton("too_many_cells"), {"n": 1 << 20}, ASSUMED) == TooLarge("y has 1048576 cells")
    declined = explore(skeleton("blackwell"), {}, ASSUMED)
    assert isinstance(declined, TooLarge)
    assert "tmem_wait_ld" in declined.reason


def test_observed_phases_count_up() -> None:
    seen = observe(skeleton("ring_3"), {"n": 7}, seed=1)
    waits = [o for o in seen if o.path == (0, 0, 0, 0)]
    assert waits == [Observation((0, 0, 0, 0), 0, "empty", 0, i % 3, i // 3 - 1) for i in range(7)]
    copies = [(o.cell, o.phase) for o in seen if o.path == (0, 0, 0, 2)]
    assert sorted(copies) == sorted((i % 3, i // 3) for i in range(7))
    last_thread = [o for o in seen if o.path == (1, 0, 0, 0) and o.thread == 128 + 127]
    assert [(o.cell, o.phase) for o in last_thread] == [(i % 3, i // 3) for i in range(7)]
    assert observe(skeleton("ring_3"), {"n": 7}, seed=1) == seen


def test_nothing_is_observed_of_an_execution_that_fails() -> None:
    assert observe(skeleton("either_way"), {}, seed=0) == []


def test_small_sizes_grow_and_keep_the_preconditions() -> None:
    assert list(islice(small_sizes(skeleton("ring_3")), 4)) == [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}]
    bounded = skeleton("bounded")
    tried = list(small_sizes(bounded))
    assert tried[0] == {"a": 2, "b": 2}
    assert all(s["a"] >= 2 and s["b"] % 2 == 0 for s in tried)
    assert any(s["a"] == 40 for s in tried)
    assert list(small_sizes(skeleton("either_way"))) == [{}]
