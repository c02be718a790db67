"""Reports of earlier proofs on disk, each under the hash of everything that it depends on.

A report is found again only for the same program at the same places of the same files, decided by the same sources of
exogpu with the same solver.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import exogpu
from exogpu.ir.buffers import buffers_of
from exogpu.ir.instr import Buffers
from exogpu.ir.proc import Proc
from exogpu.ir.skeleton.root import Skeleton
from exogpu.ir.stmt import InstrCall
from exogpu.ir.walk import walk
from exogpu.verify.axioms import Policy, in_order
from exogpu.verify.entries import Entries
from exogpu.verify.result import Report, Status

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
        report = Entries(self.folder, RECORDS).get(key)
        return replace(report, cached=True) if isinstance(report, Report) else None

    def put(self, key: str, report: Report) -> None:
        """Keeps a report whose verdict is settled; OSError if the folder cannot be written."""
        if {report.status, *(o.status for o in report.obligations)} <= SETTLED:
            Entries(self.folder, RECORDS).put(key, report)


def user_cache(environment: Mapping[str, str]) -> Cache | None:
    """The cache of the user: `EXOGPU_CACHE` (empty for none), else under `XDG_CACHE_HOME`, else `~/.cache`."""
    named = environment.get("EXOGPU_CACHE")
    if named is not None:
        return Cache(Path(named)) if named else None
    base = environment.get("XDG_CACHE_HOME")
    return Cache((Path(base) if base else Path.home() / ".cache") / "exogpu" / "reports")


def key(proc: Proc, policy: Policy) -> str:
    """The hash of an acceptable kernel with all places, of what its instructions say of their operands, of the axioms
    that its proof may use, and of what decides it."""
    return hashed(SOURCES, *_text(proc), *in_order(policy.in_force))


def identity(kernel: Proc | Skeleton) -> str:
    """The hash of what is decided and of our sources, which is the same on every machine that has the same of both."""
    parts = ("skeleton", repr(kernel)) if isinstance(kernel, Skeleton) else _text(kernel)
    return _hash((*_sources(SOURCES), *parts))


def _text(proc: Proc) -> tuple[str, ...]:
    buffers = buffers_of(proc)
    return repr(proc), *(_said(stmt, buffers) for stmt in walk(proc.body) if isinstance(stmt, InstrCall))


def _said(call: InstrCall, buffers: Buffers) -> str:
    """What the functions of an instruction return, which its representation leaves out; no verdict depends on its
    emission."""
    instr = call.instr
    meaning = instr.meaning(call, buffers)
    within = [_said(stmt, buffers) for stmt in walk(meaning) if isinstance(stmt, InstrCall)]
    static = instr.contract(call, buffers), instr.alignments(call, buffers)
    return repr((static, meaning, instr.pipelined and instr.pipelined(call), within))


def skeleton_key(skeleton: Skeleton, policy: Policy) -> str:
    """The same for a skeleton, whose parts all say where they are written."""
    return hashed(SOURCES, "skeleton", repr(skeleton), *in_order(policy.in_force))


def hashed(rooms: Iterable[str], *parts: str) -> str:
    """The hash of what is decided, and of what decides it, which is in these rooms."""
    return _hash((*_libraries(), *_sources(rooms), *parts))


def _hash(parts: Iterable[str]) -> str:
    out = hashlib.sha256()
    for part in parts:
        data = part.encode()
        out.update(f"{len(data)}\n".encode())
        out.update(data)
    return out.hexdigest()


def _libraries() -> Iterator[str]:
    """Python, and the libraries that answer."""
    yield sys.version
    for library, pattern in (("z3", "lib/libz3*"), ("numpy", "version.py"), ("ml_dtypes", "*.so")):
        spec = find_spec(library)
        folder = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path()
        files = sorted(folder.glob(pattern)) if spec is not None else []
        if not files:  # it lies elsewhere: which one answers is not known, so nothing is found again
            yield f"{library} {uuid4()}"
        for file in files:
            stat = file.stat()
            yield f"{file} {stat.st_size} {stat.st_mtime_ns}"


def _sources(rooms: Iterable[str]) -> Iterator[str]:
    """Our own modules in these rooms."""
    root = Path(exogpu.__file__).parent
    for file in (f for room in rooms for f in sorted((root / room).resolve().rglob("*.py"))):
        yield f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}"
