"""Verification on the workers of a Dask cluster. They need exogpu, and the files at the same paths."""

from __future__ import annotations

from collections.abc import Sequence

from exogpu.cli.decide import decide
from exogpu.cli.errors import UsageError
from exogpu.cli.targets import Kernel
from exogpu.verify.axioms import Policy
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
        futures = [client.submit(_verify, *_place(kernel), policy, pure=False) for kernel in kernels]
        reports: list[Report] = client.gather(futures)
    return reports


def _place(kernel: Kernel) -> tuple[str, int]:
    """The file of a kernel, and how many kernels come before it there."""
    return kernel.span.file, _kernels(kernel.span.file).index(kernel)


def _verify(file: str, position: int, policy: Policy) -> Report:
    return decide(_kernels(file)[position], policy)


def _kernels(file: str) -> list[Kernel]:
    from exogpu.lang.load import definitions

    return list(definitions(file).values())
