"""Why an operator does not apply: data that the command line renders as a diagnostic."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exogpu.diagnostics import BadInput, Diagnostic, Label
from exogpu.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Sizes and iterations for which a side condition does not hold, found by the solver and checked by evaluation. Of
    two executions of a statement the second one's variables end in `'`."""

    values: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.values)


class Refused(BadInput):
    """The operator does not apply.

    `code`: `schedule.argument` (an argument is of another type, or another word), `schedule.pattern` (nothing there,
    or the wrong kind of statement), `schedule.cursor` (what a cursor pointed at is gone), `schedule.limit` (a stated
    limit of the operator), `schedule.condition` (a side condition does not hold; `counterexample` says where) or
    `schedule.unknown` (the solver could not tell).
    """

    def __init__(
        self,
        code: str,
        message: str,
        span: Span = NOWHERE,
        *,
        counterexample: Counterexample | None = None,
        notes: tuple[str, ...] = (),
        help: str | None = None,
    ) -> None:
        self.code = code
        self.counterexample = counterexample
        found = () if counterexample is None else (f"for example {counterexample}",)
        super().__init__((Diagnostic(code, message, span, notes=(*found, *notes), help=help),))

    def asked_at(self, place: Span) -> None:
        """Says where a step, or `find`, is called: where the refusal stands, or a second place beside the statement
        that it is about."""
        found = self.diagnostic
        if found.span == NOWHERE:
            self.diagnostics = (replace(found, span=place),)
        elif not found.labels:
            self.diagnostics = (replace(found, labels=(Label(place, "called here"),)),)

    @property
    def diagnostic(self) -> Diagnostic:
        """The one finding."""
        return self.diagnostics[0]

    def __str__(self) -> str:
        found = self.diagnostic
        lines = [f"{found.message} [{found.code}]", *found.notes]
        return "\n  ".join(lines if found.help is None else [*lines, f"help: {found.help}"])


def limit(message: str, span: Span = NOWHERE, help: str | None = None) -> Refused:
    """A stated limit of an operator."""
    return Refused("schedule.limit", message, span, help=help)
