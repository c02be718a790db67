"""A claim: a property of single statements with its rule, what it shows, and what to say when it fails."""

from __future__ import annotations

from dataclasses import dataclass

from exogpu.source import Span
from exogpu.verify.single import Property


@dataclass(frozen=True, slots=True)
class Claim:
    """A property with its rule, what it shows, and what to say when it fails."""

    prop: Property
    rule: str
    title: str
    message: str
    span: Span
    help: str | None = None
