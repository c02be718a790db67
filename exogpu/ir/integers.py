"""Python's integers and what stands for them, as NumPy's do."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex


def as_integer(value: object) -> int | None:
    """A value as an integer, or None if it is not one; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return index(value)
    except TypeError:  # a class has its instances' method, an array is an integer only if it has one element
        return None
