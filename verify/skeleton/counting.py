"""Role-local counters: which variables of a role are stepped, from what start, and in step with which others.

A counter gets one value by one statement, in a block that holds everything else that is done with it; so it is a count
of its own steps since then. `s = (s + 1) % S; if s == 0: ph ^= 1` counts how often `s` has come round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from exogpu.ir.index import Cmp, Cond, Int, Not, Var
from exogpu.ir.linear import linear, literal
from exogpu.ir.skeleton.tree import Block, For, If, Let, Skeleton, Step, Stmt
from exogpu.ir.skeleton.walk import blocks, children, in_each_role, walk, with_blocks
from exogpu.source import Span
from exogpu.verify.skeleton.mentions import names_in
from exogpu.verify.skeleton.unsupported import NotModelled


@dataclass(frozen=True, slots=True)
class Start:
    """A counter's first value, in how many loops it is given, and its modulus. `round`: it counts how often this other
    counter has come back to 0."""

    name: str
    value: int
    depth: int
    modulus: int | None
    round: str | None = None


def wrapped(skeleton: Skeleton) -> Skeleton:
    """The same with `s = (s + 1) % S; if s == 0: ph ^= 1` for `s += 1; if s == S: s = 0; ph ^= 1`, and for
    `if s == S - 1: s = 0; ph ^= 1` with `s += 1` otherwise."""
    return in_each_role(skeleton, partial(_wrapped, skeleton))


def _wrapped(skeleton: Skeleton, stmts: Block) -> Block:
    out: list[Stmt] = []
    for stmt in (with_blocks(s, [_wrapped(skeleton, inner) for inner in children(s)]) for s in stmts):
        match out[-1] if out else None, stmt:
            case Step(_, 1, None) as step, If(cond, then, ()) if turn := _turn(skeleton, step, cond, then, 0):
                out[-1:] = turn
            case _, If(cond, then, (Step(_, 1, None) as step,)) if turn := _turn(skeleton, step, cond, then, 1):
                out += turn
            case _, If(cond, (Step(_, 1, None) as step,), rest) if turn := _turn(
                skeleton, step, _opposite(cond), rest, 1
            ):
                out += turn
            case _:
                out.append(stmt)
    return tuple(out)


def _turn(skeleton: Skeleton, step: Step, cond: Cond, then: Block, ahead: int) -> tuple[Stmt, ...]:
    """A step with a modulus, and what is done whenever the counter comes back to 0; nothing if it is not that.
    `ahead`: the counter is tested so much before it would reach the modulus."""
    back = Let(step.name, Int(0))
    if not isinstance(cond, Cmp) or not _resets(skeleton, then, back):
        return ()
    rest = tuple(s for s in then if s != back)
    tested = linear(cond.left).plus(linear(cond.right), -1)
    top = ahead - tested.const
    if cond.op not in ("==", ">=") or tested.terms != {Var(step.name): 1} or top < 1:
        return ()
    turned = replace(step, modulus=top)
    return (turned, If(Cmp("==", Var(step.name), Int(0), cond.span), rest, (), cond.span)) if rest else (turned,)


def _opposite(cond: Cond) -> Cond:
    """The condition that holds where a comparison does not, as far as turns need it."""
    match cond:
        case Cmp("<", left, right, span):
            return Cmp(">=", left, right, span)
        case Cmp("!=", left, right, span):
            return Cmp("==", left, right, span)
        case _:
            return Not(cond)


def _resets(skeleton: Skeleton, block: Block, reset: Let) -> bool:
    """A block sets a counter to 0 once, and nothing before that depends on the counter."""
    return block.count(reset) == 1 and not _mentions(skeleton, block[: block.index(reset)], reset.name)


def starts(skeleton: Skeleton, stmts: Block, span: Span, known: frozenset[str]) -> Iterator[Start]:
    """The counters of a role, but for those that are known otherwise."""
    stepping = [s for s in walk(stmts) if isinstance(s, Step) and s.name not in known]
    stepped = {s.name: s.modulus for s in stepping}
    for step in stepping:  # those that count how often another counter has turned, too, which no event is made of
        if step.modulus != stepped[step.name]:
            raise NotModelled(f"the counter `{step.name}` is stepped in two ways", step.span)
    counting = rounds(stmts)
    turning = {step.name: other for step, other in counting}
    for name, modulus in stepped.items():
        let, depth, block = _let(name, stmts, span)
        if name in turning:
            _in_step(name, turning[name], counting, stmts, span)
        if _mentions(skeleton, stmts, name) != _mentions(skeleton, block[block.index(let) :], name):
            raise NotModelled(f"the counter `{name}` is used where it has no value yet, or no longer", let.span)
        value = literal(let.value)
        if value is None:
            raise NotModelled(f"the counter `{name}` does not start from a constant", let.span)
        if modulus is not None and not 0 <= value < modulus:
            raise NotModelled(f"the counter `{name}` does not start below {modulus}", let.span)
        yield Start(name, value, depth, modulus, turning.get(name))


def _in_step(name: str, turning: str, counting: list[tuple[Step, str]], stmts: Block, span: Span) -> None:
    """The counter is stepped whenever the other one has turned, and at no other time."""
    pairs = sum(step.name == name and other == turning for step, other in counting)
    if any(pairs != steps(stmts, n) for n in (name, turning)):
        raise NotModelled(f"the counter `{name}` is stepped in two ways", span)


def steps(stmts: Block, name: str) -> int:
    """How many statements step a counter."""
    return sum(isinstance(s, Step) and s.name == name for s in walk(stmts))


def rounds(stmts: Block) -> list[tuple[Step, str]]:
    """The steps that count how often another counter has come back to 0, and which."""
    return [found for block in blocks(stmts) for pair in pairwise(block) for found in _turns(*pair)]


def turns(one: Stmt | None, other: Stmt) -> bool:
    """`other` counts how often the counter that `one` steps has come back to 0."""
    return one is not None and any(True for _ in _turns(one, other))


def _turns(one: Stmt, other: Stmt) -> Iterator[tuple[Step, str]]:
    match one, other:
        case Step(name, 1, int()), If(Cmp("==", Var(tested), Int(0)), (Step(by=1) as step,), ()) if tested == name:
            yield step, name
        case _:
            return


def _let(name: str, stmts: Block, span: Span) -> tuple[Let, int, Block]:
    """The one statement that gives a counter its value, the number of loops around it, and its block."""
    found = list(_lets(name, stmts, 0))
    if len(found) != 1:
        raise NotModelled(f"the counter `{name}` does not get one value in one place", span)
    return found[0]


def _lets(name: str, block: Block, depth: int) -> Iterator[tuple[Let, int, Block]]:
    for s in block:
        if isinstance(s, Let) and s.name == name:
            yield s, depth, block
        for inner in children(s):
            yield from _lets(name, inner, depth + isinstance(s, For))


def _mentions(skeleton: Skeleton, block: Block, name: str) -> int:
    """How many statements depend on a variable, or change it."""
    return sum(name in names_in(skeleton, s) or getattr(s, "name", None) == name for s in walk(block))
