"""What somebody who comes from CUDA C++ or from the kernel language writes first, and the help that he gets."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from exogpu.diagnostics import Diagnostic
from exogpu.skeleton import cuda
from exogpu.skeleton.scope import POSITIONS
from exogpu.skeleton.surface import WORDS

Findings = Callable[[str], tuple[Diagnostic, ...]]

PROGRAM = """\
from exogpu.skeleton import *


@skeleton
def ring(n: size):
    full = mbarrier(2, count=1)
    x = smem(2)
    with role("all", threads=128):
        for i in range(n):
            store(x[i % 2])
            cta_sync()
"""


@pytest.mark.parametrize(
    ("good", "bad", "help"),
    [
        ("cta_sync()", "__syncthreads()", "write `cta_sync()`"),
        ("cta_sync()", "Fence()", "write `cta_sync()`, or `bar_sync(id, n)`"),
        ("cta_sync()", "cute.warpgroup_arrive()", "write `wgmma_fence()`"),
        ("cta_sync()", "fence_proxy_async()", "write `proxy_fence()`"),
        ("cta_sync()", "mbarrier_arrive_expect_tx(full[0], 16)", "write `arrive(b, tx=n)`"),
        ("cta_sync()", "elect_one_sync()", "write `with elect(any=True):`"),
        ("store(x[i % 2])", "store(x[threadIdx.x])", "write `tid`, "),
        ("smem(2)", "shared(2)", "write `x = smem(n)`"),
        ("cta_sync()", "cta_snyc()", "did you mean `cta_sync`?"),
    ],
)
def test_words_of_other_languages(good: str, bad: str, help: str, findings: Findings) -> None:
    assert findings(PROGRAM) == ()
    (found,) = findings(PROGRAM.replace(good, bad, 1))
    assert found.code == "lang.unknown_name"
    assert found.help is not None and found.help.startswith(help)


def test_the_help_is_written_in_words_of_skeletons_alone() -> None:
    assert [word for word in WORDS if cuda.meant(word)] == []
    advised = {word for text in cuda.ADVICE for word in re.findall(r"([a-z_]+)\(", text)}
    assert advised <= set(WORDS)
    named = {word for text in cuda.ADVICE for word in re.findall(r"`([a-z]+)`", text)}
    assert named <= POSITIONS
