"""The parts of a tree of CUDA C++, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass


def parts(node: object) -> Iterator[object]:
    """What a node consists of, or several nodes."""
    if isinstance(node, tuple):
        yield from node
    elif is_dataclass(node):
        yield from (getattr(node, field.name) for field in fields(node))


def walk(node: object) -> Iterator[object]:
    """A node, or several, and all that they consist of."""
    yield node
    for part in parts(node):
        yield from walk(part)
