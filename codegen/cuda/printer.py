"""Prints the CUDA tree: names, parentheses and line breaks are decided here, the same for equal trees."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from exogpu.codegen.cuda.keywords import KEYWORDS
from exogpu.codegen.cuda.tree import (
    Apply,
    Binary,
    Branch,
    Convert,
    Declare,
    Do,
    Expr,
    FloatLit,
    Function,
    Inline,
    IntLit,
    Loop,
    Name,
    Node,
    Remark,
    Scope,
    Set,
    Source,
    Spelled,
    Subscript,
    Ternary,
    Turn,
    Unary,
)
from exogpu.codegen.cuda.walk import walk

WIDTH = 120
INDENT = "    "

_LEVEL = {
    **dict.fromkeys(("*", "/", "%"), 13),
    **dict.fromkeys(("+", "-"), 12),
    **dict.fromkeys(("<<", ">>"), 11),
    **dict.fromkeys(("<", "<=", ">", ">="), 10),
    **dict.fromkeys(("==", "!="), 9),
    "&": 8,
    "^": 7,
    "|": 6,
    "&&": 5,
    "||": 4,
}
_TERNARY, _UNARY, _PRIMARY = 3, 14, 15
_BITWISE = frozenset(("<<", ">>", "&", "^", "|"))
"""Operators whose precedence few readers know: their operands are parenthesised."""

_WORD = re.compile(r"[A-Za-z_]\w*")
_GLOBAL_NAMES = re.compile(r"(?<=struct )\w+|(?<=using )\w+|(?<=#define )\w+|\w+(?=(?:<[^<>]*>)?\()")


def print_source(source: Source) -> str:
    """The text of a translation unit."""
    return _Printer(_names(source)).source(source)


def reserved_names(prelude: str) -> frozenset[str]:
    """Names that neither a kernel nor a variable can have."""
    return KEYWORDS | frozenset(_GLOBAL_NAMES.findall(prelude))


def _names(source: Source) -> dict[str, str]:
    """The C++ name of each user name: itself, with underscores appended until nothing else has that name."""
    parts = (source.functions, source.kernel)
    names = [n for n in walk(parts) if isinstance(n, Name)]
    taken = reserved_names(source.prelude) | frozenset(f.name for f in (*source.functions, source.kernel))
    taken |= frozenset(n.text for n in names if not n.user)
    for node in walk(parts):
        if isinstance(node, Apply | Spelled):
            taken |= frozenset(_WORD.findall(node.fn if isinstance(node, Apply) else node.pattern))
    chosen: dict[str, str] = {}
    for name in names:
        if name.user and name.text not in chosen:
            text = name.text
            while text in taken or text in chosen.values():
                text += "_"
            chosen[name.text] = text
    return chosen


@dataclass(frozen=True, slots=True)
class _Printer:
    names: dict[str, str]

    def source(self, source: Source) -> str:
        header = [f"// {line}".rstrip() for line in source.header]
        parts = ["\n".join(header), source.prelude.strip()]
        parts += ["\n".join(self.function(f)) for f in (*source.functions, source.kernel)]
        return "\n\n".join(parts) + "\n"

    def function(self, function: Function) -> list[str]:
        params = [f"{p.type} {self.name(p.name)}" for p in function.params]
        lines = _wrapped(f"{function.head} {function.name}(", params, ") {", 0)
        return [*lines, *self.block(function.body, 1), "}"]

    def name(self, name: Name) -> str:
        return self.names[name.text] if name.user else name.text

    def block(self, body: tuple[Node, ...], depth: int) -> list[str]:
        return [line for node in body for line in self.node(node, depth)]

    def node(self, node: Node, depth: int) -> list[str]:
        pad = INDENT * depth
        match node:
            case Declare():
                return self.declaration(node, depth)
            case Set(target, op, value):
                return self.statement(f"{self.expr(target)} {op} {self.expr(value)};", depth)
            case Do(Apply(fn, args, template)):
                return _wrapped(f"{pad}{fn}{_template(template)}(", [self.expr(a) for a in args], ");", depth)
            case Do(expr):
                return self.statement(f"{self.expr(expr)};", depth)
            case Remark(text):
                return [f"{pad}// {text}"]
            case Scope(body):
                return [f"{pad}{{", *self.block(body, depth + 1), f"{pad}}}"]
            case Branch():
                return self.branch(node, depth)
            case Turn(cond, body, idle):
                return self.branch(Branch(cond, body, idle), depth)
            case Loop():
                return self.loop(node, depth)
            case Inline():
                return self.inline(node, depth)

    def statement(self, text: str, depth: int) -> list[str]:
        """A statement, broken at spaces if it is too long."""
        return _folded(INDENT * depth + text, depth)

    def declaration(self, node: Declare, depth: int) -> list[str]:
        if node.extent == 0:
            return [f"{INDENT * depth}{node.type} {self.name(node.name)}[];"]
        text = f"alignas({node.align}) " if node.align else ""
        text += f"{node.type} {self.name(node.name)}"
        text += f"[{node.extent}]" if node.extent is not None else ""
        text += f" = {self.expr(node.init)}" if node.init is not None else ""
        return self.statement(text + ";", depth)

    def branch(self, node: Branch, depth: int) -> list[str]:
        pad = INDENT * depth
        head = self.statement(f"if ({self.expr(node.cond)}) {{", depth)
        lines = [*head, *self.block(node.then, depth + 1)]
        match node.orelse:
            case ():
                return [*lines, f"{pad}}}"]
            case (Branch() as inner,):
                rest = self.branch(inner, depth)
                return [*lines, f"{pad}}} else {rest[0].lstrip()}", *rest[1:]]
            case orelse:
                return [*lines, f"{pad}}} else {{", *self.block(orelse, depth + 1), f"{pad}}}"]

    def loop(self, node: Loop, depth: int) -> list[str]:
        pad, var = INDENT * depth, self.name(node.var)
        pragma = {0: [], 1: [f"{pad}#pragma unroll 1"], -1: [f"{pad}#pragma unroll"]}[node.unroll]
        step = f"++{var}" if node.step == IntLit(1) else f"{var} += {self.expr(node.step)}"
        head = f"{pad}for (int {var} = {self.expr(node.init)}; {var} < {self.expr(node.bound)}; {step}) {{"
        return [*pragma, head, *self.block(node.body, depth + 1), f"{pad}}}"]

    def inline(self, node: Inline, depth: int) -> list[str]:
        pad = INDENT * depth
        end = "" if len(node.text) == 1 else "\\n"
        quoted = [f'"{line}{end}"' for line in node.text]
        lists = [[f'"{c}"({self.expr(e)})' for c, e in part] for part in (node.outputs, node.inputs)]
        operands = [", ".join(part) for part in lists]
        if len(quoted) == 1:
            text = f'{pad}asm volatile({quoted[0]} : {operands[0]} : {operands[1]} : "memory");'
            if len(text) <= WIDTH:
                return [re.sub(r" +", " ", text) if not pad else pad + re.sub(r" +", " ", text.lstrip())]
        inner = pad + INDENT
        lines = [f"{pad}asm volatile("]
        lines += [line for q in quoted for line in _split_literal(q, depth + 1)]
        for part in lists:
            lines += _wrapped(f"{inner}: ", part, "", depth + 1, trailing=False)
        return [*lines, f'{inner}: "memory");']

    def expr(self, e: Expr, level: int = 0) -> str:
        text, own = self.form(e)
        return f"({text})" if own < level else text

    def form(self, e: Expr) -> tuple[str, int]:
        """The text of an expression and its precedence."""
        match e:
            case Name():
                return self.name(e), _PRIMARY
            case IntLit(value, suffix):
                return f"{value}{suffix}", _PRIMARY if value >= 0 else _UNARY
            case FloatLit(value, double):
                return _float(value, double), _PRIMARY if value >= 0 else _UNARY
            case Binary(op, left, right):
                level = _LEVEL[op]
                inner = _UNARY if op in _BITWISE else level
                return f"{self.expr(left, inner)} {op} {self.expr(right, max(inner, level + 1))}", level
            case Unary(op, arg):
                operand = self.expr(arg, _UNARY)
                return f"{op}({operand})" if operand.startswith(op) else f"{op}{operand}", _UNARY
            case Ternary(cond, then, orelse):
                parts = (self.expr(cond, _TERNARY + 1), self.expr(then, _TERNARY + 1), self.expr(orelse, _TERNARY))
                return "{} ? {} : {}".format(*parts), _TERNARY
            case Apply(fn, args, template):
                return f"{fn}{_template(template)}({', '.join(self.expr(a) for a in args)})", _PRIMARY
            case Subscript(base, index):
                return f"{self.expr(base, _PRIMARY)}[{self.expr(index)}]", _PRIMARY
            case Convert(type_, arg, how):
                return f"{how}<{type_}>({self.expr(arg)})", _PRIMARY
            case Spelled(pattern, args):
                return pattern.format(*(self.expr(a) for a in args)), _PRIMARY


def _template(arguments: tuple[str, ...]) -> str:
    return f"<{', '.join(arguments)}>" if arguments else ""


def _float(value: float, double: bool) -> str:
    if math.isinf(value) or math.isnan(value):
        kind = "nan" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
        bits = {"nan": ("0x7fffffff", "0x7fffffffffffffffLL"), "infinity": ("0x7f800000", "0x7ff0000000000000LL")}
        single, wide = bits[kind.lstrip("-")]
        sign = "-" if kind.startswith("-") else ""
        return f"{sign}__longlong_as_double({wide})" if double else f"{sign}__int_as_float({single})"
    return repr(float(value)) + ("" if double else "f")


def _folded(line: str, depth: int) -> list[str]:
    """A line, or several if it is too long."""
    lines: list[str] = []
    while len(line) > WIDTH and (cut := _break(line, len(INDENT) * (depth + 2))) > 0:
        lines.append(line[:cut])
        line = INDENT * (depth + 1) + line[cut + 1 :]
    return [*lines, line]


def _break(line: str, first: int) -> int:
    """The last space of least bracket depth between `first` and the width, or 0."""
    depth, best, best_depth = 0, 0, len(line)
    for i, character in enumerate(line[:WIDTH]):
        depth += (character in "([{") - (character in ")]}")
        if character == " " and i >= first and depth <= best_depth:
            best, best_depth = i, depth
    return best


def _wrapped(head: str, items: list[str], tail: str, depth: int, trailing: bool = True) -> list[str]:
    """`head items tail` on one line, or broken between items."""
    line = head + ", ".join(items) + tail
    if len(line) <= WIDTH or len(items) < 2:
        return [line.rstrip()]
    pad = INDENT * (depth + 1)
    lines = [head.rstrip()] if trailing else []
    current = pad if trailing else head
    for i, item in enumerate(items):
        piece = item + (", " if i + 1 < len(items) else "")
        if len(current + piece.rstrip()) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = pad
        current += piece
    lines.append(current.rstrip())
    if not trailing:
        return [*lines[:-1], lines[-1] + tail]
    return [*(short for line in lines for short in _folded(line, depth + 1)), INDENT * depth + tail]


def _split_literal(quoted: str, depth: int) -> list[str]:
    """A string literal broken into adjacent literals that fit the line."""
    pad, text = INDENT * depth, quoted[1:-1]
    lines: list[str] = []
    while len(text) > WIDTH - len(pad) - 2:
        cut = text.rfind(" ", 0, WIDTH - len(pad) - 2) + 1
        lines.append(f'{pad}"{text[:cut]}"')
        text = text[cut:]
    return [*lines, f'{pad}"{text}"']
