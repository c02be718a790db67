"""Arguments against annotations: no word, type or class in place of a value gets past an operator."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import exogpu.schedule
from exogpu.lang import SMEM
from exogpu.schedule import (
    Schedule,
    Tasks,
    Threads,
    Warps,
    arrive,
    divide,
    each,
    expand_dim,
    fence,
    fission,
    fix,
    insert,
    into_loop,
    launch,
    library,
    peel,
    schedule,
    set_memory,
    set_mode,
    set_type,
    split_reduction,
    stage,
    var,
    window,
)
from exogpu.schedule.signature import described, fits
from exogpu.schedule.work import Work
from tests.schedule.common import refusal, start

OPERATORS: dict[str, Callable[..., Any]] = {
    name: found
    for module in (exogpu.schedule, library)
    for name, found in vars(module).items()
    if callable(found) and not isinstance(found, type)
    if name in exogpu.schedule.__all__ or found.__module__ == library.__name__
}
WORDS = {
    (operator, name): get_args(hint)
    for operator, found in OPERATORS.items()
    for name, hint in get_type_hints(found).items()
    if get_origin(hint) is Literal
}


def test_help_shows_a_schedule_that_is_taken_and_returned() -> None:
    shown = signature(divide)
    assert [*shown.parameters] == ["schedule", "loop", "factor", "tail", "names"]
    assert shown.return_annotation == "Schedule"


def test_the_words_that_say_what_is_proved() -> None:
    assert {("stage", "edges"), ("stage", "before"), ("divide", "tail"), ("into_loop", "which")} <= WORDS.keys()
    assert {("peel", "which"), ("split_reduction", "edges"), ("split_reduction", "sums")} <= WORDS.keys()


@pytest.mark.parametrize("operator", sorted(OPERATORS))
def test_every_annotation_is_one_that_is_checked(operator: str) -> None:
    hints = get_type_hints(OPERATORS[operator])
    for name, hint in hints.items():
        if name != "return" and hint is not Work:
            assert not fits(object(), hint)
            assert described(hint)


ANY: dict[str, Any] = {"typo": "zeros", "none": None, "flag": True, "half": 12.5, "text": "256", "class": Threads}
S = start("copy")


def test_a_call_that_does_not_fit_is_shown_one_that_does() -> None:
    refused = refusal(lambda: OPERATORS["reorder"](S, "i", "j"), "schedule.argument")
    assert "too many positional arguments" in str(refused) and "reorder(schedule, loop)" in str(refused)
    assert "divide(schedule, loop, factor, tail=..., names=...)" in str(
        refusal(lambda: OPERATORS["divide"](S, "i"), "schedule.argument")
    )


@pytest.mark.parametrize("given", ["typo", "none", "flag"])
def test_words_are_those_listed(given: str) -> None:
    word = ANY[given]
    for apply, known in (
        (lambda: stage(S, "i", "x[0:4]", "t", edges=word), '"perfect", "guard" or "zero"'),
        (lambda: stage(S, "i", "x[0:4]", "t", edges="guard", before=word), '"copy", "zero" or "nothing"'),
        (lambda: divide(S, "i", 4, tail=word), '"perfect", "guard" or "cut"'),
        (lambda: into_loop(S, "i", word), '"first" or "last"'),
        (lambda: peel(S, "i", word), '"first" or "last"'),
        (lambda: split_reduction(S, "i", 2, "x[0]", "t", sums=word), '"added" or "kept"'),
    ):
        assert known in str(refusal(apply, "schedule.argument"))


@pytest.mark.parametrize(
    "apply",
    [
        lambda: divide(S, "i", ANY["half"]),
        lambda: divide(S, "i", ANY["flag"]),
        lambda: divide(S, ANY["half"], 4),
        lambda: divide(S, "i", 4, tail="guard", names=ANY["names"]),
        lambda: divide(S, "i", 4, tail="guard", names=ANY["text"]),
        lambda: divide(ANY["procedure"], "i", 4),
        lambda: fix(S, "N", ANY["half"]),
        lambda: fix(S, "N", ANY["flag"]),
        lambda: fix(S, ANY["flag"], 1),
        lambda: set_mode(S, "i", ANY["class"]),
        lambda: set_mode(S, "i", ANY["text"]),
        lambda: set_memory(S, "t", ANY["memory"]),
        lambda: set_type(S, "t", ANY["text"]),
        lambda: launch(S, ANY["text"]),
        lambda: launch(S, roles=ANY["roles"]),
        lambda: launch(S, 32, persistent=ANY["half"]),
        lambda: expand_dim(S, "t", ANY["text"], 0),
        lambda: fission(S, ANY["cursor"]),
        lambda: insert(S, S.find("i").after, ANY["fence"]),
        lambda: insert(S, S.find("i").after, ANY["fences"]),
        lambda: insert(S, S.find("i").after, each("u", ANY["text"], fence())),
        lambda: insert(S, S.find("i").after, arrive("b", tx=ANY["half"])),
        lambda: stage(S, "i", window("x", (0, ANY["text"])), "t"),
        lambda: library.modes(S, Threads(1), ANY["half"]),
        lambda: schedule(ANY["half"]),
    ],
)
def test_what_is_of_another_type(apply: Callable[[], Schedule], monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "names": ("b",),
        "procedure": S.proc,
        "memory": SMEM,
        "roles": {"all": 4},
        "cursor": S.find("y[_] = _"),
        "fence": "Fence()",
        "fences": [fence(), "Fence()"],
    }
    for name, value in given.items():
        monkeypatch.setitem(ANY, name, value)
    refusal(apply, "schedule.argument")


INTEGERS: tuple[Any, ...] = (np.int64(4), np.uint8(4), np.array(4))


@pytest.mark.parametrize("four", INTEGERS)
def test_integers_of_numpy_are_integers(four: Any) -> None:
    def derived(four: Any) -> Schedule:
        s = divide(S, "i", four, tail="guard", names=("o", "i"))
        s = set_mode(set_mode(s, "o", Tasks()), "i", Threads(four))
        s = launch(s, roles={"a": Warps(four)}, raster=four)
        s = stage(s, "y[_] = _", window("x", (four * var("o") + var("i"), 1)), "t", edges="guard")
        return set_memory(s, "t", SMEM(ring=four))

    assert derived(four).show() == derived(4).show()
    assert [step.call for step in derived(four).steps] == [step.call for step in derived(4).steps]
    assert str(var("i") * four // four % four) == str(var("i") * 4 // 4 % 4)


@pytest.mark.parametrize("given", [np.bool_(True), np.float64(4), np.array([4, 4]), np.int64])
def test_what_is_no_integer_of_numpy(given: Any) -> None:
    refusal(lambda: divide(S, "i", given), "schedule.argument")
    refusal(lambda: var("i") * given, "schedule.expression")
    refusal(lambda: set_mode(S, "i", Threads(given)), "schedule.argument")


def test_what_cannot_be_called_so() -> None:
    anyhow: Any = divide
    assert "'tial'" in str(refusal(lambda: anyhow(S, "i", 4, tial="guard"), "schedule.argument"))
    assert "'factor'" in str(refusal(lambda: anyhow(S, "i"), "schedule.argument"))


def test_a_place_and_statements_say_how_they_are_made() -> None:
    assert "take `before` or `after`" in str(refusal(lambda: fission(S, ANY["text"]), "schedule.argument"))
    found = refusal(lambda: insert(S, S.find("i").after, ANY["text"]), "schedule.argument")
    assert "make them by `fence`" in str(found)


@pytest.mark.parametrize("given", ["text", "half", "flag"])
def test_the_fields_of_modes_memories_and_roles(given: str) -> None:
    refusal(lambda: set_memory(S, "t", SMEM(swizzle=ANY[given])), "schedule.argument")
    refusal(lambda: launch(S, roles={"all": Warps(ANY[given])}), "schedule.argument")
    found = refusal(lambda: set_mode(S, "i", Threads(ANY[given])), "schedule.argument")
    assert f"not Threads(unit={ANY[given]!r})" in str(found)


def test_a_list_does_for_a_tuple() -> None:
    names: Any = ["b", "t"]
    assert "for b in" in divide(S, "i", 4, tail="guard", names=names).show()


def test_a_refusal_says_what_is_taken() -> None:
    found = str(refusal(lambda: set_mode(S, "i", ANY["class"]), "schedule.argument"))
    assert "`mode` of `set_mode` is Seq, Unroll, Tasks or Threads, not the class Threads" in found
    assert "help: write parentheses" in found
