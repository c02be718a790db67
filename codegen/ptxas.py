"""What ptxas reports: resources, and messages that mean the kernel would not run as it was proved or designed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.proc import Proc

REGISTER_UNIT = 8
"""Registers per thread are allocated in multiples of this (PTX ISA, setmaxnreg)."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Per thread: registers, stack and spill bytes. `barriers` counts the CTA's named barriers."""

    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    barriers: int


_FATAL = {
    **dict.fromkeys(("C7506", "C7507", "C7508"), "setmaxnreg.pool"),
    **{f"C{n}": "wgmma.contract" for n in range(7510, 7520)},
}
"""Message numbers of ptxas 13: setmaxnreg is ignored; wgmma is serialised, or a wait or fence is injected."""

_MESSAGE = re.compile(r"\((C\d+)\)\s*(.+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(?:, used (\d+) barriers)?")


def check_log(log: str, proc: Proc) -> Resources:
    """The resources in a log; BadInput for a message that must not be ignored."""
    found = [
        Diagnostic(_FATAL[number], f"the assembler reports: {text.strip()}", proc.span, notes=(f"ptxas {number}",))
        for number, text in _MESSAGE.findall(log)
        if number in _FATAL
    ]
    if found:
        raise BadInput(found)
    resources = parse_resources(log)
    _check_pool(proc, resources)
    return resources


def parse_resources(log: str) -> Resources:
    """The resource lines of ptxas -v."""
    frame, used = _FRAME.search(log), _USED.search(log)
    stack, stores, loads = (int(n) for n in frame.groups()) if frame else (0, 0, 0)
    registers, barriers = (int(n or 0) for n in used.groups()) if used else (0, 0)
    return Resources(registers, stack, stores, loads, barriers)


def _check_pool(proc: Proc, resources: Resources) -> None:
    """setmaxnreg.inc waits for registers: all that the roles ask for must be among those the CTA starts with."""
    if not any(r.regs for r in proc.block.roles):
        return
    start = -(-resources.registers // REGISTER_UNIT) * REGISTER_UNIT
    need = sum(r.threads * (r.regs or start) for r in proc.block.roles)
    if need > start * proc.block.threads:
        message = f"the roles ask for {need} registers, the compiled kernel starts with {start * proc.block.threads}"
        raise BadInput((Diagnostic("setmaxnreg.pool", message, proc.block.span),))
