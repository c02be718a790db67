"""Instructions in place of loops: only where they are proved to do the same."""

from __future__ import annotations

import pytest

from exogpu.isa import acc_store, bulk_wait_read, tma_load, tma_load_multicast, tma_store, vec_copy, wgmma
from exogpu.schedule import Schedule, insert, mbarrier, replace, wait
from tests.schedule.common import example, keeps_meaning, refusal, start


def loads(name: str = "loads") -> Schedule:
    return mbarrier(start(name), "full", count=1)


def test_a_zero_filled_tile_is_a_tma_load() -> None:
    s = replace(loads(), "r", tma_load, barrier="full")
    assert "tma_load(t[:, :], A[64 * i : 64 * i + 64, 64 * k : 64 * k + 64], full)" in keeps_meaning(s)
    assert not s.reassociated
    assert s.steps[-1].obligations


def test_the_edge_and_the_fill_of_a_load_matter() -> None:
    s = loads("bad_loads")
    found = refusal(lambda: replace(s, "r", tma_load, barrier="full"))
    assert "other values of `t`" in str(found) and "there the values are 0.0 and A[" in str(found)
    found_at = example(lambda: replace(s, "r1", tma_load, barrier="full"))
    assert (
        64 * found_at["i"] + found_at["_e0*"] >= found_at["M"] or 64 * found_at["k"] + found_at["_e1*"] >= found_at["K"]
    )
    refusal(lambda: replace(s, "r2", tma_load, barrier="full"))
    refusal(lambda: replace(s, "r4", tma_load, barrier="full"))
    assert "fission" in str(refusal(lambda: replace(s, "r3", tma_load, barrier="full"), "schedule.limit"))


def test_windows_can_be_given() -> None:
    window = "A[64 * i : 64 * i + 64, 64 * k : 64 * k + 64]"
    assert window in replace(loads(), "r", tma_load, src=window, barrier="full").show()
    other = "A[64 * k : 64 * k + 64, 64 * i : 64 * i + 64]"
    refusal(lambda: replace(loads(), "r", tma_load, src=other, barrier="full"))
    refusal(lambda: replace(loads(), "r", tma_load, src="A[0:K, 0:64]", barrier="full"), "schedule.limit")


def test_operands_are_checked() -> None:
    assert "needs `pending`" in str(refusal(lambda: replace(loads(), "r", bulk_wait_read), "schedule.limit"))
    assert "no operand `bar`" in str(refusal(lambda: replace(loads(), "r", tma_load, bar="full"), "schedule.limit"))
    found = refusal(lambda: replace(loads(), "r", tma_store), "schedule.limit")
    assert "touch no window that `dst` of `tma_store` takes" in str(found)
    out = "A[64 * q : 64 * q + 64, 64 * k : 64 * k + 64]"
    refusal(lambda: replace(loads(), "r", tma_load, src=out, barrier="full"), "schedule.expression")
    waiting = insert(loads(), loads().find("r").body().before, wait("full"))
    assert "synchronise" in str(refusal(lambda: replace(waiting, "r", tma_load, barrier="full"), "schedule.limit"))
    refusal(lambda: replace(loads(), "j", vec_copy), "schedule.limit")


def test_products_are_wgmma() -> None:
    s = start("products")
    s = replace(s, s.find("ks").body(), wgmma, accumulate="ks > 0")
    assert not s.reassociated
    s = replace(s, s.find("ks2").body(), wgmma)
    assert s.reassociated
    assert keeps_meaning(s).count("wgmma(") == 2


def test_products_that_are_not_wgmma() -> None:
    s = start("products")
    body = s.find("ks").body()
    assert example(lambda: replace(s, body, wgmma, accumulate="ks > 1"))["ks"] == 1
    assert example(lambda: replace(s, body, wgmma, accumulate="ks >= 0"))["ks"] == 0
    refusal(lambda: replace(s, body, wgmma), "schedule.limit")
    assert "twice" in example(lambda: replace(s, s.find("ks3").body(), wgmma))


def test_the_epilogue_and_multicast() -> None:
    s = replace(start("products"), "m4", acc_store)
    assert "acc_store(C[0 : 64, 0 : 16], d[0, :, :])" in keeps_meaning(s)
    s = mbarrier(start("shared"), "full", count=1)
    s = replace(s, "c", tma_load_multicast, barrier="full")
    assert "tma_load_multicast(s[:, 16 * q : 16 * q + 16, :], x[0 : 16, 0 : 64], full)" in keeps_meaning(s)
    stored = "tma_store(y[16 * q : 16 * q + 16, 0 : 64], s[q, 16 * q : 16 * q + 16, :])"
    assert stored in keeps_meaning(replace(s, "r1", tma_store))


def test_a_cursor_follows_the_instruction() -> None:
    s = loads()
    loop, inner = s.find("r"), s.find("c")
    s = replace(s, loop, tma_load, barrier="full")
    assert str(s.find(loop)).startswith("tma_load(")
    with pytest.raises(Exception, match="is gone"):
        s.find(inner)
