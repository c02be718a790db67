"""What somebody who comes from CUDA C++ writes first, and the help that he gets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from exogpu.diagnostics import Diagnostic
from exogpu.isa import __all__ as instructions
from exogpu.lang.cuda import meant
from exogpu.lang.surface import __all__ as words

Findings = Callable[[str], tuple[Diagnostic, ...]]

PROGRAM = """\
from exogpu.lang import *


@proc
def fill(N: size, A: f32[N] @ GMEM):
    block(32)
    for b in tasks(0, N):
        for t in threads(1):
            A[b] = 1.0
        Fence()
"""


@pytest.mark.parametrize(
    ("good", "bad", "help"),
    [
        ("Fence()", "__syncthreads()", "write `Fence()`: "),
        ("Fence()", "cuda.syncthreads()", "write `Fence()`: "),
        ("Fence()", "__syncwarp()", "write `Fence()` in `for w in threads(n, unit=warp):`"),
        ("Fence()", "__threadfence()", "`Fence()`, `Arrive` and `Await` order memory"),
        ("A[b]", "A[threadIdx.x]", "write `for t in threads(n):`"),
        ("1.0", "threadIdx.x", "write `for t in threads(n):`"),
        ("A[b]", "A[blockIdx.x * blockDim.x + threadIdx.x]", "write `for b in tasks(0, n):`"),
        ("A[b] = 1.0", "if blockIdx.x == 0: A[b] = 1.0", "write `for b in tasks(0, n):`"),
        ("threads(1)", "threads(blockDim.x)", "`block(n)` gives a CTA n threads"),
        ("tasks(0, N)", "tasks(0, gridDim.x)", "the grid follows from the task loops"),
        ("A[b] = 1.0", "x: f32[4] @ __shared__", "write `name: f32[64, 64] @ SMEM`"),
        ("1.0", "atomicAdd(1.0)", "`atomic_add(dst, src)` adds"),
    ],
)
def test_words_of_cuda(good: str, bad: str, help: str, findings: Findings) -> None:
    assert findings(PROGRAM) == ()
    (found, *_) = findings(PROGRAM.replace(good, bad, 1))
    assert found.code in ("lang.unknown_name", "lang.memory")
    assert found.help is not None and found.help.startswith(help)


def test_a_mistyped_word_is_no_word_of_cuda(findings: Findings) -> None:
    (found,) = findings(PROGRAM.replace("Fence()", "Fench()"))
    assert found.help == "did you mean `Fence`?"
    (found,) = findings(PROGRAM.replace("1.0", "nowhere.x"))
    assert (found.message, found.help) == ("unknown name `nowhere`", None)
    (found,) = findings(PROGRAM.replace("1.0", "N.x"))
    assert found.code == "lang.type_mismatch"


def test_the_language_has_none_of_these_words() -> None:
    assert [word for word in (*words, *instructions) if meant(word)] == []
