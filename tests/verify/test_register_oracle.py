"""Register operands and accumulators of wgmma: the prover against the explicit oracle on random orders of loads,
fences, products, commits, waits and stores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exogpu.verify.result import Status
from tests.verify.test_oracle import agree

HEADER = """from exogpu.lang import *

@proc
def kernel(T: size, K: size, A: bf16[64, 64] @ GMEM, C: f32[T, 64, 16] @ GMEM):
    require(T >= 1)
    block(128)
    full = mbarrier(ring=1, count=1)
    for t in tasks(0, T):
        a: bf16[64, 64] @ SMEM(swizzle=128)
        r: bf16[1, 64, 32] @ WGMMA_A
        d0: f32[1, 64, 8] @ WGMMA_D
        d1: f32[1, 64, 8] @ WGMMA_D
        for p in threads(1):
            tma_load(a[:, :], A[0:64, 0:64], full)
            Arrive(full, tx=8192)
        Await(full)
        ldmatrix(r[0, :, :], a[:, 0:32])
        wgmma_fence()
"""

FOOTER = """        wgmma_commit()
        wgmma_wait(0)
        acc_store(C[t, 0:64, 0:8], d0[0, :, :])
        acc_store(C[t, 0:64, 8:16], d1[0, :, :])
"""


@dataclass(frozen=True)
class Step:
    """One statement on operand register set `r` and accumulator `d`."""

    kind: str
    r: int
    d: int
    pending: int

    def text(self) -> str:
        """The statement."""
        half = f"r[0, :, {16 * self.r} : {16 * self.r + 16}]"
        columns = f"{8 * self.d} : {8 * self.d + 8}"
        match self.kind:
            case "load":
                return f"ldmatrix({half}, a[:, 0:16])"
            case "rs":
                return f"wgmma_rs(d{self.d}[0, :, :], {half}, a[0:8, 0:16], accumulate=False)"
            case "ss":
                return f"wgmma(d{self.d}[0, :, :], a[:, 0:16], a[8:16, 0:16], accumulate=False)"
            case "store":
                return f"acc_store(C[t, 0:64, {columns}], d{self.d}[0, :, :])"
            case "wait":
                return f"wgmma_wait({self.pending})"
            case kind:
                return f"wgmma_{kind}()"


IDIOMS = (
    "load fence",
    "load fence",
    "rs commit",
    "rs commit",
    "ss commit",
    "wait",
    "wait store fence",
    "wait load fence",
)


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    """Idioms one after the other, now and then with one statement left out."""
    out: list[Step] = []
    for idiom in draw(st.lists(st.sampled_from(IDIOMS), max_size=4)):
        r, d, pending = draw(st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from((0, 0, 0, 1))))
        out += [Step(kind, r, d, pending) for kind in idiom.split()]
    dropped = draw(st.integers(0, 20))
    return out[:dropped] + out[dropped + 1 :]


FIRST = (Step("rs", 0, 0, 0), Step("rs", 1, 1, 0), Step("commit", 0, 0, 0), Step("wait", 0, 0, 0))


def source(inside: list[Step], after: list[Step]) -> str:
    """Every accumulator is written once, then `inside` K times, then `after`."""
    lines = [f"        {s.text()}\n" for s in FIRST]
    lines += ["        for k in seq(0, K):\n"] * bool(inside) + [f"            {s.text()}\n" for s in inside]
    return "".join((HEADER, *lines, *(f"        {s.text()}\n" for s in after), FOOTER))


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps(), steps())
def test_prover_and_oracle_agree_on_registers(tmp_path: Path, inside: list[Step], after: list[Step]) -> None:
    status = agree(tmp_path / "registers.py", source(inside, after), range(1, 2), trips=range(3))
    assert status in (Status.PROVED, Status.REFUTED)
