"""What an instruction moves: its sequential meaning for every collective that executes it, element by element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exogpu.diagnostics import InternalError
from exogpu.ir.arrays import Numbers, cond, index, lanes, negated
from exogpu.ir.collective import WARP
from exogpu.ir.evaluate import evaluate
from exogpu.ir.instr import BufferInfo, Mode, Proxy
from exogpu.ir.stmt import Assign, For, If, InstrCall, Range, Stmt
from exogpu.verify.simulator.moves import Context, Frame, Move, move


def moves(call: InstrCall, frame: Frame, buffers: dict[str, BufferInfo], context: Context) -> tuple[Move, ...]:
    """The movements of one call, in order. `frame` has one lane per executing collective, with its first thread."""
    return tuple(_block(call.instr.meaning(call, buffers), frame, call, context))


def _block(block: tuple[Stmt, ...], frame: Frame, call: InstrCall, context: Context) -> list[Move]:
    out: list[Move] = []
    for stmt in block:
        match stmt:
            case For(var, lo, hi, _, body):
                out += _block(body, _expanded(frame, var, evaluate(lo, {}), evaluate(hi, {})), call, context)
            case If(test, then, orelse):
                truth = cond(test, frame.env)
                for part, holds in ((then, truth), (orelse, negated(truth))):
                    inner = frame.where(holds)
                    if part and len(inner.threads):
                        out += _block(part, inner, call, context)
            case Assign():
                by = replace(frame, threads=_performers(stmt, frame, call))
                found = move(stmt, by, context, gathers=True)
                out.append(replace(found, span=call.span, proxies=_proxies(call), commutes=_commutes(call, stmt)))
            case _:
                raise InternalError(f"a {type(stmt).__name__} in the meaning of {call.instr.name}")
    return out


def _proxies(call: InstrCall) -> dict[str, Proxy]:
    return {call.window(f.operand).buffer: f.proxy for f in call.instr.footprints}


def _commutes(call: InstrCall, stmt: Assign) -> bool:
    """The statement is a reduction: the order of several does not matter."""
    return any(f.mode is Mode.REDUCE and call.window(f.operand).buffer == stmt.buffer for f in call.instr.footprints)


def _expanded(frame: Frame, var: str, lo: int, hi: int) -> Frame:
    """One lane for each iteration of a loop and lane of the frame."""
    count = hi - lo
    env = {n: np.repeat(v, count) if isinstance(v, np.ndarray) else v for n, v in frame.env.items()}
    env[var] = np.tile(np.arange(lo, hi), len(frame.threads))
    return replace(frame, env=env, threads=np.repeat(frame.threads, count))


def _performers(stmt: Assign, frame: Frame, call: InstrCall) -> Numbers:
    """The thread that performs each element: the executing thread; of a collective, the first thread of the warp whose
    share of the written window it is (`Footprint.warp_dim`)."""
    for footprint in call.instr.footprints:
        if footprint.warp_dim is None or footprint.mode is Mode.READ:
            continue
        window = call.window(footprint.operand)
        if window.buffer != stmt.buffer:
            continue
        dim = [n for n, d in enumerate(window.dims) if isinstance(d, Range)][footprint.warp_dim]
        whole = window.dims[dim]
        assert isinstance(whole, Range)
        share = whole.extent // (call.instr.unit // WARP)
        offset = index(stmt.index[dim], frame.env) - index(whole.lo, frame.env)
        return frame.threads + WARP * (lanes(offset, len(frame.threads)) // share)
    return frame.threads
