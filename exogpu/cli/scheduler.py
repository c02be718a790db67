"""Verification on the workers of a Dask cluster. They need the same exogpu, and the same files at the same paths: each
worker makes sure that what it decides is what was asked."""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.cli.decide import decide
from exogpu.cli.errors import UsageError
from exogpu.cli.targets import Kernel
from exogpu.verify.axioms import Policy
from exogpu.verify.cache import identity
from exogpu.verify.result import Report


def remotely(kernels: Sequence[Kernel], policy: Policy, address: str) -> list[Report]:
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
        futures = [client.submit(_verify, *_place(kernel), policy, identity(kernel), pure=False) for kernel in kernels]
        reports: list[Report] = client.gather(futures)
    return reports


def _place(kernel: Kernel) -> tuple[str, int]:
    """The file of a kernel, and how many kernels come before it there."""
    return kernel.span.file, _kernels(kernel.span.file).index(kernel)


def _verify(file: str, position: int, policy: Policy, wanted: str) -> Report:
    found = _kernels(file)[position : position + 1]
    if not found or identity(found[0]) != wanted:
        raise UsageError(f"a worker has another text of {file}, or another exogpu")
    return decide(found[0], policy)


def _kernels(file: str) -> list[Kernel]:
    from exogpu.lang.load import definitions

    return list(definitions(file).values())
