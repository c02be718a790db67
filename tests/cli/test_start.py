"""Starting the command: fast help, usage errors, the table of codes, faults of exogpu itself."""

from __future__ import annotations

import argparse
import os
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from exogpu import __version__
from exogpu.cli import app, explain_command
from exogpu.codes import all_codes
from exogpu.verify.axioms import AXIOMS

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("z3", "numpy", "cuda", "ml_dtypes", "exogpu.lang", "exogpu.smt")
DECIDING = ("z3", "numpy", "distributed", "exogpu.verify.session", "exogpu.smt.context")
UNUSED = ("exogpu.ir.emission", "exogpu.ir.skeleton.tree", "exogpu.verify.skeleton")


def _imported(arguments: str) -> set[str]:
    code = (
        "import sys; sys.path.insert(0, '.'); sys.argv = ['exogpu', *" + repr(arguments.split()) + "]\n"
        "from exogpu.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('\\nMODULES', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("MODULES")[2].split())


@pytest.mark.parametrize("arguments", ["--help", "verify --help", "--version", "explain race.war"])
def test_light_commands_import_nothing_heavy(arguments: str) -> None:
    assert _imported(arguments) & set(HEAVY) == set()


def test_a_proof_from_the_cache_loads_nothing_that_makes_proofs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXOGPU_CACHE", str(tmp_path))
    made, found = (_imported("verify examples/transpose.py") for _ in range(2))
    assert "exogpu.verify.session" in made and found & {*DECIDING, *UNUSED} == set()


def test_operators_alone_load_nothing_that_makes_proofs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a schedule whose steps need no proof; one whose steps do loads the solver."""
    monkeypatch.setenv("EXOGPU_CACHE", str(tmp_path / "kept"))
    file = tmp_path / "kernel.py"
    kernel = (ROOT / "examples" / "transpose.py").read_text(encoding="utf-8")
    file.write_text(f'{kernel}\nfrom exogpu.schedule import *\nnamed = call(schedule(transpose), "named").kernel\n')
    made, found = (_imported(f"verify {file}") for _ in range(2))
    assert "exogpu.verify.session" in made
    assert "exogpu.schedule.work" in found and found & {*DECIDING, *UNUSED} == set()
    file.write_text(f"{file.read_text(encoding='utf-8')}simplify(schedule(transpose))\n", encoding="utf-8")
    assert "exogpu.smt.context" in _imported(f"verify {file}")


def test_help_answers_in_a_fifth_of_a_second() -> None:
    """Measured in processor seconds, so that other work on the machine does not count."""

    def once() -> float:
        child = subprocess.Popen([sys.executable, "-m", "exogpu", "--help"], cwd=ROOT, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        return usage.ru_utime + usage.ru_stime

    assert min(once() for _ in range(5)) < 0.2


def test_what_pip_installs_as_the_command_is_there() -> None:
    """The tests run from a checkout, where nothing else uses the entry point that an installation is made with."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert {name: pkgutil.resolve_name(entry) for name, entry in scripts.items()} == {"exogpu": app.main}


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        app.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"exogpu {__version__}\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "verify",
            ["0  every kernel is proved", "1  a kernel is refuted", "3  nothing is refuted", "A folder stands for"],
        ),
        ("compile", ["0  the kernel is proved, and the bundle written", "PATH is a Python file"]),
        ("slim", ["0  nothing can be removed or weakened", "1  something can", "PATH is a Python file"]),
        ("mutate", ["0  done", "3  of some edit it is not known"]),
        ("bench verify", ["3  some kernel is not", "PATH is a Python file"]),
        ("run", ["1  the results differ"]),
        ("explain", ["0  done"]),
    ],
)
def test_help_says_what_the_exit_status_means(
    command: str, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        app.main([*command.split(), "--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert [words for words in (*said, "2  bad input or bad usage", "4  internal error") if words not in shown] == []


@pytest.mark.parametrize("arguments", [[], ["verify", "--format", "xml", "x"], ["prove"], ["compile"]])
def test_bad_usage_exits_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        app.main(arguments)
    assert stopped.value.code == 2


@pytest.mark.parametrize("arguments", [["verify"], ["verify", "--all", "gemm_f32"]])
def test_verify_takes_targets_or_all(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(arguments) == 2
    assert "--all" in capsys.readouterr().err


def test_explain_prints_meaning_text_and_what_a_proof_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["explain", "race.war"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("race.war: a write can overtake a read")
    assert "A proof shows: every overwrite" in out


def test_explain_without_a_code_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["explain"]) == 0
    names = [code.name for code in all_codes()] + [axiom.name for axiom in AXIOMS]
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == names


def test_explain_suggests_a_near_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["explain", "race.wra"]) == 2
    assert "did you mean race." in capsys.readouterr().err
    assert app.main(["explain", "f1"]) == 2
    assert "did you mean F1?" in capsys.readouterr().err


def test_a_fault_of_exogpu_exits_4_and_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: argparse.Namespace) -> None:
        raise ZeroDivisionError(arguments.code)

    monkeypatch.setattr(explain_command, "execute", broken)
    assert app.main(["explain", "race.war"]) == 4
    err = capsys.readouterr().err
    assert "ZeroDivisionError: race.war" in err and "please report it" in err.lower()


def test_a_file_in_the_folder_of_the_call_hides_no_package(tmp_path: Path) -> None:
    (tmp_path / "z3.py").write_text("raise RuntimeError")
    (tmp_path / "mine.py").write_text((ROOT / "examples" / "transpose.py").read_text())
    command = [sys.executable, "-m", "exogpu", "verify", "--no-cache", "--format", "short", "mine"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "transpose PROVED" in done.stdout
