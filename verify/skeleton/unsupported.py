"""What has no model: raised where it is met, and an UNSUPPORTED or UNKNOWN verdict in the end."""

from __future__ import annotations

from exogpu.source import Span


class NotModelled(Exception):
    """The proof has no model of what stands at `span`; `help` says how else to write it."""

    def __init__(self, reason: str, span: Span, help: str | None = None) -> None:
        super().__init__(reason, span, help)
        self.reason = reason
        self.span = span
        self.help = help

    def __str__(self) -> str:
        return self.reason


class ToldApart(NotModelled):
    """Threads that execute something together differ in it."""


class SharedInPart(NotModelled):
    """Statements on one barrier have some of their threads in common, but not all."""
