"""The register pool of setmaxnreg (PTX ISA, setmaxnreg): what the roles ask for fits what the launch allocates."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.proc import Proc
from exogpu.verify.result import Counterexample, Obligation, Status
from exogpu.verify.text import HELP

REGISTER_FILE = 65536
MAX_ENTRY = 248


def entry_registers(threads: int) -> int:
    """Registers per thread at entry with `__launch_bounds__(threads, 1)`: an even share, in steps of 8."""
    return min(REGISTER_FILE // threads // 8 * 8, MAX_ENTRY)


def register_obligations(proc: Proc) -> Iterator[Obligation]:
    """One obligation if any role asks for registers."""
    roles = proc.block.roles
    if all(r.regs is None for r in roles):
        return
    entry = entry_registers(proc.block.threads)
    wanted = sum((r.regs or entry) * r.threads for r in roles)
    pool = entry * proc.block.threads
    proved = wanted <= pool
    facts = (("wanted", f"{wanted} registers"), ("allocated at launch", f"{pool} = {entry} x {proc.block.threads}"))
    counterexample = None if proved else Counterexample((), facts, (), "plain arithmetic", minimal=True)
    yield Obligation(
        name="registers/pool",
        rule="setmaxnreg.pool",
        title=f"roles ask for {wanted} of {pool} registers",
        status=Status.PROVED if proved else Status.REFUTED,
        span=proc.block.span,
        message="the roles ask for more registers than the launch allocates, so setmaxnreg never returns",
        help=HELP["setmaxnreg.pool"],
        counterexample=counterexample,
    )
