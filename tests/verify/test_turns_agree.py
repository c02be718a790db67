"""Random kernels with periodic guards and units that take turns: the prover, the explicit oracle and the simulator."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exogpu.lang import load
from exogpu.verify.concrete import Env
from exogpu.verify.explicit import faults
from exogpu.verify.lower import lower
from exogpu.verify.program import TASKS
from exogpu.verify.prove import verify
from exogpu.verify.result import Status
from exogpu.verify.simulator import Agrees, simulate

TEXT = """from exogpu.lang import *

@proc
def k(T: size, K: size, X: f32[T, 32] @ GMEM, Y: f32[T, 32] @ GMEM):
    require(T >= 1)
    block(producer=warps(1), consumer=warps({units}), persistent=True)
    full = mbarrier(ring={ring}, count=1)
    empty = mbarrier(ring={ring}, count=1)
    turn = mbarrier(ring={turns}, count=1)
    for t in tasks(0, T):
        with role(consumer[{unit}]):
            {take}
        for k in seq(0, K):
            s: f32[32] @ SMEM(ring={slots})
            with role(producer):
                if {guard}:
                    Await(empty, lag={lag})
                    for l in threads(32):
                        s[l] = X[t, l]
                    Fence()
                    Arrive(full)
            with role(consumer[{unit}]):
                if {guard}:
                    Await(full)
                    own: f32[32] @ SMEM(ring={own})
                    for l in threads(32):
                        own[l] = s[31 - l]
                    Fence()
                    Arrive(empty)
                    for l in threads(32):
                        Y[t, l] = own[31 - l]
                    {join}
        with role(consumer[{unit}]):
            Fence()
            Arrive(turn)
"""


@dataclass(frozen=True)
class Choices:
    """What fills the text."""

    units: int
    ring: int
    turns: int
    slots: int
    own: int
    lag: int
    unit: str
    guard: str
    take: str
    join: str

    def source(self) -> str:
        """The kernel's text."""
        return TEXT.format(**asdict(self))


choices = st.builds(
    Choices,
    units=st.just(2),
    ring=st.integers(1, 2),
    turns=st.integers(1, 2),
    slots=st.integers(1, 2),
    own=st.integers(1, 2),
    lag=st.integers(0, 2),
    unit=st.sampled_from(["ordinal % 2", "ordinal % 2", "(ordinal + 1) % 2", "ordinal // 2 % 2", "0"]),
    guard=st.sampled_from(["k >= 0", "k % 2 == 0", "(k + 1) % 3 != 1", "k > 0 and k % 2 == 1"]),
    take=st.sampled_from(["Await(turn, lag=1)", "Await(turn, lag=1)", "pass"]),
    join=st.sampled_from(["Fence()", "Fence()", "pass"]),
)
SIZES = [(k, n) for k in (1, 3) for n in (1, 3)]


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choices)
def test_prover_oracle_and_simulator_agree(tmp_path: Path, made: Choices) -> None:
    path = tmp_path / "turns.py"
    path.write_text(made.source())
    kernel = load(path)["k"]
    program = lower(kernel)
    report = verify(kernel)

    def wrong(k: int, n: int) -> list[str]:
        sizes: Env = {"T": 3, "K": k, TASKS: n}
        found = [f.rule for f in faults(program, sizes, tuple({"t": t} for t in range(n)))]
        outcome = simulate(kernel, {"T": n, "K": k}, schedules=4)
        return found + ([] if isinstance(outcome, Agrees) else [str(outcome)])

    if report.status is Status.PROVED:
        assert not any(wrong(k, n) for k, n in SIZES)
    if report.status is Status.REFUTED:
        rules = {o.rule for o in report.obligations if o.status is Status.REFUTED}
        if rules - {"mbar.parity_alias", "mbar.unobserved_phase", "race.waw"}:
            assert any(wrong(k, n) for k in range(1, 5) for n in (1, 2, 4))
