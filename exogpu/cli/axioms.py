"""The policy on memory-model axioms that the command line asks for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from exogpu.cli.errors import UsageError
from exogpu.verify.axioms import AXIOMS, Policy, find_axiom


def axiom_policy(arguments: argparse.Namespace) -> Policy:
    """From `--strict`, `--without` and `--axiom`; UsageError for a name that no axiom has."""
    return Policy(arguments.strict, _names(arguments.without), _names(arguments.axiom))


def _names(given: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in (part.strip() for text in given for part in text.split(",")):
        axiom = find_axiom(name)
        if axiom is None:
            raise UsageError(f"there is no axiom `{name}`; the axioms are {', '.join(a.name for a in AXIOMS)}")
        found.add(axiom.name)
    return frozenset(found)
