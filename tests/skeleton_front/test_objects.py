"""Objects, roles and files: what stands around the statements."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from exogpu.ir.index import Bin, Int, Var
from exogpu.ir.instr import Mode
from exogpu.ir.skeleton.objects import Flags, Global, Mbarriers, Ref, Registers, Shared
from exogpu.ir.skeleton.operations import Access
from exogpu.ir.skeleton.tree import For, Require, RoleDecl, Skeleton
from exogpu.ir.stmt import Point
from exogpu.lang.load import definitions, load

Program = Callable[[str], dict[str, Skeleton]]

OBJECTS = """\
from exogpu.skeleton import *

@skeleton
def s(n: size, m: size):
    require(n >= 1 and m < n)
    cluster(2)
    launch(registers=96)
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
    assert (read.cluster, read.registers, read.threads, read.sizes) == (2, 96, 640, ("n", "m"))
    assert len(read.requires) == 1 and isinstance(read.requires[0], Require)


def test_threads_are_whole_warps(program: Program) -> None:
    text = 'from exogpu.skeleton import *\n@skeleton\ndef s():\n    with role("a", threads=33):\n        pass\n'
    assert program(text)["s"].threads == 64


def test_an_election_in_the_line_of_a_role(program: Program) -> None:
    text = "from exogpu.skeleton import *\n@skeleton\ndef s():\n    x = smem()\n"
    nested = '    with role("a", warps=2):\n        with elect(any=True):\n            load(x)\n'
    joined = '    with role("a", warps=2), elect(any=True):\n        load(x)\n'
    assert program(text + nested) == program(text + joined)


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
    assert isinstance(loop, For) and loop.body == (Access(Ref("x", (Point(Bin("%", Var("i"), Int(3))),)), Mode.READ),)
    assert read["two"].bodies[0].stmts == (For("i", Int(0), Var("n"), ()),)


@pytest.mark.parametrize("order", ["skeleton lang", "lang skeleton"])
def test_kernels_and_skeletons_in_one_file(order: str, tmp_path: Path) -> None:
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
