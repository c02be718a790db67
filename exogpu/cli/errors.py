"""The error that ends a command with exit status 2."""

from __future__ import annotations


class UsageError(Exception):
    """The command cannot be carried out as asked; the text says why and what to do instead."""
