"""What the verifier returns: obligations with their verdicts, proofs and counterexamples, as plain data."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exogpu.diagnostics import Label
from exogpu.source import Span
from exogpu.verify.axioms import DEFAULT, Policy, in_order

if TYPE_CHECKING:
    # the report and the CLI use these records without loading a solver
    from exogpu.smt.script import Script, Written


class Status(enum.Enum):
    """Verdict of an obligation or a kernel. Only PROVED is green."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    UNKNOWN = "UNKNOWN"
    VACUOUS = "VACUOUS"
    UNSUPPORTED = "UNSUPPORTED"


@dataclass(frozen=True, slots=True)
class Query:
    """One solver call: stable name, answer, deterministic resource use, the query itself, and the quantities that it
    is about (sizes, then the variables of the instances)."""

    name: str
    answer: str
    rlimit: int
    script: Script | Written
    variables: tuple[str, ...] = ()

    @property
    def smtlib(self) -> str:
        """The query as SMT-LIB 2 text."""
        return self.script.text

    @property
    def sha256(self) -> str:
        """SHA-256 of that text, in hex."""
        return self.script.sha256


@dataclass(frozen=True, slots=True)
class Link:
    """One event of a chain: the statement, who executes it, in which iteration relative to the pair (`x` and `y` are
    the pair's own), why it comes after the link before, and the axioms of that edge."""

    statement: str
    span: Span
    who: str
    when: str
    why: str
    axioms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """A lifted happens-before chain in short, the memory-model axioms that its edges use, and its links in words."""

    text: str
    axioms: tuple[str, ...]
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replayed execution: who, where, at which iteration, what, and the state it changed."""

    actor: str
    span: Span
    iteration: tuple[tuple[str, int], ...]
    event: str
    state: tuple[tuple[str, str], ...] = ()


Sizes = tuple[tuple[str, int], ...]
"""Names and values."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A violation that the concrete engine reproduced.

    `sizes`: the problem. `facts`: named roles, iterations, slots, phases, bytes. `steps`: the interleaving.
    `replay`: which concrete check confirmed it. `minimal`: no smaller sizes violate the obligation.
    """

    sizes: Sizes
    facts: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    replay: str
    minimal: bool


@dataclass(frozen=True, slots=True)
class Obligation:
    """One obligation. `name` is unique inside the kernel; `rule` is the diagnostic id of its violation;
    `title` says what was to be shown, `question` what the solver was asked (a proof is that there is none).
    `message`/`span`/`label`/`labels`/`help` make the diagnostic if refuted. `suspected`: sizes at which attempts
    to prove it failed."""

    name: str
    rule: str
    title: str
    status: Status
    span: Span
    message: str = ""
    label: str = ""
    labels: tuple[Label, ...] = ()
    reason: str = ""
    help: str | None = None
    chains: tuple[Chain, ...] = ()
    counterexample: Counterexample | None = None
    queries: tuple[Query, ...] = ()
    question: str = ""
    suspected: tuple[Sizes, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict on one kernel under a policy on axioms: every obligation, the solver's version, the seconds spent;
    `cached` if an earlier run decided it. `reassociated`: float tensors whose sums the proof lets happen in any order.
    """

    kernel: str
    span: Span
    status: Status
    obligations: tuple[Obligation, ...]
    solver: str
    seconds: float
    reason: str = ""
    policy: Policy = DEFAULT
    reassociated: tuple[str, ...] = ()
    cached: bool = False

    @property
    def axioms(self) -> tuple[str, ...]:
        """Memory-model axioms that some proof used, sorted."""
        return in_order({a for o in self.obligations for c in o.chains for a in c.axioms})
