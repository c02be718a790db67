"""What a function is given, against its annotations: a word that an operator does not know must not skip its proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from exogpu.diagnostics import InternalError
from exogpu.ir.integers import as_integer
from exogpu.ir.operands import MEMORY_NAMES
from exogpu.schedule.errors import Refused
from exogpu.schedule.origin import caller

P = ParamSpec("P")
R = TypeVar("R")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses arguments that do not fit its annotations."""

    @wraps(function)
    def apply(*args: P.args, **keywords: P.kwargs) -> R:
        given, named = [*map(plain, args)], {name: plain(value) for name, value in keywords.items()}
        try:
            check_arguments(function, *given, **named)
            return function(*given, **named)
        except Refused as refused:
            refused.asked_at(caller())
            raise

    return apply


def called_with(apply: Callable[P, R], rewrite: Callable[..., object], first: type) -> Callable[P, R]:
    """`apply`, which shows the parameters of `rewrite` in `help`, but takes and returns a `first`."""
    takes = signature(rewrite)
    _, *rest = takes.parameters.values()
    at = Parameter(first.__name__.lower(), Parameter.POSITIONAL_ONLY, annotation=first.__name__)
    shown = takes.replace(parameters=[at, *rest], return_annotation=first.__name__)
    vars(apply)["__signature__"] = shown
    return apply


def plain(value: Any) -> Any:
    """An argument with Python's integers for all that stands for an integer in it, as NumPy's do."""
    match value:
        case tuple() | list():
            return tuple(map(plain, value))
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case _ if _settings(type(value)):
            return replace(value, **{name: plain(getattr(value, name)) for name in _settings(type(value))})
    number = as_integer(value)
    return value if number is None else number


def check_arguments(function: Callable[P, object], *args: P.args, **keywords: P.kwargs) -> None:
    """Refuses arguments that do not fit the parameters of a function and their annotations; its first may have none."""
    takes, hints = _declared(function)
    try:
        bound = takes.bind(*args, **keywords)
    except TypeError as error:
        text = f"`{function.__name__}` cannot be called so: {error}"
        raise Refused("schedule.argument", text, help=f"write `{_usage(function.__name__, takes)}`") from None
    for name, value, hint in _given(takes, hints, bound.arguments):
        if not fits(value, hint):
            raise Refused(
                "schedule.argument",
                f"`{name}` of `{function.__name__}` is {described(hint)}, not {_shown(value)}",
                help=_help(value, hint),
            )


def _usage(name: str, takes: Signature) -> str:
    """How a function is called; what may be left out is shown with its name."""
    return f"{name}({', '.join(_usual(p) for p in takes.parameters.values() if p.name != 'self')})"


def _usual(parameter: Parameter) -> str:
    if parameter.name == "at":  # an operator rewrites work, and is called with a schedule
        return "schedule"
    match parameter.kind:
        case Parameter.VAR_POSITIONAL:
            return f"*{parameter.name}"
        case Parameter.VAR_KEYWORD:
            return f"**{parameter.name}"
        case _:
            return parameter.name if parameter.default is Parameter.empty else f"{parameter.name}=..."


@cache
def _declared(function: Callable[..., object]) -> tuple[Signature, dict[str, Any]]:
    return signature(function), get_type_hints(function, include_extras=True)


def _given(takes: Signature, hints: Mapping[str, Any], bound: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each argument, by name, with its annotation."""
    for name, value in bound.items():
        if name not in hints:  # `self`
            continue
        hint = hints[name]
        match takes.parameters[name].kind:
            case Parameter.VAR_POSITIONAL:
                yield from ((name, each, hint) for each in value)
            case Parameter.VAR_KEYWORD:
                yield from ((word, each, hint) for word, each in value.items())
            case _:
                yield name, value, hint


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type. A list does for a tuple, but a truth value for no number, and text is no sequence
    of letters."""
    inner = get_args(hint)
    match get_origin(hint):
        case None if isinstance(hint, type):
            number = hint is int and isinstance(value, bool)
            return isinstance(value, hint) and not number and _settings_fit(value)
        case origin if origin is Annotated:
            return fits(value, inner[0])
        case origin if origin is Literal:
            return isinstance(value, str) and value in inner
        case origin if origin in (Union, UnionType):
            return any(fits(value, each) for each in inner)
        case origin if origin is tuple and inner[-1] is not Ellipsis:
            if not isinstance(value, tuple | list) or len(value) != len(inner):
                return False
            return all(map(fits, value, inner))
        case origin if origin in (tuple, Sequence):
            return isinstance(value, Sequence) and not isinstance(value, str) and all(fits(e, inner[0]) for e in value)
        case origin if origin is Mapping:
            return isinstance(value, Mapping) and all(fits(k, inner[0]) and fits(e, inner[1]) for k, e in value.items())
    raise InternalError(f"arguments are not checked against {hint}")


_PLAIN = {"int", "bool", "str", "None"}


def _settings(kind: Any) -> dict[str, Any]:
    """The fields of a class like `Threads` or `Smem`, which are all numbers, truth values, texts or None. Others have
    none: syntax is not searched."""
    declared = fields(kind) if is_dataclass(kind) else ()
    plain = all({*str(field.type).split(" | ")} <= _PLAIN for field in declared)
    return get_type_hints(kind) if plain and declared else {}


def _settings_fit(value: Any) -> bool:
    return all(fits(getattr(value, name), hint) for name, hint in _settings(type(value)).items())


_WORDS: dict[Any, str] = {
    int: "an integer",
    bool: "True or False",
    str: "text",
    NoneType: "None",
    **{memory: f"{name}()" for memory, name in MEMORY_NAMES.items()},
}


def described(hint: Any) -> str:
    """A type in words."""
    inner = get_args(hint)
    match get_origin(hint):
        case None:
            return _WORDS.get(hint) or str(hint.__name__)
        case origin if origin is Annotated:
            return described(inner[0])
        case origin if origin is Literal:
            return _either([f'"{word}"' for word in inner])
        case origin if origin in (Union, UnionType):
            return _either([described(each) for each in inner])
        case origin if origin is Mapping:
            return f"a mapping from {described(inner[0])} to {described(inner[1])}"
        case origin if origin is tuple and inner[-1] is not Ellipsis:
            return f"({', '.join(map(described, inner))})"
    return f"a sequence, in which each is {described(inner[0])}"


def _either(words: list[str]) -> str:
    return " or ".join((", ".join(words[:-1]), words[-1]) if words[1:] else words)


def _shown(value: Any) -> str:
    match value:
        case str():
            return f'"{value}"'
        case None | bool() | int() | float() | tuple() | list() | dict():
            return repr(value)
        case type():
            return f"the class {MEMORY_NAMES.get(value, value.__name__)}"
    return repr(value) if _settings(type(value)) else f"a {type(value).__name__}"


def _help(value: object, hint: Any) -> str | None:
    """The help that comes with an annotation; for a class, that one of it is meant."""
    if isinstance(value, type):
        return f"write parentheses: {MEMORY_NAMES.get(value, value.__name__)}()"
    return get_args(hint)[1] if get_origin(hint) is Annotated else None
