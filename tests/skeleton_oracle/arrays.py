"""Rings in parts of mbarrier arrays: full and empty barriers in one array, arrays that are too long."""

from __future__ import annotations

import re

from tests.skeleton_oracle.lines import mapped
from tests.skeleton_oracle.teams import Build

BARRIERS = re.compile(r"(\w+) = mbarrier\((\d+)(, count=\d+)?\)")


def shared(b: Build) -> None:
    """Two arrays of one depth become one: behind each other, or in turn."""
    found = [m for text in b.objects if (m := BARRIERS.fullmatch(text))]
    pairs = [(m, n) for m in found for n in found if m is not n and m.groups()[1:] == n.groups()[1:]]
    if not pairs:
        return
    one, other = b.pick(pairs)
    array, depth = b.name("bars"), int(one.group(2))
    forms = b.pick((("{}", f"{depth} + {{}}"), ("2 * ({})", "2 * ({}) + 1"), (f"{depth + 1} + {{}}", "{}")))
    for match, form in zip((one, other), forms, strict=True):
        b.objects.remove(match.group())
        _renamed(b, match.group(1), array, form)
    b.objects.insert(0, f"{array} = mbarrier({2 * depth + b.pick((1, 2))}{one.group(3) or ''})")


def _renamed(b: Build, old: str, new: str, form: str) -> None:
    """Elements of one array are elements of another."""
    element = re.compile(rf"\b{old}\[([^\]]*)\]")

    def rename(text: str) -> str:
        return element.sub(lambda m: f"{new}[{form.format(m.group(1))}]", text)

    for team in b.teams:
        team.body[:] = mapped(tuple(team.body), rename)
