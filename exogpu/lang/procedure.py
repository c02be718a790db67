"""`@proc`, `@algorithm` and `@scalar`: from a Python function's text to the IR."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from exogpu.diagnostics import Diagnostic
from exogpu.ir.proc import UNSCHEDULED, BarrierDecl, Launch, NamedBarrier, Proc, Require
from exogpu.ir.types import Scalar
from exogpu.ir.value import ScalarFn
from exogpu.ir.wellformed import check, check_meaning
from exogpu.lang import header, statements
from exogpu.lang.errors import Rejected, reject
from exogpu.lang.reading import caller_locals, read
from exogpu.lang.scope import Context, DataScalar, identifier
from exogpu.lang.surface import PYTHON_WORDS, WORDS
from exogpu.lang.values import dtype, value

IMPLIED = ("lang.scope", "lang.no_tasks")
"""What a rejected statement, which is left out, can imply for the rest."""


def proc(fn: Callable[..., object]) -> Proc:
    """The procedure that a function's text describes; raises `BadInput` with every finding."""
    return read(fn, caller_locals(), Context, _procedure)


def algorithm(fn: Callable[..., object]) -> Proc:
    """What is to be computed, without a launch configuration or any annotation: the start of a schedule. Statements
    may stand anywhere. Raises `BadInput` with every finding."""
    return read(fn, caller_locals(), Context, _algorithm)


def scalar(fn: Callable[..., object]) -> ScalarFn:
    """A per-element function of f32 values: one `return` of a data expression; raises `BadInput`."""
    return read(fn, caller_locals(), Context, _scalar_function)


@dataclass(frozen=True, slots=True)
class _Declaration:
    """A `require`, `block`, `mbarrier` or `named_barrier` line at the start of a procedure."""

    word: str
    call: ast.Call
    target: ast.Name | None = None


def _declaration(ctx: Context, node: ast.stmt) -> _Declaration | None:
    match node:
        case ast.Expr(value=ast.Call() as call):
            word, target, words = ctx.word(call.func), None, frozenset({"require", "block"})
        case ast.Assign(targets=[ast.Name() as target], value=ast.Call() as call):
            word, words = ctx.word(call.func), frozenset({"mbarrier", "named_barrier"})
        case _:
            return None
    return _Declaration(word, call, target) if word in words else None


def _split(ctx: Context, function: ast.FunctionDef) -> tuple[list[_Declaration], list[ast.stmt]]:
    """The declarations and the statements of a body; the first declaration after a statement is noted."""
    start = 1 if ast.get_docstring(function, clean=False) is not None else 0
    parts = [(node, _declaration(ctx, node)) for node in function.body[start:]]
    body = [node for node, declared in parts if declared is None]
    late = [(node, d.word) for node, d in parts if d is not None and body and node.lineno > body[0].lineno]
    for node, word in late[:1]:
        text = f"`{word}` comes after the first statement"
        found = reject("order", text, ctx.span(node), help="declare requires, the block and barriers first")
        ctx.found += found.diagnostics
    return [declared for _, declared in parts if declared is not None], body


def _procedure(ctx: Context, node: ast.FunctionDef) -> Proc:
    return _read(ctx, node, None, check)


def _algorithm(ctx: Context, node: ast.FunctionDef) -> Proc:
    return _read(ctx, node, UNSCHEDULED, check_meaning)


def _read(
    ctx: Context, node: ast.FunctionDef, usual: Launch | None, rules: Callable[[Proc], tuple[Diagnostic, ...]]
) -> Proc:
    """A procedure that satisfies the rules; one that declares no block has the `usual` one."""
    name = identifier(ctx, node.name, ctx.text.name(node))
    args = header.arguments(ctx, node.args)
    if node.returns is not None:
        found = reject("syntax", "a procedure returns nothing", ctx.span(node.returns), help="remove the annotation")
        ctx.found += found.diagnostics
    declarations, rest = _split(ctx, node)
    requires: list[Require] = []
    barriers: list[BarrierDecl] = []
    named: list[NamedBarrier] = []
    for declared in declarations:
        with ctx.guard():
            if declared.target is not None and declared.word == "named_barrier":
                named.append(header.named_barrier(ctx, declared.target, declared.call))
            elif declared.target is not None:
                barriers.append(header.barrier(ctx, declared.target, declared.call))
            elif declared.word == "require":
                requires.append(header.require(ctx, declared.call))
    calls = [d.call for d in declarations if d.word == "block"]
    block = _block(ctx, node, calls) if calls or usual is None else usual
    if block is not None:
        ctx.cta, ctx.cluster = block.threads, block.cluster
    body = statements.block(ctx, rest)
    if block is None:
        raise Rejected()
    span = ctx.text.name(node)
    result = Proc(name, args, tuple(requires), block, tuple(barriers), body, span, tuple(named))
    partial = bool(ctx.found)
    ctx.found += (d for d in rules(result) if not (partial and d.code in IMPLIED))
    return result


def _block(ctx: Context, node: ast.FunctionDef, calls: list[ast.Call]) -> Launch | None:
    for extra in calls[1:]:
        ctx.found += reject("block", "`block` is given twice", ctx.span(extra), help="remove one").diagnostics
    if calls:
        with ctx.guard():
            return header.block(ctx, calls[0])
        return None
    help_text = "start the body with `block(256)`, or with named roles: `block(producer=warps(1), ...)`"
    missing = reject(
        "block", "the launch configuration is missing", ctx.text.name(node), "has no `block(...)`", help_text
    )
    ctx.found += missing.diagnostics
    return None


def _scalar_function(ctx: Context, node: ast.FunctionDef) -> ScalarFn:
    if node.name in WORDS or node.name in PYTHON_WORDS:
        text = f"`{node.name}` is a word of the language"
        raise reject("name", text, ctx.text.name(node), help="choose another name")
    params: list[str] = []
    for a in node.args.args:
        params.append(identifier(ctx, a.arg, ctx.span(a)))
        if a.annotation is None or dtype(ctx, a.annotation) is not Scalar.F32:
            text = f"parameter `{a.arg}` of a scalar function must be f32"
            raise reject("type_mismatch", text, ctx.span(a), help=f"write `{a.arg}: f32`; arguments are converted")
        ctx.declare(a.arg, DataScalar(a.arg, Scalar.F32))
    extra = (*node.args.posonlyargs, *node.args.kwonlyargs, *node.args.defaults, node.args.vararg, node.args.kwarg)
    start = 1 if ast.get_docstring(node, clean=False) is not None else 0
    match node.body[start:]:
        case [ast.Return(value=ast.expr() as result)] if not any(extra) and params:
            return ScalarFn(node.name, tuple(params), value(ctx, result))
    text = "a scalar function has f32 parameters and one `return`"
    raise reject("syntax", text, ctx.text.name(node), help="write `def f(x: f32): return ...`")
