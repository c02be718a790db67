"""The root of a skeleton's tree, apart: commands that only tell skeletons from kernels need none of its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exogpu.source import NOWHERE, Span

if TYPE_CHECKING:
    from exogpu.ir.skeleton.objects import Object
    from exogpu.ir.skeleton.tree import Body, Require, Unknown


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A skeleton: sizes, preconditions, `cluster` CTAs with `threads` threads each (lanes that no role uses included),
    `registers` per thread at launch, objects, the roles with their bodies, and what the variables that stand for
    unknown numbers mean."""

    name: str
    sizes: tuple[str, ...]
    requires: tuple[Require, ...]
    cluster: int
    threads: int
    registers: int | None
    objects: tuple[Object, ...]
    bodies: tuple[Body, ...]
    unknowns: tuple[tuple[str, Unknown], ...] = ()
    span: Span = field(default=NOWHERE, compare=False)
