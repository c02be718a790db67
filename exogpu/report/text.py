"""The report for people: a diagnostic for each obligation that is not proved, then one summary per kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from exogpu.codes import lookup
from exogpu.report.explain import explanation
from exogpu.report.model import Run, failure, times, verdict, with_status
from exogpu.report.snippet import ReadLines, read_lines, render_diagnostic
from exogpu.report.style import Palette, Role
from exogpu.report.table import render_steps
from exogpu.verify.axioms import find_axiom, in_order
from exogpu.verify.result import Obligation, Report, Status

SEVERITY = {
    Status.REFUTED: "error",
    Status.UNKNOWN: "unknown",
    Status.VACUOUS: "vacuous",
    Status.UNSUPPORTED: "unsupported",
}

ROLES: dict[Status, Role] = {
    Status.PROVED: "good",
    Status.REFUTED: "error",
    Status.UNKNOWN: "warning",
    Status.VACUOUS: "warning",
    Status.UNSUPPORTED: "warning",
}


@dataclass(frozen=True, slots=True)
class TextOptions:
    """`chains` prints the happens-before chains of every obligation, `explain` tells them in words."""

    palette: Palette = Palette()  # noqa: RUF009  (immutable)
    chains: bool = False
    explain: bool = False
    lines: ReadLines = read_lines


def render_text(run: Run, options: TextOptions) -> str:
    """The whole text report."""
    parts = ["\n".join(render_diagnostic(run, d, "error", options.palette, options.lines)) for d in run.problems]
    for report in run.reports:
        parts += ["\n".join(_findings(run, group, options)) for group in _by_cause(report)]
        parts.append("\n".join(_summary(run, report, options)))
    return "\n\n".join(parts) + "\n" if parts else ""


def _by_cause(report: Report) -> list[list[Obligation]]:
    """What is not proved, with obligations that most likely fail for one reason together."""
    groups: dict[tuple[Status, str], list[Obligation]] = {}
    for o in with_status(report, *SEVERITY):
        cause = o.rule if o.status is Status.REFUTED else o.reason
        groups.setdefault((o.status, cause), []).append(o)
    return list(groups.values())


def _findings(run: Run, group: list[Obligation], options: TextOptions) -> Iterator[str]:
    """The first of a group in full, the others in a line each; equal lines once."""
    yield from _finding(run, group[0], options)
    if len(group) > 1:
        yield ""
    also = (f"  also {SEVERITY[o.status]}[{o.rule}] at {run.place(o.span)}: {o.message or o.title}" for o in group[1:])
    yield from (f"{line}{times(count)}" for line, count in Counter(also).items())


def _finding(run: Run, obligation: Obligation, options: TextOptions) -> Iterator[str]:
    severity = SEVERITY[obligation.status]
    yield from render_diagnostic(run, failure(obligation), severity, options.palette, options.lines)
    if obligation.counterexample is not None:
        steps = render_steps(obligation.counterexample.steps)
        if steps:
            yield ""
            yield options.palette("dim", steps[0])
            yield from steps[1:]


def headline(run: Run, report: Report, palette: Palette) -> str:
    """The verdict on a kernel in one line."""
    colored = palette(ROLES[report.status], verdict(report))
    return "   ".join(filter(None, (run.kernel(report), colored, _counts(report), _cost(run, report))))


def _summary(run: Run, report: Report, options: TextOptions) -> Iterator[str]:
    yield headline(run, report, options.palette)
    if report.reason:
        yield f"  reason: {report.reason}"
    if options.explain:
        yield from explanation(run, report, options.lines)
    elif options.chains:
        yield from _chains(run, report)
    elif report.status is Status.PROVED:
        yield from _properties(report)
    if report.reassociated:
        tensors = ", ".join(report.reassociated)
        yield f"  equal to the sequential program up to the order of the sums in {tensors}"
    yield from _axioms(report)


def _counts(report: Report) -> str:
    total = len(report.obligations)
    counts = Counter(o.status for o in report.obligations)
    noun = "obligation" if total == 1 else "obligations"
    if counts[Status.PROVED] == total:
        return f"{total} {noun}"
    rest = ", ".join(f"{counts[s]} {s.value.lower()}" for s in Status if counts[s])
    return f"{total} {noun}: {rest}"


def _cost(run: Run, report: Report) -> str:
    if run.deterministic:
        return ""
    rlimit = sum(q.rlimit for o in report.obligations for q in o.queries)
    parts = [
        f"{report.seconds:.2f} s{' from cache' if report.cached else ''}",
        report.solver,
        f"rlimit {rlimit:,}" if rlimit else "",
    ]
    return ", ".join(filter(None, parts))


def _properties(report: Report) -> Iterator[str]:
    """What a proof shows, one line per rule, most obligations first."""
    counts = Counter(o.rule for o in report.obligations)
    if not counts:
        return
    yield "  proved for all sizes that its requires allow:"
    width = max(map(len, counts))
    for rule, count in sorted(counts.items()):
        code = lookup(rule)
        yield f"  {count:5d}  {rule.ljust(width)}  {code.proved if code else ''}".rstrip()


def _chains(run: Run, report: Report) -> Iterator[str]:
    for o in report.obligations:
        here = o.span.file == report.span.file and o.span.line > 0
        place = f"{o.span.line}:{o.span.col + 1}" if here else run.place(o.span)
        yield f"  {o.status.value.lower():8s}  {o.rule}  {o.title}  ({place})"
        for chain in o.chains:
            axioms = f"  [{', '.join(chain.axioms)}]" if chain.axioms else ""
            yield f"            {chain.text}{axioms}"


def _axioms(report: Report) -> Iterator[str]:
    """The policy if it is not the default one, then the axioms that proofs used."""
    if report.policy.withdrawn:
        yield f"  axioms withdrawn: {', '.join(report.policy.withdrawn)}"
    if report.policy.accepted:
        yield f"  axioms accepted on request: {', '.join(in_order(report.policy.accepted))}"
    if report.axioms:
        yield "  axioms used, where the PTX ISA leaves a choice or makes an exception:"
        for name in report.axioms:
            axiom = find_axiom(name)
            yield f"    {name}: {axiom.title}" if axiom else f"    {name}"
