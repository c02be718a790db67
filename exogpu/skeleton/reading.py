"""`@skeleton`: from a Python function's text to the skeleton that it describes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.index import Bool
from exogpu.ir.skeleton.tree import RANK, TID, Body, RoleDecl, Skeleton
from exogpu.ir.wellformed import MAX_THREADS
from exogpu.lang.calls import bind
from exogpu.lang.errors import Rejected, closest, reject
from exogpu.lang.header import declare_size, is_size, plain_arguments
from exogpu.lang.reading import caller_locals, read
from exogpu.lang.scope import Broken, Variable, identifier
from exogpu.skeleton import statements
from exogpu.skeleton.cuda import meant
from exogpu.skeleton.indices import cond, ctas, integer, label
from exogpu.skeleton.objects import (
    OBJECTS,
    REGISTER_FILE,
    REGISTER_STEP,
    SETTINGS,
    Declarations,
    declaration,
    setting,
)
from exogpu.skeleton.scope import Reader
from exogpu.skeleton.surface import WORDS
from exogpu.source import Span


def skeleton(fn: Callable[..., object]) -> Skeleton:
    """The skeleton that a function's text describes; raises `BadInput` with every finding."""
    return read(fn, caller_locals(), Reader, _skeleton)


def _skeleton(r: Reader, node: ast.FunctionDef) -> Skeleton:
    span = r.text.name(node)
    name = identifier(r, node.name, span)
    # as in Python, a name that the function assigns is never one of the file
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    r.captured = {known: value for known, value in r.captured.items() if known not in own}
    sizes = _sizes(r, node.args)
    if node.returns is not None:
        r.found += reject("syntax", "a skeleton returns nothing", r.span(node.returns), help="remove it").diagnostics
    start = 1 if ast.get_docstring(node, clean=False) is not None else 0
    into, bodies = Declarations(), list[Body]()
    for line in _lines(r, node.body[start:]):
        with r.guard():
            _top(r, line, into, bodies)
    if not bodies and not r.found:
        help_text = 'write `with role("name", threads=128):` and what its threads do'
        raise reject("role", "the skeleton has no role", span, help=help_text)
    threads = -(-max((b.role.first + b.role.threads for b in bodies), default=0) // WARP) * WARP
    if threads > MAX_THREADS:
        last = bodies[-1].role.span
        raise reject("threads", f"the roles need {threads} threads, and a CTA has at most {MAX_THREADS}", last)
    if into.registers is not None:
        _fit(r, into.registers, bodies, span)
    unknowns = tuple(r.unknowns.items())
    objects, requires = tuple(into.objects), tuple(into.requires)
    return Skeleton(name, sizes, requires, r.cluster, threads, into.registers, objects, tuple(bodies), unknowns, span)


def _fit(r: Reader, registers: int, bodies: list[Body], span: Span) -> None:
    """The warps of a CTA can be launched with so many registers per thread; those between roles do not exist."""
    warps = max(sum(-(-b.role.threads // WARP) for b in bodies if cta in b.role.ctas) for cta in range(r.cluster))
    wanted = warps * WARP * -(-registers // REGISTER_STEP) * REGISTER_STEP
    if wanted > REGISTER_FILE:
        message = f"{warps} warps are launched with {wanted} registers, and a CTA has at most {REGISTER_FILE}"
        raise reject("range", message, span, help=f"`launch(registers=...)` is per thread, in steps of {REGISTER_STEP}")


def _sizes(r: Reader, node: ast.arguments) -> tuple[str, ...]:
    sizes: list[str] = []
    for a in plain_arguments(r, node):
        with r.guard():
            declare_size(r, a)
            if not is_size(r, a):
                message = f"argument `{a.arg}` is not a size"
                raise reject("type", message, r.span(a), help=f"write `{a.arg}: size`; declare memory in the body")
            sizes.append(a.arg)
    return tuple(sizes)


def _lines(r: Reader, nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The declarations and roles, of an `if` on Python's values those of the branch that it chooses."""
    for node in nodes:
        if isinstance(node, ast.If):
            chosen: list[ast.stmt] = []
            with r.guard():
                chosen = _branch(r, node)
            yield from _lines(r, chosen)
        else:
            yield node


def _branch(r: Reader, node: ast.If) -> list[ast.stmt]:
    test = cond(r, node.test)
    if not isinstance(test, Bool):
        help_text = "put the `if` into the role"
        raise reject("role", "whether a role exists does not depend on sizes", r.span(node.test), help=help_text)
    return node.body if test.value else node.orelse


def _top(r: Reader, node: ast.stmt, into: Declarations, bodies: list[Body]) -> None:
    match node:
        case ast.With():
            bodies.append(_role(r, node, bodies))
            return
        case ast.Assign(targets=[ast.Name() as target], value=ast.Call() as call) if r.word(call.func) in OBJECTS:
            _in_order(r, node, bodies)
            declaration(r, target, call, into)
            return
        case ast.Expr(value=ast.Call() as call) if r.word(call.func) in SETTINGS:
            _in_order(r, node, bodies)
            setting(r, call, into)
            return
        case ast.Pass():
            return
    raise _outside(r, node)


def _outside(r: Reader, node: ast.stmt) -> Rejected:
    """What is wrong with a line that is neither a declaration nor a role."""
    help_text = 'put it into the body of a role: `with role("name", threads=128):`'
    if isinstance(node, ast.Assign):  # the uses of what it would declare are not reported again
        for target in (t for t in node.targets if isinstance(t, ast.Name)):
            r.declare(target.id, Broken(target.id))
    match node:
        case ast.Assign(value=ast.Call(func=callee)) if not r.word(callee):
            message = f"`{ast.unparse(callee)}` declares nothing"
            known = closest(ast.unparse(callee), OBJECTS, meant) or f"write one of {', '.join(OBJECTS)}"
            return reject("unknown_name", message, r.span(callee), "not a kind of object", known)
        case ast.Assign(value=ast.Constant() | ast.BinOp()):
            help_text = "compute constants outside the function; counters belong to a role"
        case ast.Expr(value=ast.Call(func=callee)) if not r.word(callee):
            known = closest(ast.unparse(callee), {*SETTINGS, *WORDS}, meant) or help_text
            return reject("unknown_name", f"`{ast.unparse(callee)}` is not a word", r.span(callee), help=known)
    return reject("role", "a statement outside every role", r.text.header(node), "executed by nobody", help_text)


def _in_order(r: Reader, node: ast.stmt, bodies: list[Body]) -> None:
    if bodies:
        found = reject("order", "a declaration after a role", r.span(node), help="declare everything before the roles")
        r.found += found.diagnostics


def _role(r: Reader, node: ast.With, bodies: list[Body]) -> Body:
    decl = None
    with r.guard():
        decl = _declared_role(r, node, bodies)
    r.role = decl or RoleDecl("", 0, WARPGROUP, WARPGROUP, (0,), r.text.header(node))
    with r.block():
        for position in (TID, RANK):
            r.declare(position, Variable(position))
        body = statements.block(r, _nested(node))
    r.role = None
    if decl is None:
        raise Rejected()
    return Body(decl, body)


def _nested(node: ast.With) -> list[ast.stmt]:
    """The body of a role: `with role(...), elect():` is a role with one election in it."""
    if len(node.items) == 1:
        return node.body
    return [ast.copy_location(ast.With(items=node.items[1:], body=node.body), node)]


def _declared_role(r: Reader, node: ast.With, bodies: list[Body]) -> RoleDecl:
    item = node.items[0]
    call = item.context_expr
    usage = 'write `with role("name", threads=128):` or `with role("name", warps=4):`'
    if not isinstance(call, ast.Call) or r.word(call.func) != "role" or item.optional_vars is not None:
        raise reject("role", "`with` opens a role here", r.span(call), help=usage)
    given = bind(r, call, "role", ("name", "threads", "warps", "ctas"), ("threads", "warps", "ctas"))
    name = label(r, given["name"], "the name of a role")
    if name in {b.role.name for b in bodies}:
        raise reject("duplicate_name", f"role `{name}` is written twice", r.span(call), help="a role has one body")
    if ("threads" in given) == ("warps" in given):
        raise reject("arity", "a role has a number of threads or of warps", r.span(call), help=usage)
    if "warps" in given:
        most = MAX_THREADS // WARP
        unit = WARP
        threads = WARP * integer(r, given["warps"], "`warps`", lambda n: 1 <= n <= most, f"in 1..{most}")
    else:
        rule = f"in 1..{MAX_THREADS}"
        unit = threads = integer(r, given["threads"], "`threads`", lambda n: 1 <= n <= MAX_THREADS, rule)
    free = max((b.role.first + b.role.threads for b in bodies), default=0)
    align = WARP if threads % WARPGROUP else WARPGROUP
    ctas = _ctas(r, given["ctas"]) if "ctas" in given else tuple(range(r.cluster))
    return RoleDecl(name, -(-free // align) * align, threads, unit, ctas, r.span(call))


def _ctas(r: Reader, node: ast.expr) -> tuple[int, ...]:
    def read(e: ast.expr) -> int:
        return integer(r, e, "a CTA", lambda n: 0 <= n < r.cluster, f"in 0..{r.cluster - 1}")

    several = isinstance(node, ast.Tuple | ast.List) or isinstance(r.constant(node), tuple | list)
    return tuple(sorted(ctas(r, node, read))) if several else (read(node),)
