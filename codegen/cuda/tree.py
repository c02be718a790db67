"""A small tree of CUDA C++: expressions, statements and functions. Text, names and parentheses are the printer's.

A `Name` written by the user keeps its text unless it clashes with a name of ours or a C++ keyword.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    """A variable; `user` marks a name from the user's program."""

    text: str
    user: bool = False


@dataclass(frozen=True, slots=True)
class IntLit:
    """An `int` literal; `suffix` gives another integer type."""

    value: int
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class FloatLit:
    """A `float` literal, or `double`."""

    value: float
    double: bool = False


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary operation."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Unary:
    """A prefix operation."""

    op: str
    arg: Expr


@dataclass(frozen=True, slots=True)
class Ternary:
    """`cond ? then : orelse`."""

    cond: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True)
class Apply:
    """A call `fn<template>(args)`."""

    fn: str
    args: tuple[Expr, ...]
    template: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subscript:
    """`base[index]`."""

    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Convert:
    """A conversion to a type; `how` is static_cast or reinterpret_cast."""

    type: str
    arg: Expr
    how: str = "static_cast"


@dataclass(frozen=True, slots=True)
class Spelled:
    """A C++ pattern with `{0}` for its argument, from a table of functions."""

    pattern: str
    args: tuple[Expr, ...]


Expr = Name | IntLit | FloatLit | Binary | Unary | Ternary | Apply | Subscript | Convert | Spelled


@dataclass(frozen=True, slots=True)
class Declare:
    """A local variable, or an array of `extent` elements (0: of unknown length) aligned to `align` bytes."""

    type: str
    name: Name
    init: Expr | None = None
    extent: int | None = None
    align: int | None = None


@dataclass(frozen=True, slots=True)
class Set:
    """An assignment; `op` is `=` or a compound one."""

    target: Expr
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Do:
    """An expression evaluated for its effect."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Branch:
    """if/else; an `orelse` that is one Branch prints as `else if`."""

    cond: Expr
    then: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """if/else on whose turn it is; the others execute `idle`, which only advances the counters that `body` does."""

    cond: Expr
    body: tuple[Node, ...]
    idle: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (int var = init; var < bound; var += step)`. `unroll` 0 says nothing, 1 forbids, -1 asks for all."""

    var: Name
    init: Expr
    bound: Expr
    step: Expr
    body: tuple[Node, ...]
    unroll: int = 0


@dataclass(frozen=True, slots=True)
class Scope:
    """A braced block."""

    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A line comment."""

    text: str


@dataclass(frozen=True, slots=True)
class Inline:
    """Inline PTX, volatile and with a memory clobber: lines of text, then (constraint, expression) pairs."""

    text: tuple[str, ...]
    outputs: tuple[tuple[str, Expr], ...] = ()
    inputs: tuple[tuple[str, Expr], ...] = ()


Node = Declare | Set | Do | Branch | Turn | Loop | Scope | Remark | Inline


@dataclass(frozen=True, slots=True)
class Parameter:
    """A function parameter."""

    type: str
    name: Name


@dataclass(frozen=True, slots=True)
class Function:
    """A function; `head` is everything before its name."""

    head: str
    name: str
    params: tuple[Parameter, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A translation unit: comment lines, a fixed prelude, helper functions and the kernel."""

    header: tuple[str, ...]
    prelude: str
    functions: tuple[Function, ...]
    kernel: Function
