"""User scheduling: rewrites of procedures, each proved to keep the sequential meaning for all sizes."""

from exogpu.ir.stmt import Seq, Tasks, Threads, Unroll
from exogpu.schedule.annotate import (
    Warpgroups,
    Warps,
    arrive,
    assign_role,
    by,
    complete_on,
    each,
    fence,
    insert,
    launch,
    mbarrier,
    named_barrier,
    set_mode,
    sync,
    unit_loop,
    wait,
    when,
)
from exogpu.schedule.cursor import Cursor, Gap
from exogpu.schedule.dead import eliminate
from exogpu.schedule.dimensions import divide_dim, drop_dim, expand_dim, join_dims, rearrange_dims, resize_dim
from exogpu.schedule.errors import Counterexample, Refused
from exogpu.schedule.expr import var
from exogpu.schedule.guards import conjoin, drop_guard
from exogpu.schedule.instance import replace_by
from exogpu.schedule.loops import collapse, cut, divide, fission, fuse, join, reorder, shift, swap, unroll
from exogpu.schedule.marks import call, label
from exogpu.schedule.motion import hoist, run_ahead
from exogpu.schedule.parts import accumulate, into_loop, peel
from exogpu.schedule.placement import set_layout, set_memory, set_type
from exogpu.schedule.procs import extract, put_back
from exogpu.schedule.reductions import split_reduction
from exogpu.schedule.replace import replace
from exogpu.schedule.ring import ring_buffer
from exogpu.schedule.schedule import Schedule, schedule
from exogpu.schedule.scopes import lift_alloc, lift_scope, sink_alloc, specialise
from exogpu.schedule.separate import separate
from exogpu.schedule.simplify import simplify
from exogpu.schedule.sizes import fix, reorder_dimensions, restrict
from exogpu.schedule.stage import stage
from exogpu.schedule.unstage import inline_window
from exogpu.schedule.values import bind, inline
from exogpu.schedule.windows import window

__all__ = [
    "Counterexample",
    "Cursor",
    "Gap",
    "Refused",
    "Schedule",
    "Seq",
    "Tasks",
    "Threads",
    "Unroll",
    "Warpgroups",
    "Warps",
    "accumulate",
    "arrive",
    "assign_role",
    "bind",
    "by",
    "call",
    "collapse",
    "complete_on",
    "conjoin",
    "cut",
    "divide",
    "divide_dim",
    "drop_dim",
    "drop_guard",
    "each",
    "eliminate",
    "expand_dim",
    "extract",
    "fence",
    "fission",
    "fix",
    "fuse",
    "hoist",
    "inline",
    "inline_window",
    "insert",
    "into_loop",
    "join",
    "join_dims",
    "label",
    "launch",
    "lift_alloc",
    "lift_scope",
    "mbarrier",
    "named_barrier",
    "peel",
    "put_back",
    "rearrange_dims",
    "reorder",
    "reorder_dimensions",
    "replace",
    "replace_by",
    "resize_dim",
    "restrict",
    "ring_buffer",
    "run_ahead",
    "schedule",
    "separate",
    "set_layout",
    "set_memory",
    "set_mode",
    "set_type",
    "shift",
    "simplify",
    "sink_alloc",
    "specialise",
    "split_reduction",
    "stage",
    "swap",
    "sync",
    "unit_loop",
    "unroll",
    "var",
    "wait",
    "when",
    "window",
]
