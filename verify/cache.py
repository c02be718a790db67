"""Reports of earlier proofs on disk, each under the hash of everything that it depends on.

A report is found again only for the same program at the same places of the same files, decided by the same sources of
exogpu with the same solver. Entries are written whole or not at all; one that is damaged counts as missing. Reading
one builds the records of this package and nothing else, so an entry cannot run code.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import exogpu
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Proc
from exogpu.ir.skeleton.root import Skeleton
from exogpu.verify.axioms import Policy, in_order
from exogpu.verify.program import Program
from exogpu.verify.result import Report, Status

MAGIC = b"exogpu report 1\n"
"""First line of an entry; the second is the SHA-256 of the rest."""
MOST = 500
"""Entries kept; the oldest go first."""
SETTLED = frozenset({Status.PROVED, Status.REFUTED, Status.VACUOUS})
"""Verdicts worth keeping: UNKNOWN may depend on the time that the solver had."""
RECORDS = frozenset(
    {"exogpu.diagnostics", "exogpu.smt.script", "exogpu.source", "exogpu.verify.axioms", "exogpu.verify.result"}
)
"""Modules whose classes a report consists of."""
SOURCES = ("ir", "isa", "lang", "skeleton", "smt", "verify")
"""Rooms that a verdict depends on."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of reports."""

    folder: Path

    def get(self, key: str) -> Report | None:
        """The report under a key, if there is an intact one."""
        try:
            head, _, rest = (self.folder / key).read_bytes().partition(b"\n")
        except OSError:
            return None
        digest, _, body = rest.partition(b"\n")
        if head + b"\n" != MAGIC or digest != _digest(key, body):
            return None
        try:
            report = _Reader(io.BytesIO(zlib.decompress(body))).load()
        except Exception:
            return None  # whatever is wrong with an entry, the proof is made again
        return replace(report, cached=True) if isinstance(report, Report) else None

    def put(self, key: str, report: Report) -> None:
        """Keeps a report whose verdict is settled; OSError if the folder cannot be written."""
        if not {report.status, *(o.status for o in report.obligations)} <= SETTLED:
            return
        import tempfile  # only now: it costs as much as reading a report

        body = zlib.compress(pickle.dumps(report, protocol=5), 1)
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _digest(key, body) + b"\n" + body)
            os.replace(name, self.folder / key)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._prune()

    def _prune(self) -> None:
        entries = [e for e in os.scandir(self.folder) if e.is_file()]
        if len(entries) > MOST:
            for entry in sorted(entries, key=lambda e: e.stat().st_mtime)[: len(entries) - MOST]:
                Path(entry.path).unlink(missing_ok=True)


def user_cache(environment: Mapping[str, str]) -> Cache | None:
    """The cache of the user: `EXOGPU_CACHE` (empty for none), else under `XDG_CACHE_HOME`, else `~/.cache`."""
    named = environment.get("EXOGPU_CACHE")
    if named is not None:
        return Cache(Path(named)) if named else None
    base = environment.get("XDG_CACHE_HOME")
    return Cache((Path(base) if base else Path.home() / ".cache") / "exogpu" / "reports")


def key(proc: Proc, program: Program) -> str:
    """The hash of the kernel (its text, and its parallel program with all places), of the axioms that its proof may use
    and of what decides it."""
    kernel = (str(proc.span), repr(proc.args), repr(proc.block), to_source(proc), repr(program))
    return _hash(*kernel, *in_order(program.axioms))


def skeleton_key(skeleton: Skeleton, policy: Policy) -> str:
    """The same for a skeleton, whose parts all say where they are written."""
    return _hash("skeleton", repr(skeleton), *in_order(policy.in_force))


def _hash(*parts: str) -> str:
    """The hash of what is decided, and of what decides it."""
    out = hashlib.sha256()
    for part in (*_deciders(), *parts):
        data = part.encode()
        out.update(f"{len(data)}\n".encode())
        out.update(data)
    return out.hexdigest()


def _deciders() -> Iterator[str]:
    """Everything besides the kernel: our sources, Python, and the libraries that answer."""
    yield sys.version
    for library, pattern in (("z3", "lib/libz3*"), ("numpy", "version.py"), ("ml_dtypes", "*.so")):
        spec = find_spec(library)
        folder = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path()
        for file in sorted(folder.glob(pattern)):
            stat = file.stat()
            yield f"{file} {stat.st_size} {stat.st_mtime_ns}"
    root = Path(exogpu.__file__).parent
    for file in (f for room in SOURCES for f in sorted((root / room).resolve().rglob("*.py"))):
        yield f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}"


def _digest(name: str, body: bytes) -> bytes:
    return hashlib.sha256(name.encode() + body).hexdigest().encode()


class _Reader(pickle.Unpickler):
    """Builds the classes of `RECORDS` only."""

    def find_class(self, module: str, name: str) -> type:
        """The class, if it is a record; UnpicklingError for anything else."""
        found = super().find_class(module, name) if module in RECORDS else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a report")
        return found
