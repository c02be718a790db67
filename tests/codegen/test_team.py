"""Thread loops: who takes part, with which variable; and one named barrier for each group of threads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exogpu.codegen.lower.team import Team, cta, split
from exogpu.diagnostics import BadInput
from exogpu.ir.index import Int
from exogpu.ir.named import plan_barriers
from exogpu.ir.proc import Launch, Proc, RoleDecl
from exogpu.ir.stmt import Fence, For, Role, Threads
from tests.codegen.tree_value import value


def environment(thread: int) -> dict[str, int]:
    return {"thread": thread, "warp": thread // 32, "lane": thread % 32}


def role(first: int, size: int) -> Team:
    return replace(cta(size), firsts=(first,))


def check(team: Team, lo: int, hi: int, unit: int, members: dict[int, int]) -> tuple[Team, dict[int, int]]:
    """Compare a split with its definition for every thread of `members` (CTA thread -> index in the team)."""
    found = split(team, lo, hi, unit)
    inside: dict[int, int] = {}
    for thread, index in members.items():
        env = environment(thread)
        takes_part = found.takes_part is None or bool(value(found.takes_part, env))
        assert takes_part == (lo * unit <= index < hi * unit)
        if takes_part:
            variable = lo if found.value is None else value(found.value, env)
            assert variable == index // unit
            assert value(found.team.thread, env) == index % unit
            assert unit % 32 or value(found.team.warp, env) == index % unit // 32
            assert found.team.firsts[value(found.team.member, env)] == thread - index % unit
            inside[thread] = index % unit
    return found.team, inside


@pytest.mark.parametrize(
    "size, lo, hi, unit",
    [
        (256, 0, 2, 128),
        (256, 0, 8, 32),
        (256, 0, 16, 16),
        (256, 0, 256, 1),
        (256, 0, 1, 1),
        (256, 0, 3, 64),
        (256, 1, 2, 128),
        (96, 0, 3, 32),
        (192, 0, 2, 96),
        (256, 2, 5, 8),
        (128, 0, 1, 128),
        (128, 0, 1, 32),
        (256, 3, 4, 16),
    ],
)
def test_split(size: int, lo: int, hi: int, unit: int) -> None:
    check(cta(size), lo, hi, unit, {t: t for t in range(size)})


def test_nested_splits() -> None:
    team, members = check(cta(256), 0, 2, 128, {t: t for t in range(256)})
    team, members = check(team, 0, 4, 32, members)
    team, members = check(team, 0, 2, 16, members)
    check(team, 0, 16, 1, members)
    assert len(team.firsts) == 16 and len(set(team.firsts)) == 16


@pytest.mark.parametrize(
    "size, outer, inner", [(96, 48, 32), (160, 80, 32), (96, 48, 16), (192, 96, 64), (320, 80, 64)]
)
def test_splits_of_groups_that_are_not_whole_warps(size: int, outer: int, inner: int) -> None:
    everyone = {t: t for t in range(size)}
    for lo, hi in [(0, size // outer), (1, 2)]:
        team, members = check(cta(size), lo, hi, outer, everyone)
        for last in range(1, outer // inner + 1):
            narrow, threads = check(team, 0, last, inner, members)
            check(narrow, 0, inner, 1, threads)
            check(narrow, 0, 1, inner, threads)
            if inner % 32 == 0:
                check(narrow, 0, inner // 32, 32, threads)


def test_each_group_has_its_own_barrier() -> None:
    narrow = (
        For("a", Int(0), Int(2), Threads(128), (Fence(), Fence())),
        For("b", Int(0), Int(4), Threads(64), (Fence(),)),
    )
    ids = plan_barriers(Proc("k", (), (), ROLES, (), (Role("right", narrow), Fence())))
    halves = split(role(128, 256), 0, 2, 128).team
    pairs = split(role(128, 256), 0, 4, 64).team
    first, second = ids.teams[halves.firsts, halves.size], ids.teams[pairs.firsts, pairs.size]
    numbers = [*range(first, first + 2), *range(second, second + 4)]
    assert len(set(numbers)) == 6 and min(numbers) == 1


def test_running_out_of_barriers_is_a_diagnostic() -> None:
    narrow = For("a", Int(0), Int(16), Threads(64), (Fence(),))
    with pytest.raises(BadInput) as caught:
        plan_barriers(Proc("k", (), (), Launch(1024), (), (narrow,)))
    assert caught.value.diagnostics[0].code == "bar.ids"
    assert "15 named barriers" in caught.value.diagnostics[0].message


ROLES = Launch(384, (RoleDecl("left", 0, 128), RoleDecl("right", 128, 256)))
