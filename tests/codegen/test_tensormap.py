"""Every documented constraint of cuTensorMapEncodeTiled is checked, with a sentence that names the array."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exogpu.codegen.tensormap import MapRequest, problems
from exogpu.ir.types import Scalar

GOOD = MapRequest("A", Scalar.BF16, 0x7F0000000400, (1000, 72), (144,), (128, 64), 128)


def test_a_good_request_has_no_problems() -> None:
    assert list(problems(GOOD)) == []
    assert list(problems(replace(GOOD, dims=(2**32, 1), strides=(16,)))) == []


@pytest.mark.parametrize(
    "change, message",
    [
        ({"address": 0x7F0000000408}, "not a multiple of 16 bytes"),
        ({"strides": (146,)}, "146 bytes apart, not a multiple of 16"),
        ({"strides": (0,)}, "less than 2\\^40"),
        ({"strides": (2**40,)}, "less than 2\\^40"),
        ({"dims": (0, 72)}, "dimension 0 of `A` is 0"),
        ({"dims": (2**32 + 1, 72)}, "1 to 2\\^32"),
        ({"box": (257, 64)}, "extent 257 in dimension 0"),
        ({"box": (0, 64)}, "extent 0"),
        ({"box": (128, 65)}, "130 bytes"),
        ({"box": (128, 128)}, "256 bytes, more than the swizzle of 128"),
        ({"box": (128, 64, 1)}, "2 dimensions, the map 3"),
        ({"swizzle": 96}, "swizzle 96"),
        ({"swizzle": 64}, "more than the swizzle of 64"),
    ],
)
def test_each_constraint(change: dict[str, Any], message: str) -> None:
    found = list(problems(replace(GOOD, **change)))
    assert found, "the request must be refused"
    assert any(__import__("re").search(message, text) for text in found), found
    assert all("`A`" in text or "map" in text for text in found)


def test_all_problems_are_told() -> None:
    bad = replace(GOOD, address=8, strides=(146,), box=(300, 64))
    assert len(list(problems(bad))) == 3
