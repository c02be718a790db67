"""Obligations about single statements: bounds, alignment, ownership of registers, the CTA that is meant."""

from __future__ import annotations

from collections.abc import Iterator

from exogpu.ir.collective import WARPGROUP
from exogpu.ir.evaluate import evaluate, holds
from exogpu.ir.index import Bin, Index, Int
from exogpu.ir.instr import Mode, Proxy
from exogpu.ir.types import FRAGMENTS
from exogpu.smt.index import to_formula, to_poly
from exogpu.smt.terms import Formula
from exogpu.verify.claim import Claim
from exogpu.verify.concrete import Env, Occurrence
from exogpu.verify.instance import Instance, Model
from exogpu.verify.owners import first_offset, owner
from exogpu.verify.phases import Phases, barrier_cta
from exogpu.verify.program import Access, Event, Program, TxOn
from exogpu.verify.races import concrete_box
from exogpu.verify.single import Property

BULK_CHUNK = 16
"""Bytes that a bulk store writes at once."""


def claims(program: Program) -> Iterator[Claim]:
    """Every single-statement obligation of a program."""
    for event in program.events:
        for n, access in enumerate(event.accesses):
            yield from _whole_chunks(program, event, access, n)
            if any(
                (a.buffer, a.dims, a.guards) == (access.buffer, access.dims, access.guards) for a in event.accesses[:n]
            ):
                continue  # `x[i] += v` reads and writes one element
            yield from bounds(program, event, access, n)
            yield from _ownership(program, event, access, n)
            yield from _own_cta(program, event, access, n)
        yield from _alignment(program, event)
        yield from target_cta(program, event)


# -- bounds ------------------------------------------------------------------------------------------------------------


def bounds(program: Program, event: Event, access: Access, n: int) -> Iterator[Claim]:
    shape = program.buffers[access.buffer].shape
    # in a clipped dimension the instruction itself zero-fills or drops what lies outside
    checked = [d for d in range(len(shape)) if d not in access.clipped]
    if not checked:
        return

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        inside: list[Formula] = []
        box = model.box(x, access)
        for d in checked:
            lo, extent = box[d]
            inside += [ctx.le(0, lo), ctx.le(lo + extent, to_poly(ctx, shape[d], model.sizes))]
        guards = [to_formula(ctx, g, x.env) for g in access.guards]
        return ctx.api.conj((*guards, ctx.api.negate(ctx.api.conj(inside))))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        (x,) = xs
        if not all(holds(g, x.env) for g in access.guards):
            return False
        box = concrete_box(x, access)
        return any(box[d].start < 0 or box[d].stop > evaluate(shape[d], sizes) for d in checked)

    yield Claim(
        Property(f"bounds/{access.buffer}/{event.id}.{n}", (event,), bad, check),
        "bounds",
        f"{access.mode.value}s of {access.buffer} at line {access.span.line} stay inside it",
        f"{access.mode.value} of `{access.buffer}` outside its bounds",
        access.span,
        "guard the access, or use an instruction that clips it",
    )


# -- edges of bulk stores ----------------------------------------------------------------------------------------------


def _whole_chunks(program: Program, event: Event, access: Access, n: int) -> Iterator[Claim]:
    """A bulk store that is cut off at the end of a row writes whole 16-byte chunks: seen on an H200, where the columns
    between the end of the row and the next multiple of 16 bytes are overwritten."""
    if not (access.clipped and access.mode is not Mode.READ and access.proxy is Proxy.ASYNC):
        return
    buffer = program.buffers[access.buffer]
    extent, elements = buffer.shape[-1], BULK_CHUNK // buffer.element_bytes

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        lo, length = model.box(x, access)[-1]
        end = to_poly(ctx, extent, model.sizes)
        cut = ctx.api.conj((ctx.lt(lo, end), ctx.lt(end, lo + length)))
        return ctx.api.conj((cut, ctx.api.negate(ctx.eq(ctx.mod(end, elements), 0))))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        end = evaluate(extent, sizes)
        columns = concrete_box(xs[0], access)[-1]
        return columns.start < end < columns.stop and end % elements != 0

    yield Claim(
        Property(f"chunks/{access.buffer}/{event.id}.{n}", (event,), bad, check),
        "contract.partial_store",
        f"the bulk store to {access.buffer} at line {access.span.line} writes nothing beyond its rows",
        f"the bulk store writes beyond the rows of `{access.buffer}`: it stores whole {BULK_CHUNK}-byte chunks",
        access.span,
        f"use it where the row length is a multiple of {elements} elements, and ordinary stores elsewhere",
    )


# -- alignment ---------------------------------------------------------------------------------------------------------


def _alignment(program: Program, event: Event) -> Iterator[Claim]:
    for need in event.alignments:

        def bad(
            model: Model, phases: Phases, xs: tuple[Instance, ...], index: Index = need.index, m: int = need.multiple
        ) -> Formula:
            value = to_poly(model.ctx, index, xs[0].env)
            return model.ctx.api.negate(model.ctx.eq(model.ctx.mod(value, m), 0))

        def check(
            program: Program, sizes: Env, xs: tuple[Occurrence, ...], index: Index = need.index, m: int = need.multiple
        ) -> bool:
            return evaluate(index, xs[0].env) % m != 0

        yield Claim(
            Property(f"alignment/{need.buffer}/{event.id}.{need.dim}", (event,), bad, check),
            "contract.alignment",
            f"the window of {need.buffer} at line {event.span.line} is aligned in dimension {need.dim}",
            f"the window of `{need.buffer}` must start at a multiple of {need.multiple} in dimension {need.dim}",
            event.span,
            f"make the start a multiple of {need.multiple} elements",
        )


# -- ownership ---------------------------------------------------------------------------------------------------------


def _ownership(program: Program, event: Event, access: Access, n: int) -> Iterator[Claim]:
    buffer = program.buffers[access.buffer]
    place = owner(buffer, access, program.threads)
    if place is None:
        return
    theirs = Bin("+", place, first_offset(program.events, buffer, program.threads) or Int(0))
    # a tile of wgmma registers lies across a warpgroup, so no smaller collective owns what an access to it names
    torn = isinstance(buffer.memory, FRAGMENTS) and event.size != WARPGROUP

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        if torn:
            return model.ctx.api.literal(True)
        mine = to_poly(model.ctx, event.first, x.env)
        return model.ctx.api.negate(model.ctx.eq(mine, to_poly(model.ctx, theirs, x.env)))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        return torn or evaluate(event.first, xs[0].env) != evaluate(theirs, xs[0].env)

    yield Claim(
        Property(f"ownership/{access.buffer}/{event.id}.{n}", (event,), bad, check),
        "ownership",
        f"registers of {access.buffer} at line {access.span.line} are touched only by their owner",
        f"`{access.buffer}` is touched by a thread that does not own the element",
        access.span,
        "index the distributed dimensions with the thread loops that execute the statement",
    )


# -- CTAs of a cluster -------------------------------------------------------------------------------------------------


def _own_cta(program: Program, event: Event, access: Access, n: int) -> Iterator[Claim]:
    """Asynchronous operations work in the shared memory of the CTA that issues them; a multicast names its CTAs."""
    cta = event.completion.cta if isinstance(event.completion, TxOn) else None
    in_order = access.proxy is not Proxy.ASYNC and event.completion is None
    if not program.buffers[access.buffer].per_cta or in_order:
        return
    wanted = Bin("//", event.first, Int(program.threads)) if cta is None or access.mode is Mode.READ else cta

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        (x,) = xs
        ctx = model.ctx
        here, extent = model.box(x, access)[0]
        same = ctx.api.conj((ctx.eq(here, to_poly(ctx, wanted, x.env)), ctx.eq(extent, 1)))
        return ctx.api.negate(same)

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        place = evaluate(wanted, xs[0].env)
        return concrete_box(xs[0], access)[0] != range(place, place + 1)

    yield Claim(
        Property(f"cta/{access.buffer}/{event.id}.{n}", (event,), bad, check),
        "cluster.remote_op",
        f"{event.label} at line {access.span.line} works in its own CTA's part of {access.buffer}",
        f"{event.label} names another CTA's part of `{access.buffer}`",
        access.span,
        "index the first dimension with the variable of the enclosing `threads(..., unit=cta)` loop",
    )


def target_cta(program: Program, event: Event) -> Iterator[Claim]:
    """An arrive, an announcement or a copy means the barrier of a CTA that the cluster has."""
    cta = barrier_cta(event)
    if cta is None or isinstance(cta, Int):
        return  # literals are checked when the kernel is read

    def bad(model: Model, phases: Phases, xs: tuple[Instance, ...]) -> Formula:
        ctx = model.ctx
        return ctx.api.negate(ctx.between(0, to_poly(ctx, cta, xs[0].env), program.cluster))

    def check(program: Program, sizes: Env, xs: tuple[Occurrence, ...]) -> bool:
        return not 0 <= evaluate(cta, xs[0].env) < program.cluster

    yield Claim(
        Property(f"target/{event.id}", (event,), bad, check),
        "cluster.remote_op",
        f"{event.label} at line {event.span.line} signals a CTA of the cluster",
        f"{event.label} signals a CTA that the cluster does not have",
        event.span,
        f"the cluster has the CTAs 0 to {program.cluster - 1}",
    )
