"""Which files of a folder are verified: all that define a kernel or a skeleton, however a derived one is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from exogpu.cli.targets import chosen

DEFINING = (
    "@proc\ndef f(): ...",
    "@skeleton\ndef f(): ...",
    "f = s.kernel\n",
    "f = s.kernel  # proved",
    "f = g(s).kernel",
    "f, g = s.kernel, 1",
    "def derived(): return s.kernel",
    "@lang.proc\ndef f(): ...",
    "from exogpu.lang import proc as kernel\n@kernel\ndef f(): ...",
    "def build():\n    @skeleton\n    def f(): ...\n    return f",
    "f = proc(g)",
    "import exogpu\ndef f(:",
)
OTHERS = (
    "def f(): ...",
    "s.kernel_name = 1\n",
    "text = s.kernels\n",
    "# @proc and @skeleton mark kernels",
    'TEXT = """\n@proc\ndef f(): ...\n"""',
    "print 'not Python'",
)


@pytest.mark.parametrize("text", DEFINING)
def test_a_file_that_defines_something_is_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    targets, problems = chosen([str(tmp_path)], every=False)
    assert ([t.file for t in targets], problems) == ([str(tmp_path / "a.py")], [])


@pytest.mark.parametrize("text", OTHERS)
def test_a_folder_without_such_files_is_bad_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    targets, problems = chosen([str(tmp_path)], every=False)
    assert targets == [] and [p.code for p in problems] == ["input.file"]
