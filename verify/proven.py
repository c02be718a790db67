"""The trust boundary: `codegen` takes a `ProvenKernel`, and only `verify` can make one."""

from __future__ import annotations

from dataclasses import InitVar, dataclass

from exogpu.ir.proc import Proc
from exogpu.verify.result import Report, Status


class _Seal:
    """Held by this module alone."""


_SEAL = _Seal()


@dataclass(frozen=True, slots=True)
class ProvenKernel:
    """A kernel together with the report that proves it. Build it with `exogpu.verify.prove`."""

    proc: Proc
    report: Report
    seal: InitVar[_Seal]  # not kept: `dataclasses.replace` would hand it on to another kernel

    def __post_init__(self, seal: _Seal) -> None:
        if seal is not _SEAL:
            raise TypeError("a ProvenKernel is made by exogpu.verify.prove only")


def seal(proc: Proc, report: Report) -> ProvenKernel | None:
    """The proven kernel if every obligation of `report` is PROVED, else None."""
    proved = report.status is Status.PROVED and bool(report.obligations)
    if proved and all(o.status is Status.PROVED for o in report.obligations):
        return ProvenKernel(proc, report, _SEAL)
    return None
