"""An argument of a step as the log shows it: as a user would write it, or the code that a cursor points at."""

from __future__ import annotations

from typing import Any, get_args

from exogpu.ir.instr import Instr
from exogpu.ir.printer import memory_text, operand_text, statement_text
from exogpu.ir.proc import Proc
from exogpu.ir.stmt import Stmt, Window
from exogpu.ir.types import Memory
from exogpu.schedule.cursor import Cursor, Gap
from exogpu.schedule.expr import words
from exogpu.schedule.schedule import Schedule


def told(schedule: Schedule, argument: Any) -> str:
    """The argument of a step of `schedule` in a few words."""
    match argument:
        case Cursor():
            return f"`{schedule.forward(argument)}`"
        case Gap(at, after):
            return f"{'after' if after else 'before'} `{schedule.forward(at)}`"
        case Schedule():
            return f"{argument.proc.name} in {len(argument.steps)} steps"
        case Proc() | Instr():
            return argument.name
        case Window():
            return f'"{operand_text(argument)}"'
        case str():
            return f'"{argument}"'
        case tuple() | list():
            return f"({', '.join(told(schedule, each) for each in argument)})"
        case _ if isinstance(argument, get_args(Stmt)):
            return f"`{statement_text(argument)}`"
        case _ if isinstance(argument, get_args(Memory)):
            return memory_text(argument)
        case _:
            return words(argument)
