"""From what the user typed to kernels and skeletons: files, dotted modules and names of shipped kernels."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import exogpu.kernels
from exogpu.cli.defining import defines
from exogpu.cli.errors import UsageError
from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.proc import UNSCHEDULED, Proc
from exogpu.ir.skeleton.root import Skeleton
from exogpu.source import Span

Kernel = Proc | Skeleton
"""What can be verified."""
K = TypeVar("K", Proc, Kernel)


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and one kernel of it or all."""

    file: str
    name: str | None = None


def shipped() -> tuple[Target, ...]:
    """The files of the shipped kernels, sorted."""
    folder = Path(exogpu.kernels.__path__[0])
    return tuple(Target(str(file)) for file in sorted(folder.glob("*.py")) if file.stem != "__init__")


def resolve(text: str) -> Target:
    """What PATH[:NAME] stands for; BadInput if there is no such file, module or shipped kernel."""
    path, _, name = text.partition(":")
    file = _find(path)
    if file is None:
        known = ", ".join(Path(t.file).stem for t in shipped())
        raise BadInput([_no_file(path, f"give a path to a Python file, a module, or a shipped kernel: {known}")])
    return Target(file, name or None)


def chosen(texts: Iterable[str], *, every: bool) -> tuple[list[Target], list[Diagnostic]]:
    """The targets named (a folder stands for its files), or all shipped kernels, and a diagnostic for each name that
    stands for nothing."""
    targets: list[Target] = list(shipped()) if every else []
    problems: list[Diagnostic] = []
    for text in texts:
        try:
            targets += _folder(Path(text)) if Path(text).is_dir() else [resolve(text)]
        except BadInput as error:
            problems += error.diagnostics
    return targets, problems


def _folder(folder: Path) -> list[Target]:
    """The Python files of a folder in which a kernel or a skeleton is defined; BadInput if there is none, since nothing
    is shown."""
    files = [f for f in sorted(folder.glob("*.py")) if defines(f.read_bytes())]
    if not files:
        text, fix = f"the folder `{folder}` holds no kernel", "name a folder with Python files that define kernels"
        raise BadInput((Diagnostic("input.file", text, _whole(str(folder)), help=fix),))
    return [Target(str(file)) for file in files]


def load_kernels(targets: Iterable[Target]) -> tuple[list[Kernel], list[Diagnostic]]:
    """The kernels and skeletons of all targets, and a diagnostic for each input that is not acceptable."""
    return _gathered(targets, load_target)


def load_procs(targets: Iterable[Target]) -> tuple[list[Proc], list[Diagnostic]]:
    """The procedures of all targets, and a diagnostic for each input that is not acceptable."""
    return _gathered(targets, procedures)


def _gathered(targets: Iterable[Target], read: Callable[[Target], list[K]]) -> tuple[list[K], list[Diagnostic]]:
    found: list[K] = []
    problems: list[Diagnostic] = []
    for target in targets:
        try:
            found += read(target)
        except BadInput as error:
            problems += error.diagnostics
    return found, problems


def procedures(target: Target) -> list[Proc]:
    """The procedures of one target; BadInput if it has none, or names a skeleton: that has nothing to execute."""
    found = load_target(target)
    procs = [kernel for kernel in found if isinstance(kernel, Proc)]
    if procs:
        return procs
    message = (
        f"`{found[0].name}` is a sync skeleton, which `verify` and `mutate` take; `slim`, `sync`, `compile`, `equiv` "
        "and `bench` need a sequential program, and a skeleton has none"
    )
    raise BadInput([Diagnostic("input.skeleton", message, found[0].span, help="name a function with @proc")])


def one_proc(text: str) -> Proc:
    """The procedure that PATH[:NAME] stands for; BadInput if there is none, UsageError if there are several."""
    procs = procedures(resolve(text))
    if len(procs) > 1:
        raise UsageError(f"{text} has several kernels; give PATH:NAME with one of {', '.join(p.name for p in procs)}")
    return procs[0]


def last_first(target: Target) -> list[Proc]:
    """The same, the last of the file first: for what may edit the file."""
    return sorted(procedures(target), key=lambda p: p.span.line, reverse=True)


def load_target(target: Target) -> list[Kernel]:
    """The kernels and skeletons of one target, in the order of the file; BadInput if it has none or not the one named.
    Algorithms count only in a file that has nothing else: they are what kernels are derived from."""
    from exogpu.lang.load import definitions

    found = definitions(target.file)
    if target.name is None:
        if not found:
            raise BadInput(
                [_no_kernel(target.file, "the file has no kernel", "mark a function with @proc or @skeleton")]
            )
        kernels = [k for k in found.values() if not (isinstance(k, Proc) and k.block == UNSCHEDULED)]
        return kernels or list(found.values())
    if target.name not in found:
        known = ", ".join(found) or "none"
        raise BadInput(
            [_no_kernel(target.file, f"there is no kernel `{target.name}`", f"kernels of the file: {known}")]
        )
    return [found[target.name]]


def _find(path: str) -> str | None:
    if path.endswith(".py") or "/" in path:
        return path if Path(path).is_file() else None
    for target in shipped():
        if Path(target.file).stem == path:
            return target.file
    return _module_file(path) if all(part.isidentifier() for part in path.split(".")) else None


def _module_file(name: str) -> str | None:
    """The source file of a module: of one in the folder of the call, which nothing else hides and the installed command
    does not import from, or else of an importable one, of which only the parent packages are imported."""
    here = Path(*name.split(".")).with_suffix(".py")
    if here.is_file():
        return str(here)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec and spec.origin and spec.origin.endswith(".py") else None


def _no_file(path: str, fix: str) -> Diagnostic:
    return Diagnostic("input.file", f"there is no file, module or shipped kernel `{path}`", _whole(path), help=fix)


def _no_kernel(file: str, message: str, fix: str) -> Diagnostic:
    return Diagnostic("input.name", message, _whole(file), help=fix)


def _whole(file: str) -> Span:
    return Span(file, 0, 0, 0, 0)
