"""Names of what a skeleton's statements become."""

from __future__ import annotations

CTA_BARRIER = 0
"""The named barrier of bar.sync without an id."""


def barrier_name(array: str, fixed: tuple[int, ...]) -> str:
    """An mbarrier array, or a part of it at fixed indices."""
    return array + "".join(f"[{n}]" for n in fixed)


def named_barrier(number: int) -> str:
    """A named barrier."""
    return f"barrier {number}"
