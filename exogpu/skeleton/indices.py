"""Index expressions and conditions of skeletons: those of kernels, and a few more forms that are written as them first.

tid  warp  lane  rank        the thread
a & 3   a << 1   a >> 1      bits: remainder, product and quotient by a power of two
a if c else b                one of them, where Python knows which
pred("p", a)                 an unknown condition: a variable that is not 0
unknown("u", a, below=4)     an unknown number: a variable
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import holds
from exogpu.ir.index import Cond, Index
from exogpu.ir.integers import as_integer
from exogpu.ir.linear import literal
from exogpu.ir.print_expr import index_text
from exogpu.ir.skeleton.tree import RANK, TID, Unknown
from exogpu.ir.walk import index_names
from exogpu.lang import indices
from exogpu.lang.errors import Rejected, reject
from exogpu.lang.scope import Variable
from exogpu.skeleton.scope import POSITIONS, Reader

E = TypeVar("E", bound=ast.expr)
K = TypeVar("K")


def index(r: Reader, node: ast.expr) -> Index:
    """An index expression."""
    return indices.index(r, plain(r, node))


def cond(r: Reader, node: ast.expr) -> Cond:
    """A condition."""
    return indices.cond(r, plain(r, node))


def integer(r: Reader, node: ast.expr, what: str, allowed: Callable[[int], bool], rule: str) -> int:
    """A literal integer that satisfies `allowed`; `rule` says so in words."""
    return indices.integer(r, plain(r, node), what, allowed, rule)


def parity(r: Reader, node: ast.expr) -> Index:
    """An index expression of which only the parity counts: `e ^ 1` is `e + 1`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor) and _is_one(r, node.right):
        return indices.index(r, _at(node, ast.BinOp(plain(r, node.left), ast.Add(), plain(r, node.right))))
    return index(r, node)


def _is_one(r: Reader, node: ast.expr) -> bool:
    return literal(index(r, node)) == 1


def plain(r: Reader, node: ast.expr) -> ast.expr:
    """The expression in the forms that kernels have, at the same places of the text."""
    match node:
        case ast.Name(id=name) if name in POSITIONS:
            return _position(r, node)
        case ast.UnaryOp(op=op, operand=operand):
            return _at(node, ast.UnaryOp(op, plain(r, operand)))
        case ast.BinOp():
            return _operation(r, node)
        case ast.BoolOp(op=connective, values=values):
            return _at(node, ast.BoolOp(connective, [plain(r, v) for v in values]))
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _at(node, ast.Compare(plain(r, left), ops, [plain(r, o) for o in others]))
        case ast.Call(func=callee) if r.word(callee) == "pred":
            variable = _unknown(r, node, 2)
            return _at(node, ast.Compare(variable, [ast.NotEq()], [_at(node, ast.Constant(0))]))
        case ast.Call(func=callee) if r.word(callee) == "unknown":
            return _unknown(r, node, None)
        case ast.Call(func=callee, args=args, keywords=keywords):
            return _at(node, ast.Call(callee, [plain(r, a) for a in args], keywords))
        case ast.IfExp(test=test, body=yes, orelse=no):
            known = cond(r, test)
            if not index_names(known):
                return plain(r, yes if holds(known, {}) else no)
            help_text = "write `if` and `else` with one statement in each"
            raise reject("non_affine", "an index has no conditional expression", r.span(node), help=help_text)
        case ast.Slice(lower=lower, upper=upper, step=step):
            return _at(node, ast.Slice(lower and plain(r, lower), upper and plain(r, upper), step))
    return node


def _at(origin: ast.expr, node: E) -> E:
    return ast.copy_location(node, origin)


def _position(r: Reader, node: ast.Name) -> ast.expr:
    name, span = node.id, r.span(node)
    if as_integer(r.captured.get(name)) is not None:
        text = f"`{name}` is a word of the language and a number of the file"
        raise reject("name", text, span, help=f"rename the Python variable `{name}`")
    if r.role is None:
        raise reject("role", f"`{name}` has no value outside a role", span, help="use it in the body of a role")
    if name in (TID, RANK):
        return node
    op = ast.FloorDiv() if name == "warp" else ast.Mod()
    return _at(node, ast.BinOp(_at(node, ast.Name(TID)), op, _at(node, ast.Constant(WARP))))


def _operation(r: Reader, node: ast.BinOp) -> ast.expr:
    left, right = plain(r, node.left), plain(r, node.right)
    match node.op:
        case ast.BitAnd():
            mask = integer(r, right, "a mask", lambda n: n >= 0 and (n + 1) & n == 0, "a power of two minus one")
            return _at(node, ast.BinOp(left, ast.Mod(), _at(node.right, ast.Constant(mask + 1))))
        case ast.LShift() | ast.RShift():
            bits = integer(r, right, "a shift", lambda n: 0 <= n <= 30, "in 0..30")
            op = ast.Mult() if isinstance(node.op, ast.LShift) else ast.FloorDiv()
            return _at(node, ast.BinOp(left, op, _at(node.right, ast.Constant(1 << bits))))
        case ast.BitXor():
            raise reject("non_affine", "an index has no `^`", r.span(node), help="write `(e + 1) % 2` for a parity")
    return _at(node, ast.BinOp(left, node.op, right))


def _unknown(r: Reader, node: ast.Call, usual: int | None) -> ast.expr:
    """The variable for an unknown number in 0 .. below - 1; `usual` is `below` where it is not written."""
    word = r.word(node.func)
    usage = 'pred("work", t)' if usual else 'unknown("slot", i, below=4)'
    written = {k.arg or "**": k.value for k in node.keywords}
    if len(written) < len(node.keywords) or set(written) != (set() if usual else {"below"}) or not node.args:
        raise reject("arity", f"wrong arguments for `{word}`", r.span(node), help=f"write `{usage}`")
    if r.role is None:
        raise reject("role", f"`{word}` has no value outside a role", r.span(node), help="make it a size")
    name = label(r, node.args[0], f"the name of `{word}`")
    args = tuple(index(r, a) for a in node.args[1:])
    below = usual or integer(r, written["below"], "`below`", lambda n: n >= 1, "at least 1")
    found = Unknown(name, args, below)
    for other in r.unknowns.values():
        if other.name == name and (other.below, len(other.args)) != (below, len(args)):
            raise _inconsistent(r, node, other)
    variable = f"{name}({', '.join(map(index_text, args))})"
    r.unknowns[variable] = found
    r.blocks[0][variable] = Variable(variable)
    return _at(node, ast.Name(variable))


def _inconsistent(r: Reader, node: ast.Call, other: Unknown) -> Rejected:
    count = len(other.args)
    before = f"{count} argument{'s' * (count != 1)} and a value below {other.below}"
    message = f"`{other.name}` is another unknown elsewhere"
    return reject("type_mismatch", message, r.span(node), f"has {before} there", "choose another name")


def text(r: Reader, node: ast.expr, meaning: str) -> str:
    """A literal or captured string."""
    value = node.value if isinstance(node, ast.Constant) else r.constant(node)
    if isinstance(value, str) and value:
        return value
    raise reject("type_mismatch", f"{meaning} is text in quotes", r.span(node))


def label(r: Reader, node: ast.expr, meaning: str) -> str:
    """A literal or captured string of letters, digits and underscores."""
    value = text(r, node, meaning)
    if value.isidentifier() and value.isascii():
        return value
    help_text = "write ASCII letters, digits and underscores, a letter first"
    raise reject("name", f"`{value}` cannot be used as a name", r.span(node), help=help_text)


def ctas(r: Reader, node: ast.expr, read: Callable[[ast.expr], K]) -> tuple[K, ...]:
    """Different CTAs, written as a tuple; a captured tuple of numbers stands for it."""
    value = r.constant(node)
    elements = node.elts if isinstance(node, ast.Tuple | ast.List) else None
    if isinstance(value, tuple | list) and all(as_integer(v) is not None for v in value):
        elements = [_at(node, ast.Constant(as_integer(v))) for v in value]
    if elements is None:
        raise reject(
            "type_mismatch", "several CTAs are a tuple", r.span(node), help="write `(0, 1)`, and `(1,)` for one"
        )
    found = tuple(map(read, elements))
    if not found or len(set(found)) < len(found):
        raise reject("cluster", "one or more different CTAs are named here", r.span(node))
    return found
