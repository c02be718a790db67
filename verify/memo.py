"""What has been worked out about one program, kept so that nobody works it out twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

T = TypeVar("T")


class Memo:
    """Results by key. A program has one of its own; `dataclasses.replace` gives the copy a new one."""

    def __init__(self) -> None:
        self._found: dict[Hashable, object] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result under `key`, made the first time; one key always stands for one `make`."""
        if key not in self._found:
            self._found[key] = make()
        return cast(T, self._found[key])
