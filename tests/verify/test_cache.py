"""The cache of reports: what finds an entry again, and what must not."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import exogpu
from exogpu.cli.app import main
from exogpu.ir.index import Int
from exogpu.ir.instr import Alignment, Instr
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Assign, InstrCall
from exogpu.ir.value import Num
from exogpu.lang import load
from exogpu.verify.axioms import DEFAULT
from exogpu.verify.cache import Cache, key, user_cache
from exogpu.verify.entries import MAGIC, MOST, digest
from exogpu.verify.prove import verify
from exogpu.verify.result import Report, Status

ROOT = Path(__file__).resolve().parents[2]

COPY = """from exogpu.lang import *

@proc
def mirror(N: size, X: f32[N, 32] @ GMEM, Y: f32[N, 32] @ GMEM):
    block(32)
    for n in tasks(0, N):
        s: f32[32] @ SMEM
        for l in threads(32):
            s[l] = X[n, l]
        Fence()
        for l in threads(32):
            Y[n, l] = s[31 - l]
"""


def kernel(path: Path, text: str = COPY) -> Proc:
    path.write_text(text, encoding="utf-8")
    return load(path)["mirror"]


def name(proc: Proc) -> str:
    return key(proc, DEFAULT)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return verify(kernel(tmp_path / "mirror.py"))


def texts(report: Report) -> list[str]:
    return [q.smtlib for o in report.obligations for q in o.queries]


def test_an_entry_holds_the_whole_report(tmp_path: Path, report: Report) -> None:
    cache = Cache(tmp_path / "cache")
    assert cache.get("a" * 64) is None
    cache.put("a" * 64, report)
    found = cache.get("a" * 64)
    assert found is not None and found.cached and not report.cached
    assert texts(found) == texts(report) and all(texts(report))
    plain = [replace(o, queries=()) for o in report.obligations]
    assert [replace(o, queries=()) for o in found.obligations] == plain
    assert [q.sha256 for o in found.obligations for q in o.queries] == [
        q.sha256 for o in report.obligations for q in o.queries
    ]


def test_keys_are_of_programs_and_places(tmp_path: Path) -> None:
    path = tmp_path / "mirror.py"
    same = name(kernel(path))
    assert name(kernel(path)) == same
    assert name(kernel(path, COPY.replace("31 - l", "l"))) != same
    assert name(kernel(path, COPY.replace("= X[n, l]", "= X[n, l] + X[n, l]"))) != same
    assert name(kernel(path, COPY.replace("\n@proc", "\n# moved\n@proc"))) != same
    assert name(kernel(tmp_path / "other.py")) != same


def test_keys_are_of_what_instructions_say(tmp_path: Path) -> None:
    proc = kernel(tmp_path / "mirror.py")

    def with_call(instr: Instr) -> str:
        return name(replace(proc, body=(*proc.body, InstrCall(instr, ()))))

    plain = Instr("own", (), unit=1)
    zero = Assign("Y", (Int(0), Int(0)), "=", Num(0.0))
    others = [
        replace(plain, unit=32),
        replace(plain, meaning=lambda call, buffers: (zero,)),
        replace(plain, meaning=lambda call, buffers: (InstrCall(plain, ()),)),
        replace(plain, alignments=lambda call, buffers: (Alignment("x", 0, 8),)),
        replace(plain, contract=lambda call, buffers: ("never",)),
        replace(plain, pipelined=lambda call: "m64n8k8"),
    ]
    within = replace(plain, meaning=lambda call, buffers: (InstrCall(others[1], ()),))
    keys = [with_call(instr) for instr in (plain, *others, within)]
    assert with_call(replace(plain, meaning=lambda call, buffers: ())) == keys[0]
    assert len(set(keys)) == len(keys)


def test_keys_are_of_our_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc = kernel(tmp_path / "mirror.py")
    room = tmp_path / "exogpu" / "verify"
    room.mkdir(parents=True)
    monkeypatch.setattr(exogpu, "__file__", str(room.parent / "__init__.py"))
    (room / "prove.py").write_text("sound = True\n", encoding="utf-8")
    before = name(proc)
    (room / "prove.py").write_text("sound = None\n", encoding="utf-8")
    assert name(proc) != before


def damaged(entry: bytes) -> dict[str, bytes]:
    """Ways in which an entry can be wrong."""
    body = zlib.compress(pickle.dumps(os.getcwd))
    return {
        "empty": b"",
        "cut": entry[:-1],
        "flipped": entry[:-3] + bytes([entry[-3] ^ 1]) + entry[-2:],
        "other version": entry.replace(MAGIC, b"exogpu report 0\n"),
        "not a report": MAGIC + digest("a", body) + b"\n" + body,
    }


@pytest.mark.parametrize("how", damaged(MAGIC))
def test_damaged_entries_are_missing_and_written_again(tmp_path: Path, report: Report, how: str) -> None:
    cache = Cache(tmp_path)
    cache.put("a", report)
    entry = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(damaged(entry)[how])
    assert cache.get("a") is None
    cache.put("a", report)
    assert cache.get("a") is not None


def test_an_entry_under_another_key_is_missing(tmp_path: Path, report: Report) -> None:
    cache = Cache(tmp_path)
    cache.put("a", report)
    (tmp_path / "a").rename(tmp_path / "b")
    assert cache.get("b") is None


def test_what_is_not_settled_is_not_kept(tmp_path: Path, report: Report) -> None:
    cache = Cache(tmp_path / "cache")
    cache.put("a", replace(report, status=Status.UNKNOWN))
    first = replace(report.obligations[0], status=Status.UNKNOWN)
    cache.put("b", replace(report, status=Status.REFUTED, obligations=(first, *report.obligations[1:])))
    assert not (tmp_path / "cache").exists()


def test_the_oldest_entries_go(tmp_path: Path, report: Report) -> None:
    for n in range(MOST):
        (tmp_path / f"old{n}").touch()
        os.utime(tmp_path / f"old{n}", (n, n))
    Cache(tmp_path).put("new", report)
    assert {p.name for p in tmp_path.glob("*")} == {"new", "mirror.py", *(f"old{n}" for n in range(2, MOST))}


def test_where_the_cache_is(tmp_path: Path) -> None:
    assert user_cache({"EXOGPU_CACHE": "/x", "XDG_CACHE_HOME": "/y"}) == Cache(Path("/x"))
    assert user_cache({"XDG_CACHE_HOME": "/y"}) == Cache(Path("/y/exogpu/reports"))
    assert user_cache({}) == Cache(Path.home() / ".cache" / "exogpu" / "reports")
    assert user_cache({"EXOGPU_CACHE": ""}) is None


def test_the_command_finds_its_proof_again_without_a_solver(tmp_path: Path) -> None:
    kernel(tmp_path / "mirror.py")
    code = "import sys; from exogpu.cli.app import main; s = main(sys.argv[1:]); print('z3' in sys.modules, s)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EXOGPU_CACHE": str(tmp_path / "cache")}

    def run(*options: str) -> str:
        command = [sys.executable, "-c", code, "verify", "mirror.py", *options]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout

    first, again, fresh = run(), run(), run("--no-cache")
    assert "cache" not in first and first.endswith("True 0\n")
    assert " from cache" in again and again.endswith("False 0\n")
    assert "cache" not in fresh and fresh.endswith("True 0\n")


def test_a_solver_that_is_not_found_where_it_should_be_is_never_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proc = kernel(tmp_path / "mirror.py")
    assert key(proc, DEFAULT) == key(proc, DEFAULT)
    monkeypatch.setattr("exogpu.verify.cache.find_spec", lambda name: None)
    assert key(proc, DEFAULT) != key(proc, DEFAULT)


def test_a_cache_that_cannot_be_written_is_only_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel(tmp_path / "mirror.py")
    (tmp_path / "file").touch()
    monkeypatch.setenv("EXOGPU_CACHE", str(tmp_path / "file"))
    assert main(["verify", str(tmp_path / "mirror.py")]) == 0
    out, err = capsys.readouterr()
    assert "PROVED" in out and "cannot keep the proof" in err
