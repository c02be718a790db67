"""Every obligation with what was asked of the solver, and its chains one event a line with the reason of each edge."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from textwrap import wrap

from exogpu.report.model import Run
from exogpu.report.snippet import ReadLines
from exogpu.source import Span
from exogpu.verify.result import Chain, Link, Obligation, Report

WIDTH = 120
TEXT = 44
"""Columns for the source text of a statement."""


def explanation(run: Run, report: Report, lines: ReadLines) -> Iterator[str]:
    """The lines of one kernel's explanation."""
    for obligation in report.obligations:
        yield from _obligation(run, report, obligation, lines)


def _obligation(run: Run, report: Report, o: Obligation, lines: ReadLines) -> Iterator[str]:
    here = o.span.file == report.span.file and o.span.line > 0
    place = f"{o.span.line}:{o.span.col + 1}" if here else run.place(o.span)
    yield f"  {o.status.value.lower()}  {o.rule}  {o.title}  ({place})"
    if o.question:
        yield from _wrapped(f"asked for: {o.question}")
        yield from _wrapped(f"answer: {_answer(o)}")
    if o.reason:
        yield from _wrapped(f"reason: {o.reason}")
    for n, chain in enumerate(o.chains, 1):
        yield f"      chain {n} of {len(o.chains)}"
        yield from _chain(chain, lines)
    yield ""


def _wrapped(text: str) -> Iterator[str]:
    yield from wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 8, break_on_hyphens=False)


def _answer(o: Obligation) -> str:
    """Of the queries, whether the terms folded to the answer, and over what it holds."""
    if not o.queries:
        return "none was found" if o.counterexample is None else "found, and replayed"
    names = list(dict.fromkeys(name for query in o.queries for name in query.variables))
    how = "there are none" if any(query.rlimit for query in o.queries) else "there are none, by arithmetic alone"
    return f"{how}, for all {', '.join(names)}"


def _chain(chain: Chain, lines: ReadLines) -> Iterator[str]:
    for link, following in zip_longest(chain.links, chain.links[1:]):
        yield f"        {link.span.line:4d} | {_source(link.span, lines).ljust(TEXT)}  {_place(link)}"
        if following is not None:
            axioms = f"  [{', '.join(following.axioms)}]" if following.axioms else ""
            yield f"             |    {following.why}{axioms}"


def _source(span: Span, lines: ReadLines) -> str:
    text = lines(span.file)
    source = text[span.line - 1].strip() if 0 < span.line <= len(text) else ""
    return source if len(source) <= TEXT else f"{source[: TEXT - 3]}..."


def _place(link: Link) -> str:
    return f"{link.when}: {link.who}" if link.when else link.who
