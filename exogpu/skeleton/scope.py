"""What the reader of a skeleton knows: the kernel language's context, with the role that is being read."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final

from exogpu.ir.instr import Instr
from exogpu.ir.skeleton.objects import Flags, Global, Mbarriers, Object, Registers, Shared
from exogpu.ir.skeleton.tree import RANK, TID, RoleDecl, Unknown
from exogpu.lang.errors import reject
from exogpu.lang.scope import Context, Variable, identifier
from exogpu.lang.surface import Vocabulary
from exogpu.skeleton.surface import SKELETONS, WORDS
from exogpu.source import Span

POSITIONS = frozenset({TID, RANK, "warp", "lane"})
"""What a thread knows about itself."""


@dataclass(frozen=True, slots=True)
class Counter(Variable):
    """A role-local counter: the variable that statements change."""


@dataclass(slots=True)
class Reader(Context):
    """The context of a skeleton. `role` is the one whose body is read, `elected` says whether one lane of each unit
    executes; `unknowns` are the variables that stand for unknown numbers."""

    vocabulary: Vocabulary = SKELETONS
    taken: set[str] = field(default_factory=lambda: {TID, RANK})
    role: RoleDecl | None = None
    elected: bool = False
    unknowns: dict[str, Unknown] = field(default_factory=dict)

    def word(self, node: ast.expr) -> str:
        """As for kernels; an instruction of the kernel language stands for the word of its name."""
        value = self.outer(node)
        if isinstance(value, Instr) and value.name in WORDS:
            return value.name
        return Context.word(self, node)


def new_name(r: Reader, name: str, span: Span) -> str:
    """The unique name for something that is declared as `name`."""
    refuse_position(name, span)
    return r.fresh(identifier(r, name, span))


def refuse_position(name: str, span: Span) -> None:
    """Rejects what a thread knows about itself as the name of anything else."""
    if name in POSITIONS:
        text = f"`{name}` cannot be used as a name"
        raise reject("name", text, span, "a word of the language", "choose another name")


NAMES: Final[dict[type[Object], str]] = {
    Shared: "shared memory",
    Global: "global memory",
    Registers: "registers",
    Mbarriers: "an mbarrier",
    Flags: "a flag",
}


def what(thing: Object) -> str:
    """The kind of an object, in words."""
    return NAMES[type(thing)]
