"""Roles: the threads of each, and setmaxnreg."""

from __future__ import annotations

from exogpu.codegen.cuda.tree import Apply, Do, IntLit, Name, Node
from exogpu.codegen.lower.team import Team
from exogpu.ir.proc import Launch, Proc, RoleDecl
from exogpu.verify.registers import entry_registers


def role_team(proc: Proc, name: str) -> Team:
    """The threads of a role."""
    role = next(r for r in proc.block.roles if r.name == name)
    thread, warp = (Name(f"{role.name}_thread"), Name(f"{role.name}_warp"))
    return Team(role.threads, thread, warp, Name("lane"), (role.first,), IntLit(0))


def set_registers(block: Launch, role: RoleDecl) -> list[Node]:
    """setmaxnreg at the role's entry, if it asks for another number than the kernel starts with."""
    entry = entry_registers(block.threads)
    if role.regs is None or role.regs == entry:
        return []
    return [Do(Apply("registers_dec" if role.regs < entry else "registers_inc", (), (str(role.regs),)))]
