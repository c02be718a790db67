"""That two procedures take the same arguments, so that one can stand for the other."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.diagnostics import Diagnostic, Label
from exogpu.equiv.conditions import Facts, Logic
from exogpu.ir.index import Cmp
from exogpu.ir.proc import Arg, Proc, ScalarArg, TensorArg

CODE = "equiv.arguments"


def mismatches(a: Proc, b: Proc, logic: Logic, facts: Facts) -> Iterator[Diagnostic]:
    """What keeps a call of one from being a call of the other: arguments go by their names."""
    ours, theirs = ({arg.name: arg for arg in proc.args} for proc in (a, b))
    for name in dict.fromkeys((*ours, *theirs)):
        if name not in theirs:
            yield Diagnostic(CODE, f"`{b.name}` has no argument `{name}`", b.span, labels=_there(ours[name], a))
        elif name not in ours:
            yield Diagnostic(CODE, f"`{a.name}` has no argument `{name}`", a.span, labels=_there(theirs[name], b))
        elif (what := _difference(ours[name], theirs[name], logic, facts)) is not None:
            message = f"the {what} of `{name}` is not the same in `{a.name}` and `{b.name}`"
            yield Diagnostic(CODE, message, theirs[name].span, labels=_there(ours[name], a))


def _there(arg: Arg, proc: Proc) -> tuple[Label, ...]:
    return (Label(arg.span, f"the argument of `{proc.name}`"),)


def _difference(a: Arg, b: Arg, logic: Logic, facts: Facts) -> str | None:
    match a, b:
        case (ScalarArg(dtype=x), ScalarArg(dtype=y)) | (TensorArg(dtype=x), TensorArg(dtype=y)) if x is not y:
            return "type"
        case TensorArg(), TensorArg():
            same = len(a.shape) == len(b.shape) and all(
                logic.implied(facts, Cmp("==", m, n)) for m, n in zip(a.shape, b.shape, strict=True)
            )
            return None if same else "shape"
        case _:
            return None if type(a) is type(b) else "kind"
