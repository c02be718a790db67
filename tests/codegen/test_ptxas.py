"""The assembler's report is read, and its ominous remarks are errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.codegen.emit import emit
from exogpu.codegen.ptxas import Resources, check_log, parse_resources
from exogpu.diagnostics import BadInput
from exogpu.ir.proc import Launch, Proc, RoleDecl
from tests.codegen.proofs import parse

LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
ptxas         .     512 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 168 registers, used 16 barriers, 512 bytes cumulative stack size
ptxas info    : Compile time = 111.917 ms"""

ROLES = (RoleDecl("p", 0, 128, 40), RoleDecl("c", 128, 256, 232))
PROC = Proc("k", (), (), Launch(384, ROLES), (), ())


def test_resources() -> None:
    assert parse_resources(LOG) == Resources(168, 512, 16, 24, 16)
    assert check_log(LOG, PROC).registers == 168


@pytest.mark.parametrize(
    "remark, code",
    [
        ("(C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine", "setmaxnreg.pool"),
        ("(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized", "wgmma.contract"),
        ("(C7514) Potential Performance Loss: wgmma.mma_async instructions are serialized", "wgmma.contract"),
        ("(C7517) warpgroup.wait is injected in around line 861 by compiler", "wgmma.contract"),
    ],
)
def test_remarks_that_are_errors(remark: str, code: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_log(f"ptxas info    : {remark}\n{LOG}", PROC)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code and remark.split(") ", 1)[1] in diagnostic.message


def test_roles_cannot_ask_for_more_than_the_compiled_kernel_has() -> None:
    with pytest.raises(BadInput) as caught:
        check_log(LOG.replace("Used 168", "Used 160"), PROC)
    assert caught.value.diagnostics[0].code == "setmaxnreg.pool"


def test_only_proven_kernels_are_emitted(tmp_path: Path) -> None:
    proc = parse("@proc\ndef k(N: size):\n    block(32)\n    for i in tasks(0, N):\n        Fence()\n", tmp_path)
    with pytest.raises(TypeError, match="ProvenKernel"):
        emit(proc)  # type: ignore[arg-type]
