"""A folder of results, each under the hash of everything that it depends on. Entries are written whole or not at all;
one that is damaged counts as missing. Reading one builds records of named modules and nothing else, so an entry cannot
run code."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import zlib
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"exogpu report 1\n"
"""First line of an entry; the second is the SHA-256 of the rest."""
MOST = 500
"""Entries kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The folder, and the modules whose classes its results consist of."""

    folder: Path
    records: Set[str]

    def get(self, key: str) -> object | None:
        """What is under a key, if it is intact."""
        try:
            head, _, rest = (self.folder / key).read_bytes().partition(b"\n")
        except OSError:
            return None
        found, _, body = rest.partition(b"\n")
        if head + b"\n" != MAGIC or found != digest(key, body):
            return None
        try:
            out: object = _Reader(io.BytesIO(zlib.decompress(body)), self.records).load()
        except Exception:
            return None  # whatever is wrong with an entry, the proof is made again
        return out

    def put(self, key: str, result: object) -> None:
        """Keeps a result; OSError if the folder cannot be written."""
        import tempfile  # only now: it costs as much as reading a report

        body = zlib.compress(pickle.dumps(result, protocol=5), 1)
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + digest(key, body) + b"\n" + body)
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


def digest(name: str, body: bytes) -> bytes:
    """What the second line of an entry says."""
    return hashlib.sha256(name.encode() + body).hexdigest().encode()


class _Reader(pickle.Unpickler):
    """Builds the classes of some modules only."""

    def __init__(self, file: io.BytesIO, records: Set[str]) -> None:
        super().__init__(file)
        self._records = records

    def find_class(self, module: str, name: str) -> type:
        """The class, if it is a record; UnpicklingError for anything else."""
        found = super().find_class(module, name) if module in self._records else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a result")
        return found
