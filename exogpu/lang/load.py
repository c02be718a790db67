"""Kernels of a file: the file is imported as a fresh module, and whatever goes wrong becomes a diagnostic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import CodeType, ModuleType

from exogpu.diagnostics import BadInput, Diagnostic
from exogpu.ir.proc import Proc
from exogpu.ir.skeleton.root import Skeleton
from exogpu.lang.text import quiet
from exogpu.source import Span


def load(path: str | Path) -> dict[str, Proc]:
    """The procedures bound in a Python file, by variable name in order of definition; raises `BadInput`."""
    return {name: bound for name, bound in definitions(path).items() if isinstance(bound, Proc)}


def definitions(path: str | Path) -> dict[str, Proc | Skeleton]:
    """The procedures and skeletons bound in a Python file, as `load` gives them, called as the variables are: what was
    derived, or made by a function, has the name of what it was made of. One that several variables hold is called as
    it was, or as the first of them.

    Annotations are not evaluated, as with `from __future__ import annotations`.
    """
    file = str(path)
    code = _compile(file)
    module = ModuleType(f"exogpu_file_{Path(file).stem}")
    module.__file__ = file
    try:
        with _importing(module, str(Path(file).resolve().parent)):
            exec(code, vars(module))
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput([_raised(file, error)]) from None
    bound = [(name, value) for name, value in vars(module).items() if isinstance(value, Proc | Skeleton)]
    called = {id(value): name for name, value in reversed(bound)}
    called |= {id(value): name for name, value in bound if value.name == name}
    once = ((name, value) for name, value in bound if called[id(value)] == name)
    return {name: value if value.name == name else replace(value, name=name) for name, value in once}


def _compile(file: str) -> CodeType:
    try:
        source = Path(file).read_bytes()
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise BadInput([Diagnostic("input.file", f"cannot read `{file}`: {reason}", Span(file, 1, 0, 1, 0))]) from None
    try:
        with quiet():
            code: CodeType = compile(source, file, "exec", flags=annotations.compiler_flag, dont_inherit=True)
        return code
    except SyntaxError as error:
        raise BadInput([_syntax(file, error)]) from None
    except (RecursionError, MemoryError):
        text = "an expression of this file is nested too deeply for Python"
        raise BadInput([Diagnostic("lang.syntax", text, Span(file, 1, 0, 1, 0))]) from None
    except ValueError:  # null bytes
        text = f"`{file}` is not a Python source file"
        raise BadInput([Diagnostic("input.file", text, Span(file, 1, 0, 1, 0))]) from None


def _syntax(file: str, error: SyntaxError) -> Diagnostic:
    line, col = error.lineno or 1, max((error.offset or 1) - 1, 0)
    end_line, end_col = error.end_lineno or line, max((error.end_offset or 0) - 1, col + 1)
    span = Span(file, line, col, end_line, end_col)
    return Diagnostic("lang.syntax", f"this is not Python: {error.msg}", span)


def _raised(file: str, error: BaseException) -> Diagnostic:
    """What a file raised while it was imported, at the innermost of its own lines."""
    import traceback  # only now: most files can be imported

    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    span = Span(file, 1, 0, 1, 0)
    if isinstance(error, SyntaxError) and error.filename is not None and error.lineno is not None:
        span = _syntax(error.filename, error).span
    elif frames:
        last = frames[-1]
        line, col = last.lineno or 1, last.colno or 0
        span = Span(file, line, col, last.end_lineno or line, last.end_colno or col)
    text = f"importing the file raised {type(error).__name__}" + (f": {error}" if str(error) else "")
    return Diagnostic("input.import", text, span)


@contextmanager
def _importing(module: ModuleType, folder: str) -> Iterator[None]:
    """As Python runs a script: its folder is searched first, and it can find itself among the modules."""
    sys.path.insert(0, folder)
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        sys.path.remove(folder)
        sys.modules.pop(module.__name__, None)
