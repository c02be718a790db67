"""What texts of skeletons are read as."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.ir.index import Bin, Cmp, Index, Int, Not, Var
from exogpu.ir.instr import Mode
from exogpu.ir.skeleton.objects import Mbarriers, Ref, Shared
from exogpu.ir.skeleton.operations import Access, Arrive, Await, ProxyFence, TmaLoad, Unsupported, WarpSync
from exogpu.ir.skeleton.tree import Body, Elect, For, If, Let, RoleDecl, Skeleton, Step, Stmt, Unknown
from exogpu.ir.stmt import Point, Range
from exogpu.skeleton.operations import FORMS
from exogpu.skeleton.surface import SKELETONS, UNSUPPORTED, WORDS

Program = Callable[[str], dict[str, Skeleton]]
Body_ = Callable[[str], tuple[Stmt, ...]]

REFERENCE = (Path(__file__).parents[2] / "docs" / "skeletons.md").read_text(encoding="utf-8")


@pytest.fixture
def body(program: Program) -> Body_:
    """The statements of a role of 256 threads, from their text."""

    def read(text: str) -> tuple[Stmt, ...]:
        lines = "".join(f"        {line}\n" for line in text.splitlines())
        head = "from exogpu.skeleton import *\n\n\n@skeleton\ndef s(n: size):\n    cluster(2)\n    x = smem(3, 8)\n"
        head += '    b = mbarrier(3, count=1)\n    with role("all", threads=256):\n'
        return program(head + lines)["s"].bodies[0].stmts

    return read


def _slot(name: str, var: str, depth: int = 3) -> Ref:
    return Ref(name, (Point(Bin("%", Var(var), Int(depth))),))


def test_the_example_of_the_reference(program: Program) -> None:
    text = next(block for block in re.findall(r"```python\n(.*?)```", REFERENCE, re.DOTALL))
    load = For(
        "i",
        Int(0),
        Var("n"),
        (
            Await(_slot("empty", "i"), Bin("+", Bin("//", Var("i"), Int(3)), Int(1))),
            Arrive(_slot("full", "i"), Int(16384)),
            TmaLoad(_slot("tile", "i"), _slot("full", "i"), Int(16384)),
        ),
    )
    compute = For(
        "i_1",
        Int(0),
        Var("n"),
        (
            Await(_slot("full", "i_1"), Bin("//", Var("i_1"), Int(3))),
            Access(_slot("tile", "i_1"), Mode.READ),
            ProxyFence(),
            WarpSync(),
            Elect((Arrive(_slot("empty", "i_1")),)),
        ),
    )
    assert program(text) == {
        "ring": Skeleton(
            "ring",
            ("n",),
            (),
            1,
            256,
            None,
            (Mbarriers("full", (3,), 1), Mbarriers("empty", (3,), 4), Shared("tile", (3,))),
            (Body(RoleDecl("load", 0, 1, 1, (0,)), (load,)), Body(RoleDecl("compute", 128, 128, 32, (0,)), (compute,))),
        )
    }


def test_every_word_is_in_the_reference_and_every_statement_of_the_reference_is_a_word() -> None:
    assert {word for word in WORDS if not re.search(rf"\b{word}\b", REFERENCE)} == set()
    table = REFERENCE.partition("### Statements")[2]
    rows = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    written = {name for row in rows for name in re.findall(r"`(\w+)\(", row)}
    assert written == set(FORMS) | {"wgmma"}
    assert set(UNSUPPORTED) <= set(re.findall(r"`(\w+)`", table))


def test_words_are_objects_that_refuse_to_run() -> None:
    assert set(WORDS) >= {"smem", "role", "tid", "wait", "mma5"}
    assert SKELETONS.python == {"min", "max", "range", "exit"}
    with pytest.raises(TypeError, match=r"`wait` has a meaning only inside a function decorated with @skeleton"):
        WORDS["wait"](1)


# -- statements --------------------------------------------------------------------------------------------------------


def test_loop_variables_are_unique(body: Body_) -> None:
    read = body("for i in range(n):\n    for i in range(i, n):\n        pass\nfor i in range(2):\n    pass")
    assert read == (
        For("i", Int(0), Var("n"), (For("i_1", Var("i"), Var("n"), ()),)),
        For("i_2", Int(0), Int(2), ()),
    )


def test_counters(body: Body_) -> None:
    text = "c = 0\nph = c\nc += 2\nc -= 1\nph ^= 1\nc = (c + 1) % 3\nc = c + 4\nc += n\nc *= 2\nph = ph ^ 1\nc = 5"
    assert body(text) == (
        Let("c", Int(0)),
        Let("ph", Var("c")),
        Step("c", 2),
        Step("c", -1),
        Step("ph", 1, 2),
        Step("c", 1, 3),
        Step("c", 4),
        Let("c", Bin("+", Var("c"), Var("n"))),
        Let("c", Bin("*", Var("c"), Int(2))),
        Step("ph", 1, 2),
        Let("c", Int(5)),
    )


def test_a_counter_belongs_to_its_role_and_to_its_block(program: Program) -> None:
    text = """\
from exogpu.skeleton import *

@skeleton
def s(n: size):
    with role("a", threads=1):
        c = 0
        if n > 1:
            c = 1
            d = 2
        if n > 2:
            d = 3
    with role("b", threads=1):
        c = 4
"""
    a, b = program(text)["s"].bodies
    n_is = [Cmp(">", Var("n"), Int(k)) for k in (1, 2)]
    assert a.stmts == (
        Let("c", Int(0)),
        If(n_is[0], (Let("c", Int(1)), Let("d", Int(2))), ()),
        If(n_is[1], (Let("d_1", Int(3)),), ()),
    )
    assert b.stmts == (Let("c_1", Int(4)),)


def test_a_name_that_the_function_assigns_is_never_one_of_the_file(program: Program) -> None:
    from exogpu.diagnostics import BadInput

    text = """\
from exogpu.skeleton import *
c = 7

@skeleton
def s(n: size):
    x = smem(8)
    with role("a", threads=1):
        if n > 0:
            c = 1
        load(x[c])
"""
    with pytest.raises(BadInput, match="`c` has ended with its block"):
        program(text)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("tid", Var("tid")),
        ("warp", Bin("//", Var("tid"), Int(32))),
        ("lane", Bin("%", Var("tid"), Int(32))),
        ("rank", Var("rank")),
        ("n & 3", Bin("%", Var("n"), Int(4))),
        ("n if 1 < 2 else tid", Var("n")),
        ("1 + (n if 2 < 1 else tid)", Bin("+", Int(1), Var("tid"))),
        ("n >> 2", Bin("//", Var("n"), Int(4))),
        ("n << 2", Bin("*", Var("n"), Int(4))),
        ("min(n, tid, 3)", Bin("min", Bin("min", Var("n"), Var("tid")), Int(3))),
        ("ceildiv(lane, 4)", Bin("ceildiv", Bin("%", Var("tid"), Int(32)), Int(4))),
        ('unknown("u", below=3)', Var("u()")),
        ('unknown("u", n + 1, tid, below=3)', Var("u(n + 1, tid)")),
        ('unknown("u", unknown("v", below=2), below=3) + 1', Bin("+", Var("u(v())"), Int(1))),
    ],
)
def test_index_expressions(written: str, meant: Index, body: Body_) -> None:
    assert body(f"load(x[0, {written}])") == (Access(Ref("x", (Point(Int(0)), Point(meant))), Mode.READ),)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("n", Var("n")),
        ("n ^ 1", Bin("+", Var("n"), Int(1))),
        ("(n // 3) ^ 1", Bin("+", Bin("//", Var("n"), Int(3)), Int(1))),
        ("(n // 3 + 1) & 1", Bin("%", Bin("+", Bin("//", Var("n"), Int(3)), Int(1)), Int(2))),
    ],
)
def test_parities(written: str, meant: Index, body: Body_) -> None:
    assert body(f"wait(b[0], {written})") == (Await(Ref("b", (Point(Int(0)),)), meant),)


def test_unknown_numbers_have_one_name_for_one_text_and_the_same_variables(program: Program) -> None:
    text = """\
from exogpu.skeleton import *

@skeleton
def s(n: size):
    x = smem(4)
    with role("a", threads=1):
        for t in range(n):
            if pred("work", t):
                load(x[unknown("slot", t + 1, below=4)])
            if not pred("work", t) or pred("done"):
                load(x[unknown("slot", t+1, below=4)])
    with role("b", threads=1):
        for t in range(n):
            if pred("work", t):
                pass
"""
    read = program(text)["s"]
    assert read.unknowns == (
        ("work(t)", Unknown("work", (Var("t"),), 2)),
        ("slot(t + 1)", Unknown("slot", (Bin("+", Var("t"), Int(1)),), 4)),
        ("done()", Unknown("done", (), 2)),
        ("work(t_1)", Unknown("work", (Var("t_1"),), 2)),
    )
    loop = read.bodies[0].stmts[0]
    assert isinstance(loop, For)
    first, second = loop.body
    works = Cmp("!=", Var("work(t)"), Int(0))
    assert isinstance(first, If) and first.cond == works
    assert isinstance(second, If) and Not(works) in getattr(second.cond, "args", ())


def test_parts_of_objects(body: Body_) -> None:
    whole = Range(Int(0), 8)
    assert [getattr(s, "ref", None) for s in body("load(x)\nload(x[1])\nload(x[n, 2:6])\nload(x[:, tid])")] == [
        Ref("x", (Range(Int(0), 3), whole)),
        Ref("x", (Point(Int(1)), whole)),
        Ref("x", (Point(Var("n")), Range(Int(2), 4))),
        Ref("x", (Range(Int(0), 3), Point(Var("tid")))),
    ]
    (access,) = body("store(peer(x[1, 0:4], 1 - rank))")
    cta = Bin("-", Int(1), Var("rank"))
    assert access == Access(Ref("x", (Point(Int(1)), Range(Int(0), 4)), cta), Mode.WRITE)


def test_what_has_no_model_may_name_anything(body: Body_) -> None:
    text = "mma5(T, a * b)\nwith elect():\n    mma5_commit(done.pair, mask=0b11)\nT = tmem_alloc(512)\nload(x[T, 0])"
    first, (elected), alloc, access = body(text)
    assert first == Unsupported("mma5") and alloc == Unsupported("tmem_alloc")
    assert elected == Elect((Unsupported("mma5_commit"),))
    assert access == Access(Ref("x", (Point(Var("T")), Point(Int(0)))), Mode.READ)


def test_spans_point_at_the_text(body: Body_) -> None:
    loop, step = body("for i in range(n):\n    load(x[i])\nc = 3")
    assert isinstance(loop, For)
    assert (loop.span.line, loop.span.col, loop.span.end_col) == (10, 8, 26)
    (access,) = loop.body
    assert (access.span.line, access.span.col, access.span.end_col) == (11, 12, 22)
    assert (step.span.line, step.span.col, step.span.end_col) == (12, 8, 13)
