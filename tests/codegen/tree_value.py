"""Values of CUDA tree expressions over integers, as a C++ compiler would compute them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from exogpu.codegen.cuda.tree import Apply, Binary, Declare, Expr, IntLit, Name, Node, Ternary, Unary


def truncated(a: int, b: int) -> int:
    """C++ integer division."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": truncated,
    "%": lambda a, b: a - truncated(a, b) * b,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "^": operator.xor,
    "|": operator.or_,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
FUNCTIONS: dict[str, Callable[..., int]] = {
    "min": min,
    "max": max,
    "floor_div": lambda a, b: a // b,
    "floor_mod": lambda a, b: a % b,
}


def value(e: Expr, env: Mapping[str, int]) -> int:
    """The value of an expression; booleans are 0 and 1."""
    match e:
        case IntLit(number):
            return number
        case Name("true" | "false" as text):
            return int(text == "true")
        case Name(text):
            return env[text]
        case Binary("&&", left, right):
            return int(bool(value(left, env)) and bool(value(right, env)))
        case Binary("||", left, right):
            return int(bool(value(left, env)) or bool(value(right, env)))
        case Binary(op, left, right):
            return int(OPERATORS[op](value(left, env), value(right, env)))
        case Unary("-", arg):
            return -value(arg, env)
        case Unary("!", arg):
            return int(not value(arg, env))
        case Ternary(cond, then, orelse):
            return value(then if value(cond, env) else orelse, env)
        case Apply(fn, args) if fn in FUNCTIONS:
            return int(FUNCTIONS[fn](*(value(a, env) for a in args)))
        case _:
            raise AssertionError(f"no integer value: {e}")


def run(declarations: list[Node], env: Mapping[str, int]) -> dict[str, int]:
    """The environment after declarations of constants."""
    known = dict(env)
    for node in declarations:
        assert isinstance(node, Declare) and node.init is not None
        known[node.name.text] = value(node.init, known)
    return known
