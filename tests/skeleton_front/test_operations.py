"""The operation that each statement is read as."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from exogpu.ir.index import Bin, Cmp, Int, Var
from exogpu.ir.instr import Group, Mode
from exogpu.ir.skeleton import operations as ops
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.tree import Skeleton, Stmt
from exogpu.ir.stmt import Point, Range
from exogpu.skeleton.operations import FORMS

Program = Callable[[str], dict[str, Skeleton]]

HEAD = """\
from exogpu.skeleton import *

@skeleton
def s(n: size):
    cluster(2)
    x = smem(2, 8)
    y = gmem(n, 8)
    acc = registers()
    a = registers(2)
    b = mbarrier(2)
    f = flags()
    with role("all", threads=256):
        """

ROW = Ref("x", (Point(Int(0)), Range(Int(0), 8)))
PEER = Ref("x", ROW.dims, Int(1))
Y = Ref("y", (Point(Var("n")), Range(Int(0), 8)))
B = Ref("b", (Point(Int(1)),))
B1 = Ref("b", B.dims, Int(1))
F = Ref("f", ())
ACC = Ref("acc", ())
A = Ref("a", (Point(Int(1)),))

READ: list[tuple[str, tuple[Stmt, ...]]] = [
    ("load(x[0])", (ops.Access(ROW, Mode.READ),)),
    ("store(peer(x[0], 1))", (ops.Access(PEER, Mode.WRITE),)),
    ("update(y[n])", (ops.Access(Y, Mode.REDUCE),)),
    ("load(acc)", (ops.Access(ACC, Mode.READ),)),
    ("st_async(peer(x[0], 1), peer(b[1], 1), bytes=8)", (ops.StAsync(PEER, B1, Int(8)),)),
    ("tma_load(x[0], b[1], bytes=8)", (ops.TmaLoad(ROW, B, Int(8)),)),
    ("tma_load(x[0], b[1], 8)", (ops.TmaLoad(ROW, B, Int(8)),)),
    (
        "tma_load(x[0], b[1], bytes=8, multicast=(0, 1), src=y[n])",
        (ops.TmaLoad(ROW, B, Int(8), (Int(0), Int(1)), Y),),
    ),
    (
        "tma_load(x[0], b[1], bytes=n * 2, multicast=(1 - rank,))",
        (ops.TmaLoad(ROW, B, Bin("*", Var("n"), Int(2)), (Bin("-", Int(1), Var("rank")),)),),
    ),
    ("tma_store(x[0])", (ops.TmaStore(ROW),)),
    ("tma_store(x[0], y[n])", (ops.TmaStore(ROW, Y),)),
    ("tma_reduce(x[0], y[n])", (ops.TmaStore(ROW, Y, True),)),
    ("bulk_commit()", (ops.Commit(Group.BULK),)),
    ("bulk_wait(1)", (ops.Wait(Group.BULK, 1),)),
    ("bulk_wait_read(0)", (ops.Wait(Group.BULK, 0, True),)),
    ("cp_async(x[0])", (ops.CpAsync(ROW),)),
    ("cp_async(x[0], y[n])", (ops.CpAsync(ROW, Y),)),
    ("cp_commit()", (ops.Commit(Group.COPY),)),
    ("cp_wait(2)", (ops.Wait(Group.COPY, 2),)),
    ("cp_wait_all()", (ops.Wait(Group.COPY, ops.ALL),)),
    ("cp_arrive(b[1])", (ops.CopyArrive(B, False),)),
    ("cp_arrive(b[1], noinc=True)", (ops.CopyArrive(B, True),)),
    ("wgmma(acc, x[0], x[0])", (ops.Wgmma(ACC, (ROW, ROW)),)),
    ('wgmma(acc, a[1], x[0], shape="n64")', (ops.Wgmma(ACC, (A, ROW), "n64"),)),
    ("wgmma_fence()", (ops.WgmmaFence(),)),
    ("wgmma_commit()", (ops.Commit(Group.WGMMA),)),
    ("wgmma_wait(1)", (ops.Wait(Group.WGMMA, 1),)),
    ("init(b[1], 4)", (ops.Init(B, 4),)),
    ("inval(b[1])", (ops.Inval(B),)),
    ("arrive(b[1])", (ops.Arrive(B),)),
    ("arrive(b[1], tx=8, count=2, relaxed=True)", (ops.Arrive(B, Int(8), 2, True),)),
    ('arrive(peer(b[1], 1), scope="cluster")', (ops.Arrive(B1, None, 1, False, "cluster"),)),
    ("expect(b[1], 8)", (ops.Expect(B, Int(8)),)),
    ("wait(b[1], n)", (ops.Await(B, Var("n")),)),
    ('wait(b[1], parity=1, relaxed=True, scope="cluster")', (ops.Await(B, Int(1), True, "cluster"),)),
    ("cta_sync()", (ops.BarSync(Int(0), None),)),
    ("bar_sync(warp, 64)", (ops.BarSync(Bin("//", Var("tid"), Int(32)), 64),)),
    ("bar_arrive(id=2, n=64)", (ops.BarSync(Int(2), 64, False),)),
    ("warp_sync()", (ops.WarpSync(),)),
    ("cluster_sync()", (ops.ClusterArrive(), ops.ClusterWait())),
    ("cluster_arrive(relaxed=True)", (ops.ClusterArrive(True),)),
    ("cluster_wait()", (ops.ClusterWait(),)),
    ("proxy_fence()", (ops.ProxyFence(),)),
    ("proxy_fence(everywhere=True)", (ops.ProxyFence(True),)),
    ("init_fence()", (ops.InitFence(),)),
    ('fence("sys")', (ops.MemoryFence("sys"),)),
    ("signal(f, 1)", (ops.Signal(F, Int(1), False, False, "gpu"),)),
    ('signal_add(f, n, relaxed=True, scope="sys")', (ops.Signal(F, Var("n"), True, True, "sys"),)),
    ("spin(f, n)", (ops.Spin(F, Var("n"), False, "gpu"),)),
    ("maxnreg_inc(240)", (ops.SetMaxnreg(240, True),)),
    ("maxnreg_dec(40)", (ops.SetMaxnreg(40, False),)),
    ("exit()", (ops.Exit(),)),
    ('check(tid < n, "in range")', (ops.Check(Cmp("<", Var("tid"), Var("n")), "in range"),)),
    ("check(tid < n)", (ops.Check(Cmp("<", Var("tid"), Var("n")), "tid < n"),)),
    ("pdl_wait()", (ops.Unsupported("pdl_wait"),)),
]


@pytest.mark.parametrize(("text", "meant"), READ, ids=[text for text, _ in READ])
def test_statement(text: str, meant: tuple[Stmt, ...], program: Program) -> None:
    (body,) = program(HEAD + text + "\n")["s"].bodies
    assert body.stmts == meant
    assert all(s.span.line == 13 for s in body.stmts)


def test_every_statement_is_read_here() -> None:
    assert set(FORMS) <= {text.partition("(")[0] for text, _ in READ}
