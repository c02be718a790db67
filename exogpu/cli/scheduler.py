"""Verification on the workers of a Dask cluster. They need exogpu, and the files at the same paths."""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.cli.errors import UsageError
from exogpu.ir.proc import Proc
from exogpu.verify.axioms import Policy
from exogpu.verify.result import Report


def remotely(procs: Sequence[Proc], policy: Policy, address: str) -> list[Report]:
    """The reports in order; UsageError without Dask or without a scheduler at the address."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--scheduler needs Dask: pip install 'exogpu[dask]'") from None
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise UsageError(f"there is no Dask scheduler at {address}: {error}") from error
    with client:
        futures = [client.submit(_verify, *_place(proc), policy, pure=False) for proc in procs]
        reports: list[Report] = client.gather(futures)
    return reports


def _place(proc: Proc) -> tuple[str, int]:
    """The file of a kernel, and how many kernels come before it there."""
    from exogpu.lang import load

    return proc.span.file, list(load(proc.span.file).values()).index(proc)


def _verify(file: str, position: int, policy: Policy) -> Report:
    from exogpu.lang import load
    from exogpu.verify.prove import verify

    return verify(list(load(file).values())[position], policy)
