"""Bundles: what goes in comes out, equal kernels give equal files, and any change is noticed."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from exogpu.codegen import bundle as bundles
from exogpu.codegen.bundle import Bundle
from exogpu.codegen.emit import emit
from exogpu.codegen.manifest import SizeArgument, TensorArgument, from_json, to_json
from exogpu.codegen.runtime import Kernel
from exogpu.diagnostics import BadInput
from tests.codegen.proofs import parse, proven

PROGRAM = """
@proc
def scale(N: size, a: f32, X: f32[N + 1] @ GMEM, Y: f32[N + 1] @ GMEM):
    require(N >= 1 and N % 2 == 0)
    block(128)
    for b in tasks(0, ceildiv(N + 1, 128)):
        for t in threads(128):
            if 128 * b + t < N + 1:
                Y[128 * b + t] = a * X[128 * b + t]
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return emit(proven(parse(PROGRAM, tmp_path_factory.mktemp("program"))))


@pytest.fixture
def path(bundle: Bundle, tmp_path: Path) -> Path:
    bundles.write(bundle, tmp_path / "scale.exogpu")
    return tmp_path / "scale.exogpu"


def rewritten(path: Path, change: dict[str, bytes | None]) -> Path:
    """A copy of the bundle with members replaced or (None) removed."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    other = path.with_name("changed.exogpu")
    with zipfile.ZipFile(other, "w") as archive:
        for name, data in {**files, **change}.items():
            if data is not None:
                archive.writestr(name, data)
    return other


def refused(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        Kernel.load(path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "input.file"
    return diagnostic.message


def test_reading_gives_what_was_written(bundle: Bundle, path: Path) -> None:
    assert bundles.read(path) == bundle
    kernel = Kernel.load(path)
    assert kernel.manifest.kernel == "scale"
    assert [type(a) for a in kernel.manifest.arguments].count(TensorArgument) == 2
    assert kernel.manifest.arguments[0] == SizeArgument("N")


def test_equal_kernels_give_equal_files(bundle: Bundle, path: Path, tmp_path: Path) -> None:
    bundles.write(bundle, tmp_path / "again.exogpu")
    assert (tmp_path / "again.exogpu").read_bytes() == path.read_bytes()


def test_every_member_is_under_a_hash(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        lines = archive.read("SHA256SUMS").decode().splitlines()
        sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
        assert set(sums) == names - {"SHA256SUMS"}
        for name, digest in sums.items():
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
    assert {"manifest.json", "kernel.cu", "kernel.cubin", "kernel.py", "certificate.json"} <= names
    assert any(name.startswith("smt/") for name in names)


@pytest.mark.parametrize("name", ["manifest.json", "kernel.cu", "kernel.cubin", "kernel.py", "certificate.json"])
def test_a_changed_member_is_refused(path: Path, name: str) -> None:
    with zipfile.ZipFile(path) as archive:
        data = bytearray(archive.read(name))
    data[len(data) // 2] ^= 1
    assert f"SHA-256 of `{name}`" in refused(rewritten(path, {name: bytes(data)}))


@pytest.mark.parametrize("name", ["manifest.json", "kernel.cubin", "SHA256SUMS"])
def test_a_missing_member_is_refused(path: Path, name: str) -> None:
    assert "missing" in refused(rewritten(path, {name: None}))


def test_an_added_member_is_refused(path: Path) -> None:
    assert "SHA-256 of `extra`" in refused(rewritten(path, {"extra": b"1"}))


def test_other_files_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "absent.exogpu")
    (tmp_path / "text.exogpu").write_text("no zip")
    assert "not a bundle" in refused(tmp_path / "text.exogpu")


def test_a_truncated_file_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])
    assert "cannot use" in refused(path)


def test_no_flipped_bit_goes_through_or_escapes(bundle: Bundle, path: Path) -> None:
    """A flip in zip metadata that changes no member may pass; everything else is refused with a diagnostic."""
    data, refusals = path.read_bytes(), 0
    for position in range(0, len(data), 37):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        try:
            assert bundles.read(path) == bundle
        except BadInput:
            refusals += 1
    assert refusals > len(data) // 37 // 2


def test_the_manifest_survives_json(bundle: Bundle) -> None:
    assert from_json(json.loads(json.dumps(to_json(bundle.manifest)))) == bundle.manifest


@pytest.mark.parametrize("change", [{"schema": 99}, {"launch": {}}, {"requires": [{"cond": ["<", 1], "text": ""}]}])
def test_a_manifest_of_another_form_is_refused(bundle: Bundle, change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="manifest"):
        from_json({**to_json(bundle.manifest), **change})


def test_the_certificate_names_what_was_proved(bundle: Bundle) -> None:
    (obligation,) = bundle.certificate["obligations"]
    assert obligation["status"] == "PROVED"
    assert obligation["chains"] == [{"text": "a then b", "axioms": ["axiom-x"]}]
    assert bundle.certificate["axioms"] == ["axiom-x"]
    assert bundle.certificate["source_sha256"] == hashlib.sha256(bundle.proc.encode()).hexdigest()
    assert bundle.manifest.sha256 in bundle.cuda


def test_the_text_in_the_bundle_is_the_kernel(bundle: Bundle, tmp_path: Path) -> None:
    from tests.codegen.proofs import kernels

    (tmp_path / "again.py").write_text(bundle.proc)
    (proc,) = kernels(tmp_path / "again.py").values()
    assert emit(proven(proc)) == bundle
