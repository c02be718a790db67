"""Each mechanism alone: a bare kernel gets what it needs and nothing that it can do without."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.diagnostics import BadInput
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.kernels.gemm_bf16 import gemm_bf16
from exogpu.lang import load
from exogpu.sync import infer_sync
from exogpu.sync.bare import bare
from exogpu.verify.assess import Fate, assess
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status
from exogpu.verify.slim import weakenings
from tests.texts import broken, kernel

CASES = Path(__file__).parent / "cases"
BARE = load(CASES / "bare.py")
WORDS = {
    "reverse": {"Fence": 1},
    "reverse_by_warps": {"Fence": 2, "unit=warp": 2},
    "row_sums": {"Fence": 2},
    "handed_over": {"mbarrier": 2, "Arrive": 2, "Await": 2, "Fence": 2},
    "relayed": {"mbarrier": 4, "Arrive": 4, "Await": 4},
    "loaded": {"mbarrier": 2, "tx=8192": 1, "Await": 2, "fence_proxy_async": 1},
    "doubled": {"mbarrier": 1, "tx=8192": 1, "Await": 1, "bulk_commit": 1, "bulk_wait_read(0)": 1},
    "copied": {"cp_async_wait_all": 1, "Fence": 1},
    "multiplied": {"mbarrier": 1, "wgmma_fence": 1, "wgmma_commit": 1, "wgmma_wait(0)": 1, "Fence": 1},
    "written_operands": {"mbarrier": 2, "fence_proxy_async": 1, "wgmma_wait(0)": 1},
    "exchanged": {"Fence": 2},
    "broadcast": {"mbarrier": 2, "fence_proxy_async_all": 1, "Arrive(empty[r])": 1, "tx=256": 1},
    "two_readers": {"mbarrier": 2, "Arrive(empty)": 2, "Await(full)": 2, "tx=128": 1},
    "by_turns": {"mbarrier": 3, "Await(turn, lag=1)": 1, "Arrive(turn)": 1},
    "added": {"bulk_commit": 1, "bulk_wait_read(1)": 1, "bulk_wait_read(0)": 1, "fence_proxy_async": 1, "Fence": 2},
    "some_bytes": {"mbarrier": 3, "tx=128": 1, "Await": 3, "Arrive": 3},
    "both_write": {"Fence": 3},
    "slots_by_hand": {"ring=2": 2, "Await(empty, lag=2)": 1, "Await(full)": 1, "Fence": 2},
    "passed_through": {"mbarrier": 1, "Await": 1, "bulk_wait_read(3)": 1, "bulk_wait_read(0)": 1},
}
"""How often these words stand in the synchronised kernels."""


def test_every_case_has_its_words() -> None:
    assert list(WORDS) == list(BARE)


def synchronised(proc: Proc) -> tuple[Proc, Report]:
    """The kernel with its synchronisation, and the proof."""
    found = infer_sync(proc)
    assert found.changed is not None
    assert found.report is not None
    assert found.report.status is Status.PROVED
    assert bare(found.changed) == bare(proc)
    return found.changed, found.report


@pytest.mark.parametrize("name", list(WORDS))
def test_bare_kernels_get_what_they_need(name: str) -> None:
    text = to_source(synchronised(BARE[name])[0])
    assert {word: text.count(word) for word in WORDS[name]} == WORDS[name]


@pytest.mark.parametrize("name", ["reverse_by_warps", "row_sums", "handed_over", "exchanged", "added", "some_bytes"])
def test_nothing_found_can_be_weakened(name: str) -> None:
    proc, proof = synchronised(BARE[name])
    weaker = assess(proof, weakenings(proc), DEFAULT)
    assert [(a.edit.what, a.edit.span.line) for a in weaker if a.verdict.fate is Fate.HARMLESS] == []


HOPELESS = {"beyond": {"bounds"}, "one_cell": {"race.war", "race.waw"}, "two_owners": {"ownership"}}


@pytest.mark.parametrize("name", list(HOPELESS))
def test_what_no_synchronisation_repairs_is_told(name: str) -> None:
    found = infer_sync(load(CASES / "hopeless.py")[name])
    assert found.changed is None
    assert found.report is not None
    assert broken(found.report) == HOPELESS[name]


def test_a_kernel_that_is_proved_is_left_alone() -> None:
    proc, _ = synchronised(BARE["reverse"])
    found = infer_sync(proc)
    assert found.stands and found.changed is proc


def test_the_report_on_it_is_that_of_verify() -> None:
    """Not that of `attempt`, which decides what is quick about barriers twice."""
    report = infer_sync(gemm_bf16).report
    assert report is not None
    assert [o.name for o in report.obligations] == [o.name for o in verify(gemm_bf16).obligations]


def test_unacceptable_data_statements_are_bad_input(tmp_path: Path) -> None:
    text = to_source(BARE["reverse"]).replace("f32[128] @ SMEM", "f32[128000] @ SMEM")
    with pytest.raises(BadInput):
        infer_sync(kernel(tmp_path, text))
