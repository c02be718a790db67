"""The trust boundary between the verifier and the emitter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exogpu.verify.prove import prove
from exogpu.verify.proven import ProvenKernel
from tests.texts import kernel

TEXT = """
def put(M: size, Y: f32[M] @ GMEM):
    block(32)
    for m in tasks(0, M):
        for t in threads(1):
            Y[{row}] = 1.0
"""


def test_a_proof_is_of_one_kernel(tmp_path: Path) -> None:
    good, bad = (kernel(tmp_path, TEXT.format(row=row)) for row in ("m", "m + 1"))
    proven, _ = prove(good)
    assert isinstance(proven, ProvenKernel) and prove(bad)[0] is None
    with pytest.raises((TypeError, ValueError)):
        replace(proven, proc=bad)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        ProvenKernel(bad, proven.report, None)  # type: ignore[arg-type]
