"""Roles: the threads of each, and setmaxnreg."""

from __future__ import annotations

from exogpu.codegen.cuda.tree import Apply, Do, IntLit, Name, Node
from exogpu.codegen.lower.team import Team
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.proc import Block, Proc, RoleDecl

REGISTER_FILE = 65_536
REGISTER_UNIT = 8
REGISTER_LIMIT = 255
WARPGROUP = 128


def role_team(proc: Proc, name: str) -> Team:
    """The threads of a role."""
    role = next(r for r in proc.block.roles if r.name == name)
    thread, warp = (Name(f"{role.name}_thread"), Name(f"{role.name}_warp"))
    return Team(role.threads, thread, warp, Name("lane"), (role.first,), IntLit(0))


def entry_registers(threads: int) -> int:
    """Registers per thread that a CTA alone on an SM starts with."""
    share = REGISTER_FILE // threads // REGISTER_UNIT * REGISTER_UNIT
    return min(share, REGISTER_LIMIT // REGISTER_UNIT * REGISTER_UNIT)


def set_registers(block: Block, role: RoleDecl) -> list[Node]:
    """setmaxnreg at the role's entry, if it asks for another number than the kernel starts with."""
    entry = entry_registers(block.threads)
    if role.regs is None or role.regs == entry:
        return []
    return [Do(Apply("registers_dec" if role.regs < entry else "registers_inc", (), (str(role.regs),)))]


def check_registers(proc: Proc) -> None:
    """BadInput unless the registers that the roles ask for fit the CTA's share (PTX ISA, setmaxnreg)."""
    entry = entry_registers(proc.block.threads)
    asked = [r for r in proc.block.roles if r.regs is not None]
    if not asked:
        return
    for role in proc.block.roles:
        partial = role.threads % WARPGROUP or role.first % WARPGROUP
        wrong = role.regs is not None and (role.regs % REGISTER_UNIT or not 24 <= role.regs <= 256)
        if (partial and role.regs is not None) or wrong:
            message = f"role `{role.name}` cannot change its registers to {role.regs}"
            rule = "setmaxnreg takes a multiple of 8 from 24 to 256 and whole warpgroups"
            raise BadInput((Diagnostic("setmaxnreg.pool", message, role.span, notes=(rule,)),))
    need = sum(r.threads * (entry if r.regs is None else r.regs) for r in proc.block.roles)
    if need > entry * proc.block.threads:
        message = f"the roles ask for {need} registers, the CTA starts with {entry * proc.block.threads}"
        notes = tuple(f"`{r.name}`: {r.threads} threads x {r.regs if r.regs else entry}" for r in proc.block.roles)
        raise BadInput((Diagnostic("setmaxnreg.pool", message, proc.block.span, notes=notes),))
