"""Entry point: parses the arguments, runs one command, and turns every outcome into an exit status."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Sequence

from exogpu.cli.arguments import build_parser
from exogpu.cli.errors import UsageError
from exogpu.report.model import Exit

INTERNAL = """\
exogpu: internal error. This is a fault of exogpu, not of your program. Please report it together with the text above
and the file that you gave."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status."""
    arguments = build_parser().parse_args(argv)
    try:
        status = _command(arguments.command)(arguments)
        sys.stdout.flush()
        return int(status)
    except UsageError as error:
        print(f"exogpu {arguments.command}: error: {error}", file=sys.stderr)
        return int(Exit.BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except KeyboardInterrupt:
        return 128 + 2
    except Exception:
        import traceback  # only now: it is not needed to report anything else

        traceback.print_exc()
        print(INTERNAL, file=sys.stderr)
        return int(Exit.INTERNAL)


def _command(name: str) -> Callable[[argparse.Namespace], Exit]:
    """The function that carries out a command; its module is imported only now."""
    execute: Callable[[argparse.Namespace], Exit] = importlib.import_module(f"exogpu.cli.{name}_command").execute
    return execute
