"""Removes local variables that nothing uses, so that lowering may declare whatever could be useful."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exogpu.codegen.cuda.tree import Branch, Declare, Loop, Name, Node, Scope, Turn
from exogpu.codegen.cuda.walk import walk


def names_in(node: object) -> Iterator[Name]:
    """Every name that occurs in a part of a tree."""
    return (part for part in walk(node) if isinstance(part, Name))


def prune(block: tuple[Node, ...]) -> tuple[Node, ...]:
    """The block without unused declarations and without blocks that become empty."""
    kept: list[Node] = []
    used: set[Name] = set()
    for node in reversed(block):
        match node:
            case Declare(name=name) if name not in used:
                continue
            case Scope(body):
                inner = prune(body)
                if not inner:
                    continue
                if not any(isinstance(n, Declare) for n in inner):
                    kept += reversed(inner)
                    used |= set(names_in(inner))
                    continue
                node = Scope(inner)
            case Branch(then=then, orelse=orelse):
                node = replace(node, then=prune(then), orelse=prune(orelse))
                if not node.then and not node.orelse:
                    continue
            case Turn(body=body, idle=idle):
                node = replace(node, body=prune(body), idle=prune(idle))
            case Loop(body=body):
                node = replace(node, body=prune(body))
                if not node.body:
                    continue
            case _:
                pass
        kept.append(node)
        used |= set(names_in(node))
    return tuple(reversed(kept))
