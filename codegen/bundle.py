"""The `.exogpu` bundle: a zip of text and a cubin, every member under a SHA-256."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from exogpu.codegen.manifest import Json, Manifest, from_json, to_json
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.source import Span

MANIFEST = "manifest.json"
CUDA = "kernel.cu"
CUBIN = "kernel.cubin"
PROC = "kernel.py"
CERTIFICATE = "certificate.json"
SUMS = "SHA256SUMS"

_REQUIRED = (MANIFEST, CUDA, CUBIN, PROC, CERTIFICATE)
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A compiled kernel. `cuda` and `proc` are its sources; `certificate` lists the proved obligations; `queries` the
    SMT-LIB text of each solver call by its SHA-256."""

    manifest: Manifest
    cuda: str
    cubin: bytes
    proc: str
    certificate: Json
    queries: dict[str, str]


def members(bundle: Bundle) -> dict[str, bytes]:
    """File contents by name, the sums last."""
    files = {
        MANIFEST: _json(to_json(bundle.manifest)),
        CUDA: bundle.cuda.encode(),
        CUBIN: bundle.cubin,
        PROC: bundle.proc.encode(),
        CERTIFICATE: _json(bundle.certificate),
        **{f"smt/{digest}.smt2": text.encode() for digest, text in sorted(bundle.queries.items())},
    }
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
    return {**files, SUMS: sums.encode()}


def write(bundle: Bundle, path: Path) -> None:
    """Write a bundle; equal bundles give equal files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members(bundle).items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def read(path: Path) -> Bundle:
    """Read a bundle and check every hash; BadInput if it is not a bundle, is damaged or was changed."""
    if not path.is_file():
        raise _rejected(path, "there is no such file")
    try:
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        raise _rejected(path, f"it is not a bundle ({error})") from error
    _check_sums(path, files)
    try:
        manifest = from_json(json.loads(files[MANIFEST]))
        certificate = json.loads(files[CERTIFICATE])
        queries = {name[4:-5]: data.decode() for name, data in files.items() if name.startswith("smt/")}
        return Bundle(manifest, files[CUDA].decode(), files[CUBIN], files[PROC].decode(), certificate, queries)
    except (ValueError, KeyError, TypeError) as error:
        raise _rejected(path, f"its contents cannot be read ({error})") from error


def _check_sums(path: Path, files: dict[str, bytes]) -> None:
    lines = files.get(SUMS, b"").decode(errors="replace").splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for name in _REQUIRED:
        if name not in files or name not in sums:
            raise _rejected(path, f"`{name}` is missing")
    for name in sorted(files.keys() | sums.keys()):
        if name != SUMS and hashlib.sha256(files.get(name, b"")).hexdigest() != sums.get(name):
            raise _rejected(path, f"the SHA-256 of `{name}` is not the recorded one")


def _rejected(path: Path, why: str) -> BadInput:
    return BadInput((Diagnostic("input.file", f"cannot use `{path.name}`: {why}", Span(str(path), 0, 0, 0, 0)),))


def _json(value: Json) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()
