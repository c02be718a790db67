"""A schedule as a document: each step, what was proved for it, how long it took, and what it changed."""

from __future__ import annotations

from difflib import unified_diff
from html import escape

from exogpu.schedule.schedule import Schedule, Step, code


def markdown(s: Schedule, *, whole: bool = False) -> str:
    """The log as Markdown; after each step the lines that changed, or with `whole` all of the code."""
    parts = [f"# {s.proc.name}", summary(s), "## The start", _fenced(code(s.original), "python")]
    for n, step in enumerate(s.steps, 1):
        parts += [f"## {n}. `{step.call}`", *_proofs(step)]
        text = code(step.proc) if whole else changes(s, n)
        parts.append(_fenced(text, "python" if whole else "diff"))
    parts += ["## The result", _fenced(s.show(), "python")]
    return "\n\n".join(parts) + "\n"


def html(s: Schedule) -> str:
    """The log as one HTML page: the code after each step unfolds under it."""
    head = f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(s.proc.name)}</title></head>'
    body = [f"<h1>{escape(s.proc.name)}</h1>", f"<p>{escape(summary(s))}</p>", _folded("The start", code(s.original))]
    for n, step in enumerate(s.steps, 1):
        body.append(f"<h2>{n}. <code>{escape(step.call)}</code></h2>")
        body += [f"<p>{escape(line.replace('`', ''))}</p>" for line in _proofs(step)]
        body += [f"<pre>{escape(changes(s, n))}</pre>", _folded("The code after it", code(step.proc))]
    return "\n".join((head, "<body>", *body, "</body>", "</html>", ""))


def summary(s: Schedule) -> str:
    """The number of steps and proofs, the time that they took, and whether results are the same numbers."""
    proofs = sum(len(step.obligations) for step in s.steps)
    seconds = sum(step.seconds for step in s.steps)
    equal = "equal up to reassociation of sums" if s.reassociated else "the same numbers"
    return (
        f"{len(s.steps)} steps, {proofs} side conditions proved in {seconds:.2f} s for all sizes; results are {equal}."
    )


def changes(s: Schedule, n: int) -> str:
    """The lines that the n-th step changed, as a diff; empty if it changed none."""
    old, new = (code(s.version(i)).splitlines() for i in (n - 1, n))
    return "\n".join([*unified_diff(old, new, lineterm="", n=2)][2:])


def _proofs(step: Step) -> list[str]:
    lines = [f"- proved in {o.seconds * 1000:.1f} ms: `{o.text}`" for o in step.obligations]
    if step.reassociated:
        lines.append("- sums are taken in another order")
    return ["\n".join(lines)] if lines else ["Nothing to prove."]


def _fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
