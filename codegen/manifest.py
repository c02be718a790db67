"""A kernel's launch data as plain values: what the runtime needs, without the compiler or the prover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exogpu.ir.index import Bin, Bool, BoolOp, Cmp, Cond, Index, Int, Not, Var

SCHEMA = 1

Json = Any
"""A JSON value."""


@dataclass(frozen=True, slots=True)
class SizeArgument:
    """A size argument."""

    name: str


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A data scalar argument; `dtype` is the language's name."""

    name: str
    dtype: str


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """A tensor argument. `alignment`: its address and row pitch are multiples of so many bytes."""

    name: str
    dtype: str
    shape: tuple[Index, ...]
    written: bool
    alignment: int


Argument = SizeArgument | ScalarArgument | TensorArgument


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the compiled kernel: `kind` is map, pointer, pitch, size or scalar, `name` the argument's. A map
    has a box in elements, outermost dimension first, and a swizzle in bytes."""

    kind: str
    name: str
    box: tuple[int, ...] = ()
    swizzle: int = 0


@dataclass(frozen=True, slots=True)
class Precondition:
    """A `require` of the kernel, and its text."""

    cond: Cond
    text: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a launch needs. `entry` is the compiled function's name, `sha256` the hash of the kernel's source.
    `tasks` are the bounds of the task loops; one CTA (cluster of `cluster` CTAs) each, or a persistent grid."""

    kernel: str
    entry: str
    tool: str
    sha256: str
    arguments: tuple[Argument, ...]
    requires: tuple[Precondition, ...]
    parameters: tuple[Parameter, ...]
    threads: int
    shared_bytes: int
    tasks: tuple[tuple[Index, Index], ...]
    persistent: bool
    cluster: int
    resources: dict[str, int]


def index_to_json(e: Index) -> Json:
    """An index expression: an integer, a name, or [operator, left, right]."""
    match e:
        case Int(value):
            return value
        case Var(name):
            return name
        case Bin(op, left, right):
            return [op, index_to_json(left), index_to_json(right)]


def index_from_json(data: Json) -> Index:
    """The inverse of `index_to_json`; ValueError for anything else."""
    match data:
        case bool():
            raise _damaged(f"{data!r} is not an index expression")
        case int():
            return Int(data)
        case str():
            return Var(data)
        case ["+" | "-" | "*" | "//" | "%" | "ceildiv" | "min" | "max" as op, left, right]:
            return Bin(op, index_from_json(left), index_from_json(right))
        case _:
            raise _damaged(f"{data!r} is not an index expression")


def cond_to_json(c: Cond) -> Json:
    """A condition: a boolean, or [operator, operand, ...]."""
    match c:
        case Bool(value):
            return value
        case Not(arg):
            return ["not", cond_to_json(arg)]
        case BoolOp(op, args):
            return [op, *(cond_to_json(a) for a in args)]
        case Cmp(op, left, right):
            return [op, index_to_json(left), index_to_json(right)]


def cond_from_json(data: Json) -> Cond:
    """The inverse of `cond_to_json`; ValueError for anything else."""
    match data:
        case bool():
            return Bool(data)
        case ["not", arg]:
            return Not(cond_from_json(arg))
        case ["and" | "or" as op, *args] if args:
            return BoolOp(op, tuple(cond_from_json(a) for a in args))
        case ["<" | "<=" | ">" | ">=" | "==" | "!=" as op, left, right]:
            return Cmp(op, index_from_json(left), index_from_json(right))
        case _:
            raise _damaged(f"{data!r} is not a condition")


def _argument_to_json(arg: Argument) -> Json:
    match arg:
        case SizeArgument(name):
            return {"kind": "size", "name": name}
        case ScalarArgument(name, dtype):
            return {"kind": "scalar", "name": name, "dtype": dtype}
        case TensorArgument():
            shape = [index_to_json(e) for e in arg.shape]
            return {
                "kind": "tensor",
                "name": arg.name,
                "dtype": arg.dtype,
                "shape": shape,
                "written": arg.written,
                "alignment": arg.alignment,
            }


def _argument_from_json(data: Json) -> Argument:
    match data:
        case {"kind": "size", "name": str(name)}:
            return SizeArgument(name)
        case {"kind": "scalar", "name": str(name), "dtype": str(dtype)}:
            return ScalarArgument(name, dtype)
        case {
            "kind": "tensor",
            "name": str(name),
            "dtype": str(dtype),
            "shape": list(shape),
            "written": bool(written),
            "alignment": int(alignment),
        }:
            return TensorArgument(name, dtype, tuple(index_from_json(e) for e in shape), written, alignment)
        case _:
            raise _damaged(f"{data!r} is not an argument")


def to_json(manifest: Manifest) -> Json:
    """The manifest as a JSON value."""
    return {
        "schema": SCHEMA,
        "kernel": manifest.kernel,
        "entry": manifest.entry,
        "tool": manifest.tool,
        "sha256": manifest.sha256,
        "arguments": [_argument_to_json(a) for a in manifest.arguments],
        "requires": [{"cond": cond_to_json(r.cond), "text": r.text} for r in manifest.requires],
        "parameters": [
            {"kind": p.kind, "name": p.name, **({"box": list(p.box), "swizzle": p.swizzle} if p.box else {})}
            for p in manifest.parameters
        ],
        "launch": {
            "threads": manifest.threads,
            "shared_bytes": manifest.shared_bytes,
            "tasks": [[index_to_json(lo), index_to_json(hi)] for lo, hi in manifest.tasks],
            "persistent": manifest.persistent,
            "cluster": manifest.cluster,
        },
        "resources": manifest.resources,
    }


def from_json(data: Json) -> Manifest:
    """The inverse of `to_json`; ValueError if the value is not a manifest of this schema."""
    match data:
        case {"schema": int(schema)} if schema != SCHEMA:
            raise ValueError(f"the manifest has schema {schema}, this version reads {SCHEMA}")
        case {
            "kernel": str(kernel),
            "entry": str(entry),
            "tool": str(tool),
            "sha256": str(sha256),
            "arguments": list(arguments),
            "requires": list(requires),
            "parameters": list(parameters),
            "launch": {
                "threads": int(threads),
                "shared_bytes": int(shared_bytes),
                "tasks": list(tasks),
                "persistent": bool(persistent),
                "cluster": int(cluster),
            },
            "resources": dict(resources),
        }:
            return Manifest(
                kernel,
                entry,
                tool,
                sha256,
                tuple(_argument_from_json(a) for a in arguments),
                tuple(Precondition(cond_from_json(r["cond"]), r["text"]) for r in requires),
                tuple(
                    Parameter(p["kind"], p["name"], tuple(p.get("box", ())), p.get("swizzle", 0)) for p in parameters
                ),
                threads,
                shared_bytes,
                tuple((index_from_json(lo), index_from_json(hi)) for lo, hi in tasks),
                persistent,
                cluster,
                {str(k): int(v) for k, v in resources.items()},
            )
        case _:
            raise _damaged("fields are missing")


def _damaged(why: str) -> ValueError:
    return ValueError(f"the manifest is damaged: {why}")
