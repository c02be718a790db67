"""The grammar of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from exogpu import __version__

FORMATS = ("text", "short", "json", "sarif", "junit", "github")

VERDICTS = {
    0: "every kernel is proved",
    1: "a kernel is refuted, with a counterexample that was replayed",
    3: "nothing is refuted, but something is unknown, unsupported or vacuous",
}
STATUSES: dict[str, dict[int, str]] = {
    "verify": VERDICTS,
    "compile": VERDICTS | {0: "the kernel is proved, and the bundle written"},
    "run": {0: "the results agree", 1: "the results differ"},
    "equiv": {
        0: "they compute the same, for all sizes that both allow",
        1: "they do not: sizes and an element that differs were found",
        3: "it is not known, or no sizes are allowed by both",
    },
    "slim": {0: "nothing can be removed or weakened", 1: "something can"},
    "sync": {
        0: "every kernel is proved as it stands, or as it was written",
        1: "with the printed changes every kernel is proved",
        3: "for some kernel nothing was found that is proved",
    },
    "mutate": {0: "done", 3: "of some edit it is not known whether it is correct"},
    "bench": {0: "every kernel is proved", 3: "some kernel is not"},
    "list": {0: "done"},
    "explain": {0: "done"},
}
"""What the exit status of a command says, besides what it says of all."""
COMMON = {2: "bad input or bad usage", 4: "internal error"}

PATH = "PATH is a Python file, a dotted module, or the name of a shipped kernel; PATH:NAME picks one kernel of a file."
PATHS = {"verify": f"{PATH}\nA folder stands for the Python files in it that define kernels or skeletons."}
"""What a command takes, where it is not one kernel or several."""
WITHOUT = ("run", "list", "explain")
"""Commands that take no kernel."""


AddParser = Callable[..., argparse.ArgumentParser]


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; the parsed namespace has the command's name in `command`."""
    parser = argparse.ArgumentParser(
        prog="exogpu",
        description="Proves Hopper GPU kernels correct, for all problem sizes, before it compiles them.",
        epilog=_statuses(VERDICTS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"exogpu {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND").add_parser
    _add_verify(commands)
    _add_compile(commands)
    _add_run(commands)
    _add_equiv(commands)
    _add_table(_add(commands, "mutate", "edit every synchronisation statement of a kernel or skeleton, and verify it"))
    _add_table(_add(commands, "slim", "find synchronisation that a kernel can do without, proved for all sizes"))
    sync = _add(commands, "sync", "place barriers, waits and fences so that a kernel is proved, or repair them")
    _add_table(sync)
    sync.add_argument("--write", action="store_true", help="make the changes in the file")
    _add_bench(commands)
    _add(commands, "list", "list the shipped kernels with their signatures")
    explain = _add(commands, "explain", "explain a diagnostic code or an axiom, for example race.war or L1")
    explain.add_argument("code", metavar="CODE", nargs="?", help="the code; without it, everything is listed")
    return parser


def _add(commands: AddParser, name: str, text: str, *, of: str = "") -> argparse.ArgumentParser:
    """The parser of a command, or of a part of the command `of`."""
    command = of or name
    paths = "" if command in WITHOUT else PATHS.get(command, PATH) + "\n\n"
    return commands(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=paths + _statuses(STATUSES[command]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _statuses(meanings: dict[int, str]) -> str:
    lines = (f"  {status}  {text}" for status, text in sorted((meanings | COMMON).items()))
    return "\n".join(("exit status:", *lines))


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour the text report")


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="PATH[:NAME]", help="the kernel")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the table")
    parser.add_argument("--deterministic", action="store_true", help="leave out seconds")
    _add_output(parser)
    _add_axioms(parser)
    _add_jobs(parser)


def _add_axioms(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strict", action="store_true", help="use no memory-model axiom that a kernel can be written to do without"
    )
    parser.add_argument(
        "--without", metavar="NAMES", action="append", default=[], help="withdraw axioms, for example L1,F6"
    )
    parser.add_argument(
        "--axiom", metavar="NAME", action="append", default=[], help="accept an axiom, for example warpgroup-wait (L12)"
    )


def _add_proving(parser: argparse.ArgumentParser) -> None:
    _add_jobs(parser)
    _add_cache(parser)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="verify on the workers of this Dask cluster")


def _add_cache(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-cache", action="store_true", help="decide everything again, and keep nothing")


def _add_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs", type=_positive, metavar="N", help="processes to use (default: as many as there are cores)"
    )


def _positive_or_none(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a positive whole number")
    return int(text)


def _add_verify(commands: AddParser) -> None:
    parser = _add(commands, "verify", "prove kernels and sync skeletons, or show how they fail")
    parser.add_argument("targets", metavar="PATH[:NAME]", nargs="*", help="what to verify")
    parser.add_argument("--all", action="store_true", help="verify every shipped kernel")
    parser.add_argument("--format", choices=FORMATS, default="text", help="form of the report (default: text)")
    _add_output(parser)
    _add_axioms(parser)
    parser.add_argument(
        "--chains", action="store_true", help="print every obligation with its proof's chains of events"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="print what was asked of the solver for every obligation, and each chain in words",
    )
    parser.add_argument("--deterministic", action="store_true", help="leave out seconds, versions and absolute paths")
    parser.add_argument("--smt-dir", metavar="DIR", help="write every question put to the solver as an SMT-LIB file")
    _add_proving(parser)
    parser.add_argument("--allow-unknown", action="store_true", help="exit 0 although something is unknown")


def _add_bench(commands: AddParser) -> None:
    bench = _add(commands, "bench", "measure what proofs cost")
    kinds = bench.add_subparsers(dest="kind", required=True, metavar="KIND").add_parser
    parser = _add(
        kinds, "verify", "time and memory of proofs, and the time of the explicit engine beside them", of="bench"
    )
    parser.add_argument("targets", metavar="PATH[:NAME]", nargs="*", help="what to measure")
    parser.add_argument("--all", action="store_true", help="measure every shipped kernel")
    parser.add_argument("--scaling", action="store_true", help="measure the flagship in other shapes")
    parser.add_argument(
        "--limit",
        type=_positive_or_none,
        default=60,
        metavar="SECONDS",
        help="CPU time of the explicit engine for one size, 0 to leave it out (default: 60)",
    )
    _add_jobs(parser)


def _add_compile(commands: AddParser) -> None:
    parser = _add(commands, "compile", "prove a kernel and compile it to a bundle")
    parser.add_argument("target", metavar="PATH[:NAME]", help="the kernel")
    parser.add_argument("-o", "--output", metavar="OUT", help="the bundle to write (default: NAME.exogpu)")
    _add_output(parser)
    _add_axioms(parser)
    _add_proving(parser)


def _add_equiv(commands: AddParser) -> None:
    parser = _add(commands, "equiv", "prove that two procedures compute the same, or show where they do not")
    parser.add_argument("a", metavar="A", help="PATH[:NAME] of one, for example a kernel")
    parser.add_argument("b", metavar="B", help="PATH[:NAME] of the other, for example its specification")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="form of the report")
    parser.add_argument("--deterministic", action="store_true", help="leave out seconds")
    _add_output(parser)
    _add_cache(parser)


def _add_run(commands: AddParser) -> None:
    parser = _add(
        commands, "run", "run a bundle on random inputs and compare with the sequential program (needs a GPU)"
    )
    parser.add_argument("bundle", metavar="BUNDLE", help="a bundle that `exogpu compile` wrote")
    parser.add_argument(
        "--size", metavar="NAME=VALUE", action="append", default=[], help="value of a size argument (default: 256)"
    )
    _add_output(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of the random inputs (default: 0)")
