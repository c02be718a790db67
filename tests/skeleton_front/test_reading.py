"""What texts of skeletons are read as."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.ir.index import Bin, Cmp, Index, Int, Not, Var
from exogpu.ir.instr import Mode
from exogpu.ir.skeleton.objects import Flags, Global, Mbarriers, Ref, Registers, Shared
from exogpu.ir.skeleton.operations import Access, Arrive, Await, ProxyFence, TmaLoad, Unsupported, WarpSync
from exogpu.ir.skeleton.tree import Body, Elect, For, If, Let, Require, RoleDecl, Skeleton, Step, Stmt, Unknown
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


# -- objects and roles -------------------------------------------------------------------------------------------------

OBJECTS = """\
from exogpu.skeleton import *

@skeleton
def s(n: size, m: size):
    require(n >= 1 and m < n)
    cluster(2)
    launch(registers=168)
    x = smem(3, 4, 5)
    one = smem()
    over = smem(7, at=x[1, 2])
    top = smem(2, at=over[3])
    y = gmem(n, 2 * 8, result=True)
    g = gmem()
    acc = registers()
    a = registers(2)
    b = mbarrier(3, 2, count=4)
    late = mbarrier(2, at=x[2])
    f = flags(4)
    with role("a", threads=1, ctas=1):
        pass
    with role("b", warps=2):
        pass
    with role("c", threads=128):
        pass
    with role("d", threads=40, ctas=(0, 1)):
        pass
    with role("e", warps=8):
        pass
"""


def test_objects(program: Program) -> None:
    assert program(OBJECTS)["s"].objects == (
        Shared("x", (3, 4, 5)),
        Shared("one", ()),
        Shared("over", (7,), "x", 30),
        Shared("top", (2,), "x", 33),
        Global("y", (Var("n"), Bin("*", Int(2), Int(8))), True),
        Global("g", ()),
        Registers("acc", ()),
        Registers("a", (2,)),
        Mbarriers("b", (3, 2), 4),
        Mbarriers("late", (2,), None, "x", 40),
        Flags("f", (4,)),
    )


def test_roles_are_consecutive_and_aligned(program: Program) -> None:
    read = program(OBJECTS)["s"]
    assert [b.role for b in read.bodies] == [
        RoleDecl("a", 0, 1, 1, (1,)),
        RoleDecl("b", 32, 64, 32, (0, 1)),
        RoleDecl("c", 128, 128, 128, (0, 1)),
        RoleDecl("d", 256, 40, 40, (0, 1)),
        RoleDecl("e", 384, 256, 32, (0, 1)),
    ]
    assert (read.cluster, read.registers, read.threads, read.sizes) == (2, 168, 640, ("n", "m"))
    assert len(read.requires) == 1 and isinstance(read.requires[0], Require)


def test_threads_are_whole_warps(program: Program) -> None:
    text = 'from exogpu.skeleton import *\n@skeleton\ndef s():\n    with role("a", threads=33):\n        pass\n'
    assert program(text)["s"].threads == 64


def test_a_factory_gives_skeletons_of_several_depths(program: Program) -> None:
    text = """\
from exogpu.skeleton import *

def build(depth, stores):
    @skeleton
    def ring(n: size):
        x = smem(depth)
        if stores:
            y = smem(depth * 2)
        with role("a", threads=1):
            for i in range(n):
                if depth > 2:
                    load(x[i % depth])
        if depth > 2:
            with role("b", threads=32):
                pass
    return ring

two, three = build(2, False), build(3, True)
"""
    read = program(text)
    assert [o.shape for o in read["two"].objects] == [(2,)]
    assert [o.shape for o in read["three"].objects] == [(3,), (6,)]
    assert [len(r.bodies) for r in read.values()] == [1, 2]
    loop = read["three"].bodies[0].stmts[0]
    assert isinstance(loop, For) and loop.body == (Access(_slot("x", "i"), Mode.READ),)
    assert read["two"].bodies[0].stmts == (For("i", Int(0), Var("n"), ()),)


@pytest.mark.parametrize("order", ["skeleton lang", "lang skeleton"])
def test_kernels_and_skeletons_in_one_file(order: str, tmp_path: Path) -> None:
    from exogpu.lang.load import definitions, load

    first, second = order.split()
    file = tmp_path / "both.py"
    file.write_text(
        f"from exogpu.{first} import *\nfrom exogpu.{second} import *\n\n"
        "@proc\ndef copy(M: size, X: f32[M] @ GMEM, Y: f32[M] @ GMEM):\n    block(32)\n"
        "    done = mbarrier(ring=2, count=1)\n    for t in tasks(0, M):\n        for k in threads(1):\n"
        "            Y[t] = X[t]\n            bulk_commit()\n            bulk_wait(0)\n\n"
        '@skeleton\ndef s(n: size):\n    x = smem()\n    b = mbarrier(2, count=1)\n    with role("a", threads=1):\n'
        "        load(x)\n        tma_load(x, b[0], bytes=16)\n        wgmma_fence()\n",
        encoding="utf-8",
    )
    assert list(definitions(file)) == ["copy", "s"] and list(load(file)) == ["copy"]


def test_words_by_way_of_the_module(program: Program) -> None:
    text = """\
import exogpu.skeleton as k

@k.skeleton
def s(n: k.size):
    x = k.smem(k.ceildiv(9, 4))
    with k.role("a", threads=1):
        k.load(x[1])
"""
    read = program(text)["s"]
    assert read.objects == (Shared("x", (3,)),)
    assert read.bodies[0].stmts == (Access(Ref("x", (Point(Int(1)),)), Mode.READ),)


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
