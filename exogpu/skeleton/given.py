"""The arguments of a call that is a statement, read by what each has to be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from exogpu.ir.index import Index
from exogpu.ir.linear import literal
from exogpu.ir.proc import MAX_COUNT
from exogpu.ir.skeleton.objects import Ref
from exogpu.ir.skeleton.operations import Operation, Scope
from exogpu.lang.calls import bind
from exogpu.lang.errors import closest, reject
from exogpu.lang.indices import flag
from exogpu.skeleton.indices import index, integer
from exogpu.skeleton.refs import BARRIER, Kinds, part, single
from exogpu.skeleton.scope import Reader
from exogpu.source import Span

SCOPES: Final[dict[str, Scope]] = {"cta": "cta", "cluster": "cluster", "gpu": "gpu", "sys": "sys"}
OF_BARRIERS: Final = ("cta", "cluster")
"""Scopes of mbarrier operations (PTX ISA, mbarrier.arrive)."""


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of one call, by parameter."""

    r: Reader
    call: ast.Call
    args: Mapping[str, ast.expr]

    @property
    def span(self) -> Span:
        """The whole call."""
        return self.r.span(self.call)

    def has(self, name: str) -> bool:
        """Whether an optional argument is given."""
        return name in self.args

    def part(self, name: str, kinds: Kinds, *, peers: bool = False) -> Ref:
        """A window of an object."""
        return part(self.r, self.args[name], kinds, peers=peers)

    def maybe(self, name: str, kinds: Kinds) -> Ref | None:
        """A window of an object, if it is given."""
        return self.part(name, kinds) if self.has(name) else None

    def barrier(self, name: str = "b", *, peers: bool = False) -> Ref:
        """One mbarrier."""
        return single(self.r, self.args[name], BARRIER, peers=peers)

    def number(self, name: str, allowed: Callable[[int], bool], rule: str) -> int:
        """A literal integer."""
        return integer(self.r, self.args[name], f"`{name}`", allowed, rule)

    def index(self, name: str) -> Index:
        """An index expression."""
        return index(self.r, self.args[name])

    def bytes(self, name: str) -> Index:
        """A number of bytes of an mbarrier's transaction count; a literal one is in its range."""
        found = self.index(name)
        number = literal(found)
        if number is not None and not 0 < number <= MAX_COUNT:
            text = f"`{name}` must be in 1..{MAX_COUNT}, not {number}"
            raise reject("range", text, self.r.span(self.args[name]))
        return found

    def flag(self, name: str) -> bool:
        """A truth value, False if it is not given."""
        return flag(self.r, self.args[name], name) if self.has(name) else False

    def scope(self, usual: Scope, allowed: tuple[str, ...] = tuple(SCOPES)) -> Scope:
        """The named scope."""
        if not self.has("scope"):
            return usual
        node = self.args["scope"]
        value = node.value if isinstance(node, ast.Constant) else self.r.constant(node)
        if isinstance(value, str) and value in allowed:
            return SCOPES[value]
        known = " or ".join(f'"{s}"' for s in allowed)
        help_text = closest(value, allowed) if isinstance(value, str) else None
        raise reject("type_mismatch", f"the scope is {known}", self.r.span(node), help=help_text)


@dataclass(frozen=True, slots=True)
class Form:
    """How a word is called, the optional parameters marked with `?`, and the operation that it stands for."""

    params: tuple[str, ...]
    build: Callable[[Given], Operation | tuple[Operation, ...]]

    def read(self, r: Reader, node: ast.Call) -> tuple[Operation, ...]:
        """The operations of a call."""
        names = tuple(p.rstrip("?") for p in self.params)
        optional = tuple(p.rstrip("?") for p in self.params if p.endswith("?"))
        found = self.build(Given(r, node, bind(r, node, r.word(node.func), names, optional)))
        return found if isinstance(found, tuple) else (found,)


def form(params: str, build: Callable[[Given], Operation | tuple[Operation, ...]]) -> Form:
    """A form from parameters that spaces separate."""
    return Form(tuple(params.split()), build)
