"""The statements of a role's body."""

from __future__ import annotations

import ast
from typing import Final

from exogpu.ir.index import Bool, Index, Int
from exogpu.ir.linear import literal
from exogpu.ir.skeleton.operations import Unsupported
from exogpu.ir.skeleton.tree import Elect, For, If, Let, Step, Stmt
from exogpu.lang.calls import bind
from exogpu.lang.errors import Rejected, reject
from exogpu.lang.indices import flag
from exogpu.lang.scope import Broken, Declared, Variable
from exogpu.skeleton.indices import cond, index
from exogpu.skeleton.objects import OBJECTS, SETTINGS
from exogpu.skeleton.operations import call
from exogpu.skeleton.scope import Counter, Reader, new_name, refuse_position, what
from exogpu.skeleton.surface import UNSUPPORTED
from exogpu.source import Span

PYTHON: Final[dict[type[ast.stmt], tuple[str, str]]] = {
    ast.While: ("`while` loops", "write `for i in range(n)` with a size or an unknown number n"),
    ast.Break: ("`break`", "put the rest of the body under `if`"),
    ast.Continue: ("`continue`", "put the rest of the body under `if`"),
    ast.Return: ("`return`", "write `exit()` where the threads end"),
    ast.Assert: ("`assert`", "write `check(condition, why)`"),
    ast.AnnAssign: ("annotations", "write `c = 0` for a counter"),
    ast.FunctionDef: ("nested functions", "write the statements out, or a function that returns the skeleton"),
}


def block(r: Reader, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
    """The statements of a block; each rejected one is noted and left out."""
    parsed: list[Stmt] = []
    with r.block():
        for node in nodes:
            with r.guard():
                parsed += statement(r, node)
    return tuple(parsed)


def statement(r: Reader, node: ast.stmt) -> tuple[Stmt, ...]:
    """One statement; several or none for an `if` that captured values decide."""
    match node:
        case ast.For():
            return (_for(r, node),)
        case ast.If():
            return _if(r, node)
        case ast.With():
            return (_elect(r, node),)
        case ast.Assign(targets=[ast.Name() as target], value=value):
            return (_assign(r, target, value, r.span(node)),)
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
            r.lookup(target)
            whole = ast.copy_location(ast.BinOp(ast.copy_location(ast.Name(target.id), target), op, value), node)
            return (_assign(r, target, whole, r.span(node)),)
        case ast.Assign() | ast.AugAssign():
            help_text = "write one counter on the left: `c = 0`, `c += 1`"
            raise reject("syntax", "only counters are assigned", r.text.header(node), help=help_text)
        case ast.Expr(value=ast.Call() as written):
            return call(r, written)
        case ast.Pass():
            return ()
    what_it_is, help_text = PYTHON.get(type(node), ("this statement", "docs/skeletons.md lists the statements"))
    raise reject("syntax", f"{what_it_is} cannot be used in a skeleton", r.text.header(node), "", help_text)


def _for(r: Reader, node: ast.For) -> Stmt:
    header = name = None
    with r.guard():
        header = _range(r, node)
    with r.block():
        with r.guard():
            name = _loop_variable(r, node)
        body = block(r, node.body)
    if header is None or name is None:
        raise Rejected()
    return For(name, *header, body, r.text.header(node), ast.unparse(node.target))


def _loop_variable(r: Reader, node: ast.For) -> str:
    if not isinstance(node.target, ast.Name):
        raise reject("syntax", "a loop has one variable", r.span(node.target), help="write `for i in range(n)`")
    written = node.target.id
    r.declare(written, Broken(written))
    name = new_name(r, written, r.span(node.target))
    r.declare(written, Variable(name))
    return name


def _range(r: Reader, node: ast.For) -> tuple[Index, Index]:
    usage = "write `range(n)` or `range(lo, hi)`"
    if node.orelse:
        raise reject("syntax", "a loop has no `else`", r.span(node.orelse[0]), help="remove it")
    iterator = node.iter
    if not isinstance(iterator, ast.Call) or r.word(iterator.func) != "range":
        text = f"`{ast.unparse(iterator)}` is not a loop of a skeleton"
        raise reject("syntax", text, r.span(iterator), "unknown loop", usage)
    if not 1 <= len(iterator.args) <= 2 or iterator.keywords:
        help_text = usage + "; for a step k, loop over `range(ceildiv(n, k))` and multiply"
        raise reject("arity", "a loop has one or two bounds", r.span(iterator), help=help_text)
    bounds = [index(r, a) for a in iterator.args]
    return (bounds[0] if len(bounds) == 2 else Int(0)), bounds[-1]


def _if(r: Reader, node: ast.If) -> tuple[Stmt, ...]:
    test = None
    with r.guard():
        test = cond(r, node.test)
    if isinstance(test, Bool) and not isinstance(node.test, ast.Constant):
        return block(r, node.body if test.value else node.orelse)
    then, orelse = block(r, node.body), block(r, node.orelse)
    if test is None:
        raise Rejected()
    return (If(test, then, orelse, r.text.header(node)),)


def _elect(r: Reader, node: ast.With) -> Stmt:
    any_lane = None
    with r.guard():
        any_lane = _election(r, node)
    outside, r.elected = r.elected, True
    body = block(r, node.body)
    r.elected = outside
    if any_lane is None:
        raise Rejected()
    return Elect(body, any_lane, r.text.header(node))


def _election(r: Reader, node: ast.With) -> bool:
    item = node.items[0]
    written = item.context_expr
    word = r.word(written.func) if isinstance(written, ast.Call) else ""
    if word == "role":
        raise reject("role", "a role inside a role", r.span(written), help="roles stand side by side")
    if not isinstance(written, ast.Call) or word != "elect" or len(node.items) > 1 or item.optional_vars is not None:
        text = "`with` elects a thread here"
        raise reject("syntax", text, r.span(written), help="write `with elect():` or `with elect(any=True):`")
    if r.elected:
        raise reject("collective", "an election inside an election", r.span(written), help="one thread is left already")
    given = bind(r, written, "elect", ("any",), ("any",))
    return flag(r, given["any"], "any") if "any" in given else False


def _assign(r: Reader, target: ast.Name, value: ast.expr, span: Span) -> Stmt:
    """`c = e`; a new counter lives until the end of its block."""
    written, found = target.id, r.local(target.id)
    refuse_position(written, r.span(target))
    if isinstance(found, Broken):
        raise Rejected()
    if isinstance(found, Declared):
        text = f"`{written}` is {what(found.object)}"
        raise reject("duplicate_name", text, r.span(target), help="give the counter another name")
    if isinstance(found, Variable) and not isinstance(found, Counter):
        text = f"`{written}` is a size or a loop variable"
        raise reject("duplicate_name", text, r.span(target), help="only counters are assigned; choose another name")
    word = r.word(value.func) if isinstance(value, ast.Call) else ""
    if word in OBJECTS or word in SETTINGS:
        raise reject("order", f"`{word}` inside a role", span, help="declare everything before the roles")
    if isinstance(found, Counter) and word not in UNSUPPORTED:
        return _change(r, found.name, target, value, span)
    r.declare(written, Broken(written))
    start = Int(0) if word in UNSUPPORTED else index(r, value)
    name = new_name(r, written, r.span(target))
    r.declare(written, Counter(name))
    return Unsupported(word, span) if word in UNSUPPORTED else Let(name, start, span)


def _change(r: Reader, name: str, target: ast.Name, value: ast.expr, span: Span) -> Stmt:
    """A new value of a counter: a step by a number, if it is written as one."""
    match value:
        case ast.BinOp(left=ast.Name(id=same), op=ast.BitXor(), right=flip) if same == target.id:
            if literal(index(r, flip)) != 1:
                raise reject("non_affine", "only `^ 1` flips a counter", r.span(flip), help="write `ph ^= 1`")
            return Step(name, 1, 2, span)
        case ast.BinOp(left=ast.BinOp(left=ast.Name(id=same)) as total, op=ast.Mod()) if same == target.id:
            step, modulus = _step(r, total), literal(index(r, value.right))
            if step is not None and modulus is not None and modulus > 0:
                return Step(name, step, modulus, span)
        case ast.BinOp(left=ast.Name(id=same)) if same == target.id:
            step = _step(r, value)
            if step is not None:
                return Step(name, step, None, span)
    return Let(name, index(r, value), span)


def _step(r: Reader, node: ast.BinOp) -> int | None:
    """The number that `c + n` or `c - n` adds to c."""
    if not isinstance(node.op, ast.Add | ast.Sub):
        return None
    number = literal(index(r, node.right))
    return number if number is None or isinstance(node.op, ast.Add) else -number
