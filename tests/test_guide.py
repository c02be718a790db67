"""The guide to skeletons is real: its files are made as a reader would, its commands run, and their output compared."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from exogpu.cli.app import main
from exogpu.codegen.nvrtc import compile_cubin
from exogpu.ir.skeleton.tree import Skeleton
from exogpu.lang.load import definitions
from exogpu.verify.result import Status
from exogpu.verify.skeleton.verdict import verify_skeleton
from tests.pages import Shown, blocks, comparison, texts, within

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "skeleton_guide.md"
EXAMPLES = ROOT / "examples" / "skeletons"

IDIOMS = "\n## 5. Idioms\n"

STEPS = (0, 1, 0, 1, 0, 1, 0, 0)
"""The exit statuses of the page's commands."""
WITHOUT = re.compile(r"^\| `([^`]+)` \| `([\w.]+)` \|$", re.MULTILINE)
"""A row of the table of lines that are deleted, and what is then refuted."""


def revised(lines: list[str], block: str) -> list[str]:
    """A file after a block: a whole one, or what stands from its first line to its last one, or to the end."""
    new = block.splitlines()
    if new[0].startswith("from "):
        return new
    start = lines.index(new[0])
    rest = lines[start + 1 :]
    behind = rest[rest.index(new[-1]) + 1 :] if new[-1] in rest else []
    return [*lines[:start], *new, *behind]


def parts() -> tuple[str, str]:
    """The page up to its idioms, and these."""
    before, _, idioms = GUIDE.read_text(encoding="utf-8").partition(IDIOMS)
    return before, idioms


def gemm(until: int | None = None) -> str:
    """The reader's `gemm.py` after so many blocks of the page, or all."""
    lines: list[str] = []
    for block in within(parts()[0])[:until]:
        if block.language == "python":
            lines = revised(lines, block.text)
    return "\n".join(lines) + "\n"


@pytest.fixture
def shown(request: pytest.FixtureRequest) -> Shown:
    return comparison(GUIDE, request)


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_command(
    number: int, tmp_path: Path, shown: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = [n for n, block in enumerate(blocks(GUIDE)) if block.language == "console"][number]
    commands = [text.partition("\n")[0].removeprefix("$ ") for text in texts(GUIDE, "console")]
    shutil.copytree(EXAMPLES, tmp_path / "examples" / "skeletons")
    (tmp_path / "gemm.py").write_text(gemm(place), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(commands[number].split()[1:]) == STEPS[number]
    shown(commands[number], commands[:number].count(commands[number]), capsys.readouterr().out)


def test_every_command_is_run() -> None:
    assert len(texts(GUIDE, "console")) == len(STEPS)


def test_the_files_of_the_examples_are_those_of_the_page() -> None:
    assert (EXAMPLES / "gemm.py").read_text(encoding="utf-8").partition('"""\n\n')[2] == gemm()
    idioms = within(parts()[1])
    written = (EXAMPLES / "idioms.py").read_text(encoding="utf-8")
    assert idioms and [block.text for block in idioms if block.text not in written] == []


def test_the_cuda_kernel_is_that_of_the_file_and_compiles() -> None:
    source = (EXAMPLES / "gemm.cu").read_text(encoding="utf-8")
    (kernel,) = texts(GUIDE, "cuda")
    assert source.endswith(kernel)
    assert compile_cubin(source, "gemm").cubin


@pytest.mark.parametrize(("line", "rule"), WITHOUT.findall(GUIDE.read_text(encoding="utf-8")))
def test_a_line_less_is_refuted_as_shown(line: str, rule: str, tmp_path: Path) -> None:
    lines = (EXAMPLES / "gemm.py").read_text(encoding="utf-8").splitlines()
    at = next(n for n, text in enumerate(lines) if text.strip() == line)
    file = tmp_path / "gemm.py"
    file.write_text("\n".join([*lines[:at], *lines[at + 1 :]]), encoding="utf-8")
    skeleton = definitions(file)["gemm"]
    assert isinstance(skeleton, Skeleton)
    report = verify_skeleton(skeleton)
    found = {o.rule for o in report.obligations if o.status is Status.REFUTED} or {report.status.value}
    assert found == {rule}
