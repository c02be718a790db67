"""A lifted chain in the words of a kernel engineer: one link per event, and why each comes after the one before.

`x` is the earlier access of the pair and `y` the later one; iterations are told relative to theirs.
"""

from __future__ import annotations

from exogpu.ir.collective import WARP, WARPGROUP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import WgmmaFence
from exogpu.verify.chain import (
    CtaOf,
    First,
    Fixed,
    Flat,
    Last,
    LiftedChain,
    Meant,
    Near,
    Skipped,
    ThreadOf,
    Where,
    axioms,
)
from exogpu.verify.chain import Link as Lifted
from exogpu.verify.declared import CTA_ROLE
from exogpu.verify.graph import Edge
from exogpu.verify.needs import FenceKind, Needs
from exogpu.verify.program import (
    ALL,
    TASK,
    AwaitAction,
    Event,
    Exec,
    InGroup,
    LoopKind,
    Program,
    TxOn,
    WaitAction,
)
from exogpu.verify.result import Link

GROUPS = {1: "thread", WARP: "warp", WARPGROUP: "warpgroup"}
FENCES = {
    FenceKind.SHARED: "it makes ordinary accesses of shared memory before it visible to the async proxy",
    FenceKind.GLOBAL: "it makes ordinary accesses before it visible to the async proxy",
    FenceKind.INIT: "it publishes initialisations of mbarriers before it to the cluster",
    FenceKind.REGISTER: "it orders register accesses before it with the wgmmas after it",
}


def explain(program: Program, chain: LiftedChain, x: Event, y: Event, needs: Needs) -> tuple[Link, ...]:
    """The chain from x to y as links."""
    used = frozenset(axioms(chain, x, y, needs))
    out = [Link(x.label, x.span, who(program, x), "x", "", ())]
    for n, link in enumerate(chain.links):
        why, uses = _edge(program, chain.edges[n - 1], link.event) if n else _leaving(program, x, link.event)
        if needs.fence is not None and needs.fence.made_by(link.event.action):
            why = f"{why}; {FENCES[needs.fence]}"
            uses = (*uses, *({"L1"} & used))
        out.append(
            Link(link.event.label, link.event.span, _who(program, link), _when(link), why, _kept(uses, used)),
        )
    why, uses = "program order of one thread", ("F6",)
    if y.completion is not None:
        why += ", which then issues y"
    out.append(Link(y.label, y.span, who(program, y), "y", why, _kept(uses, used)))
    return tuple(out)


def _kept(uses: tuple[str, ...], used: frozenset[str]) -> tuple[str, ...]:
    return tuple(a for a in uses if a in used)


# -- why -------------------------------------------------------------------------------------------------------------


def _leaving(program: Program, x: Event, event: Event) -> tuple[str, tuple[str, ...]]:
    """The edge out of x."""
    match x.completion, event.action:
        case InGroup(group), WaitAction(pending=pending, reads_only=reads_only):
            done = "has read its source" if reads_only else "is done"
            youngest = {ALL: "all of its thread", 0: "all groups", 1: "all but the youngest group"}
            finished = youngest.get(pending, f"all but the {pending} youngest groups")
            return f"the wait covers x's {group.value} group, so x {done}: it finishes {finished}", ("L5", "L12")
        case InGroup(), WgmmaFence():
            return "the fence orders x's registers before those of the next wgmma", ("F1",)
        case InGroup(), AwaitAction(barrier):
            return f"this await is for a phase of {barrier} that completes only when x has landed, or a later one", ()
        case TxOn(barrier), AwaitAction():
            return f"x's bytes complete a phase of {barrier}, and this await is for that phase or a later one", ("L7",)
        case _:
            return _edge(program, Edge.PROGRAM_ORDER, event)


def _edge(program: Program, edge: Edge, event: Event) -> tuple[str, tuple[str, ...]]:
    """An edge into an intermediate event."""
    match edge:
        case Edge.SIGNAL:
            return _signal(program, event)
        case Edge.COMPLETION:
            return "the wait returns only when that operation is done, which was issued before", ("L11", "L12")
        case Edge.PROGRAM_ORDER if event.exec is Exec.TOGETHER:
            return "program order into a barrier, which all its threads leave together", ()
        case Edge.PROGRAM_ORDER:
            return "program order of one thread", ()


def _signal(program: Program, event: Event) -> tuple[str, tuple[str, ...]]:
    """An edge from an arrive to an await."""
    if not isinstance(event.action, AwaitAction):
        return "the arrive is for the awaited phase or an earlier one", ()
    barrier, lag = program.barriers[event.action.barrier], event.action.lag
    phase = "generation" if barrier.named else "phase"
    which = "an earlier one in its slot" if barrier.ring > 1 else "an earlier one"
    why = f"the arrive, or a later one of its thread, is for the {phase} of {barrier.name} that is awaited, or {which}"
    if lag:
        turn = " (one turn of the ring)" if lag == barrier.ring else ""
        why += f"; the n-th await is for phase n - {lag}{turn}"
    return why, ()


# -- who -------------------------------------------------------------------------------------------------------------


def who(program: Program, event: Event) -> str:
    """The threads that execute an event."""
    role = "" if event.role == CTA_ROLE else f"{event.role} "
    group = GROUPS.get(event.size, f"group of {event.size} threads")
    if event.size == program.threads:
        group = "CTA"
    elif role and not any(loop.kind is LoopKind.THREADS for loop in event.loops):
        group = "role"
    each = "each" if _units(event) > 1 else "the"
    match event.exec:
        case Exec.TOGETHER:
            return f"{each} {role}{group}, its threads together"
        case Exec.FIRST:
            return f"{each} {role}thread" if event.size == 1 else f"the first thread of {each} {role}{group}"
        case Exec.WARPS:
            return f"each warp of {each} {role}{group}"
        case Exec.EACH:
            return f"{each} {role}thread" if event.size == 1 else f"each thread of {each} {role}{group}"


def _who(program: Program, link: Lifted) -> str:
    """As `who`, and whether it is the executor of x or y."""
    anchors = [place.anchor for _, place in link.where if isinstance(place, ThreadOf)]
    if isinstance(link.lane, str):
        anchors = [link.lane]
    text = who(program, link.event)
    if anchors:
        return f"{text}: {'that of the next step' if anchors[0] == 'next' else f'that of {anchors[0]}'}"
    fixed = [place.value for _, place in link.where if isinstance(place, Fixed)]
    return f"{text}: number {fixed[-1]}" if fixed and _units(link.event) > 1 else text


def _units(event: Event) -> int:
    trips = (
        evaluate(loop.hi, {}) - evaluate(loop.lo, {})
        for loop in event.loops
        if loop.kind in (LoopKind.THREADS, LoopKind.CTAS)
    )
    total = 1
    for trip in trips:
        total *= trip
    return total


# -- when ------------------------------------------------------------------------------------------------------------


def _when(link: Lifted) -> str:
    names: dict[tuple[Where, int], list[str]] = {}
    for n, (var, place) in enumerate(link.where):  # loops that are counted as one are said once
        names.setdefault((place, 0 if isinstance(place, Flat) else n), []).append("task" if var == TASK else var)
    words = [_place(", ".join(each), place) for (place, _), each in names.items()]
    if link.counted is not None:
        anchor, distance = link.counted
        further = f" {distance:+d}" if distance else ""
        words.append(f"the execution with the number that {anchor} has of its own{further}")
    return ", ".join(word for word in words if word)


def _place(name: str, place: Where) -> str:
    match place:
        case Near(anchor, 0):
            return f"{name} of {anchor}"
        case Near(anchor, delta):
            return f"{name} of {anchor} {'+' if delta > 0 else '-'} {abs(delta)}"
        case Skipped(anchor, distance):
            return f"{name} {abs(distance)} passing ones {'after' if distance > 0 else 'before'} that of {anchor}"
        case Flat(anchor, distance):
            turns = f"{abs(distance)} turn{'s' * (abs(distance) > 1)} {'after' if distance > 0 else 'before'} {anchor}"
            return f"{name} {turns if distance else f'at the place of {anchor}'}, all inner iterations counted"
        case First(delta):
            return f"the first {name}" + (f" + {delta}" if delta else "")
        case Last(delta):
            return f"the last {name}" + (f" - {delta}" if delta else "")
        case CtaOf(anchor):
            return f"CTA of {anchor}"
        case Meant(anchor):
            return f"the CTA whose barrier {anchor} acts on"
        case Fixed() | ThreadOf():
            return ""


# -- in short ---------------------------------------------------------------------------------------------------------


def describe(chain: LiftedChain, x: Event, y: Event) -> str:
    """The chain on one line: statements with lines and iterations."""
    parts = [f"{x.label}@{x.span.line}"]
    for link in chain.links:
        parts.append(f"{link.event.label}@{link.event.span.line}{_places(link)}")
    parts.append(f"{y.label}@{y.span.line}")
    return " -> ".join(parts)


def _places(link: Lifted) -> str:
    words: list[str] = []
    for var, where in link.where:
        name = "task" if var == TASK else var
        match where:
            case Near(anchor, delta) if delta:
                words.append(f"{name} = {name}({anchor}){delta:+d}")
            case Near(anchor, _):
                words.append(f"{name}({anchor})")
            case Skipped(anchor, distance):
                words.append(f"{name} = {name}({anchor}){distance:+d} passing")
            case Flat(anchor, distance, _, mine):
                words += [f"place of {anchor}{distance:+d}"] if var == mine.outer.var else []
            case First(delta):
                words.append(f"{name} = first{f'+{delta}' if delta else ''}")
            case Last(delta):
                words.append(f"{name} = last{f'-{delta}' if delta else ''}")
            case CtaOf(anchor) | Meant(anchor):
                words.append(f"CTA {'of' if isinstance(where, CtaOf) else 'meant by'} {anchor}")
            case Fixed() | ThreadOf():
                pass
    if link.counted is not None:
        anchor, distance = link.counted
        words.append(f"no.({anchor}){f'{distance:+d}' if distance else ''}")
    return f" [{', '.join(words)}]" if words else ""
