"""Names: what each one means where it is used, and the unique name that it gets in the IR."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING

from exogpu.diagnostics import Diagnostic
from exogpu.ir.instr import BufferInfo, Instr
from exogpu.ir.names import declarable
from exogpu.ir.types import Scalar
from exogpu.ir.value import ScalarFn
from exogpu.lang.errors import Rejected, closest, reject
from exogpu.lang.surface import KERNELS, Vocabulary, Word
from exogpu.lang.text import Positioned, Text
from exogpu.source import Span

if TYPE_CHECKING:
    # most files hold no skeleton
    from exogpu.ir.skeleton.objects import Object


@dataclass(frozen=True, slots=True)
class Variable:
    """A size or a loop variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor argument or an allocation."""

    name: str
    info: BufferInfo


@dataclass(frozen=True, slots=True)
class DataScalar:
    """A scalar argument, or a parameter of a scalar function."""

    name: str
    dtype: Scalar


@dataclass(frozen=True, slots=True)
class BarrierName:
    """A declared barrier."""

    name: str


@dataclass(frozen=True, slots=True)
class Broken:
    """Declared by text that was rejected: its uses are not reported again."""

    name: str


@dataclass(frozen=True, slots=True)
class Declared:
    """What the roles of a skeleton share."""

    object: Object


Entity = Variable | Buffer | DataScalar | BarrierName | Declared | Broken


@dataclass(slots=True)
class Context:
    """What the parser knows while it reads one function.

    `captured` are the Python values that the text can see, `vocabulary` the language's own names; `blocks` the
    declared names, innermost block last; `ended` those whose block is over; `taken` the names used so far in the IR;
    `found` the diagnostics; `cta` and `cluster` the threads of a CTA and the CTAs of a cluster, once they are
    declared.
    """

    text: Text
    captured: Mapping[str, object]
    vocabulary: Vocabulary = KERNELS
    blocks: list[dict[str, Entity]] = field(default_factory=lambda: [{}])
    taken: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    found: list[Diagnostic] = field(default_factory=list)
    cta: int = 1
    cluster: int = 1

    def span(self, node: Positioned) -> Span:
        """The region of a syntax node."""
        return self.text.span(node)

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block: names declared in it end with it."""
        self.blocks.append({})
        yield
        self.ended.update(self.blocks.pop())

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Note what a piece of text is rejected for, and go on after it."""
        try:
            yield
        except Rejected as rejected:
            self.found += rejected.diagnostics

    def fresh(self, name: str) -> str:
        """A name for the IR, the written one if it is still free."""
        candidate, n = name, 0
        while candidate in self.taken:
            n += 1
            candidate = f"{name}_{n}"
        self.taken.add(candidate)
        return candidate

    def declare(self, name: str, entity: Entity) -> None:
        """Give a written name its meaning until the end of the block."""
        self.blocks[-1][name] = entity

    def local(self, name: str) -> Entity | None:
        """What a name declared in the function means."""
        return next((b[name] for b in reversed(self.blocks) if name in b), None)

    def lookup(self, node: ast.Name) -> Entity | object:
        """What a name means: declared in the function, or a captured Python value. Rejects an unknown one."""
        entity = self.local(node.id)
        if isinstance(entity, Broken) and self.found:
            raise Rejected()
        if isinstance(entity, Broken):  # nothing is reported yet, so its own declaration is being read
            span = self.span(node)
            raise reject("unknown_name", f"`{node.id}` is used in its own declaration", span, "not defined here")
        if entity is not None:
            return entity
        if node.id in self.captured:
            return self.captured[node.id]
        for own in (self.vocabulary.words, self.vocabulary.types):
            if node.id in own:
                return own[node.id]
        raise self.unknown(node.id, self.span(node))

    def unknown(self, name: str, span: Span) -> Rejected:
        """The rejection of a name that nothing declares."""
        if name in self.ended:
            help_text = "declare it in a block that encloses all its uses"
            return reject("unknown_name", f"`{name}` has ended with its block", span, "not defined here", help_text)
        own = set(self.vocabulary.words) | self.vocabulary.python
        known = {n for b in self.blocks for n in b} | set(self.captured) | own
        public = {n for n in known if not n.startswith("_")}
        near = closest(name, public, self.vocabulary.meant)
        return reject("unknown_name", f"unknown name `{name}`", span, "not defined here", near)

    def constant(self, node: ast.expr) -> object:
        """The captured Python value of a name or an attribute path (`config.stages`); None if it is none."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        shadowed = isinstance(root, ast.Name) and self.local(root.id) is not None
        return None if shadowed else self.outer(node)

    def path(self, node: ast.Attribute) -> object:
        """As `constant`, for an attribute path; rejects one that starts with a name which nothing declares."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            self.lookup(root)
        return self.constant(node)

    def outer(self, node: ast.expr) -> object:
        """As `constant`, where a name declared in the function has no meaning: called functions, types, memories."""
        if isinstance(node, ast.Name):
            return self.captured.get(node.id, self.vocabulary.words.get(node.id))
        if isinstance(node, ast.Attribute):
            owner = self.outer(node.value)
            return None if owner is None else getattr(owner, node.attr, None)
        return None

    def word(self, node: ast.expr) -> str:
        """The word of the language that a called function or a type is; empty if it is none.

        A Python function of the same name, as `math.exp` or the builtin `min`, stands for the word.
        """
        value = self.outer(node)
        if isinstance(value, Word):
            return value.name
        if isinstance(value, Instr | ScalarFn | Scalar) or not isinstance(node, ast.Name):
            return ""
        return node.id if node.id in self.vocabulary.words or node.id in self.vocabulary.python else ""


def identifier(ctx: Context, name: str, span: Span) -> str:
    """The name, if it may be declared."""
    if not declarable(name):
        text = f"`{name}` cannot be used as a name"
        raise reject("name", text, span, help="choose a name of ASCII letters and digits that starts with a letter")
    return name


def captured_values(fn: FunctionType, caller: Mapping[str, object]) -> dict[str, object]:
    """The Python values that a function's text can see: globals, the defining scope's locals, closure cells."""
    values = {**fn.__globals__, **caller}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # assigned after the definition, as the function's own name is
            continue
    return values
