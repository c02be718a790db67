"""Files that cannot be read, parsed or imported give diagnostics with a place, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.kernels import gemm_bf16, gemm_f32
from exogpu.lang import load
from exogpu.lang.load import definitions

Findings = Callable[[str], tuple[Diagnostic, ...]]

SOURCES = tuple(Path(str(m.__file__)).read_text(encoding="utf-8") for m in (gemm_bf16, gemm_f32))


def only(found: tuple[Diagnostic, ...]) -> Diagnostic:
    (single,) = found
    return single


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as bad:
        load(tmp_path / "absent.py")
    assert only(bad.value.diagnostics).code == "input.file"


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as bad:
        load(tmp_path)
    assert only(bad.value.diagnostics).code == "input.file"


@pytest.mark.parametrize("content", [b"\x00\x01", b"# coding: utf-8\nx = '\xff'\n", b"# coding: nonsense\n"])
def test_not_text(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "binary.py"
    file.write_bytes(content)
    with pytest.raises(BadInput) as bad:
        load(file)
    assert only(bad.value.diagnostics).code in ("input.file", "lang.syntax")


def test_syntax_error_has_its_place(findings: Findings) -> None:
    found = only(findings("x = 1\ny = (2 +\n"))
    assert (found.code, found.span.line, found.span.col) == ("lang.syntax", 2, 4)


def test_exception_at_import_has_its_place(findings: Findings) -> None:
    found = only(findings("def f():\n    return 1 / 0\n\nf()\n"))
    assert (found.code, found.span.line, found.span.col) == ("input.import", 2, 11)
    assert found.message == "importing the file raised ZeroDivisionError: division by zero"


def test_missing_import_has_its_place(findings: Findings) -> None:
    found = only(findings("import sys\nimport no_such_module_here\n"))
    assert (found.code, found.span.line) == ("input.import", 2)


def test_exit_at_import(findings: Findings) -> None:
    found = only(findings("import sys\nsys.exit(3)\n"))
    assert (found.code, found.span.line) == ("input.import", 2)


@pytest.mark.parametrize("terms", [160, 900, 20000])
def test_deep_nesting(findings: Findings, terms: int) -> None:
    deep = "0.0 + " * terms + "1.0"
    head = "from exogpu.lang import *\n\n@proc\ndef k(X: f32[1] @ GMEM):\n    block(32)\n    for b in tasks(0, 1):\n"
    found = only(findings(f"{head}        for t in threads(1):\n            X[0] = {deep}\n"))
    assert found.code == "lang.syntax" and "nested too deeply" in found.message


def test_file_sees_its_neighbours_and_itself(tmp_path: Path) -> None:
    (tmp_path / "tile_sizes_of_this_test.py").write_text("WIDTH = 64\n")
    file = tmp_path / "kernel.py"
    file.write_text(
        "import sys\nfrom exogpu.lang import *\nfrom tile_sizes_of_this_test import WIDTH\n"
        "assert sys.modules[__name__].WIDTH == 64\n\n@proc\ndef k(N: size):\n    block(WIDTH)\n"
        "    for b in tasks(0, N):\n        Fence()\n"
    )
    before = list(sys.path)
    assert load(file)["k"].block.threads == 64
    assert sys.path == before
    sys.modules.pop("tile_sizes_of_this_test")


def test_what_a_function_made_is_called_as_its_variable(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(
        """from exogpu.skeleton import *

def made(parity):
    @skeleton
    def kernel():
        b = mbarrier(count=1)
        with role("a", threads=1):
            arrive(b)
            wait(b, parity=parity)
    return kernel

good, bad = made(0), made(1)
again = good
usual = kernel = made(0)
""",
        encoding="utf-8",
    )
    assert {name: bound.name for name, bound in definitions(tmp_path / "made.py").items()} == {
        "good": "good",
        "bad": "bad",
        "kernel": "kernel",
    }


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_programs_give_diagnostics(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(SOURCES))
    words = source[source.index("@proc") :].replace("\n", " ").split(" ")
    old = data.draw(st.sampled_from([w for w in words if w]))
    new = data.draw(st.sampled_from([*words, "None", "-", "lambda: 0", "[0]", "*"]))
    start = source.index("@proc")
    file = tmp_path_factory.mktemp("damaged") / "program.py"
    file.write_text(source[:start] + source[start:].replace(old, new, 1), encoding="utf-8")
    try:
        load(file)
    except BadInput as bad:
        assert bad.diagnostics
        assert all(d.span.file == str(file) and d.span.line >= 1 for d in bad.diagnostics)
