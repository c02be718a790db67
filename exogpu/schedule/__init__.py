"""User scheduling: rewrites of procedures, each proved to keep the sequential meaning for all sizes."""

from exogpu.schedule.annotate import (
    Warpgroups,
    Warps,
    arrive,
    assign_role,
    complete_on,
    fence,
    insert,
    launch,
    mbarrier,
    named_barrier,
    set_mode,
    sync,
    unit_loop,
    wait,
)
from exogpu.schedule.cursor import Cursor, Gap
from exogpu.schedule.dead import eliminate
from exogpu.schedule.errors import Counterexample, Refused
from exogpu.schedule.expr import var
from exogpu.schedule.guards import drop_guard
from exogpu.schedule.loops import collapse, cut, divide, fission, fuse, join, reorder, shift, swap, unroll
from exogpu.schedule.marks import call, label
from exogpu.schedule.parts import accumulate, into_loop, peel
from exogpu.schedule.schedule import Schedule, schedule
from exogpu.schedule.scopes import lift_alloc, lift_scope, sink_alloc, specialise
from exogpu.schedule.simplify import simplify
from exogpu.schedule.sizes import fix, restrict
from exogpu.schedule.values import bind, inline

__all__ = [
    "Counterexample",
    "Cursor",
    "Gap",
    "Refused",
    "Schedule",
    "Warpgroups",
    "Warps",
    "accumulate",
    "arrive",
    "assign_role",
    "bind",
    "call",
    "collapse",
    "complete_on",
    "cut",
    "divide",
    "drop_guard",
    "eliminate",
    "fence",
    "fission",
    "fix",
    "fuse",
    "inline",
    "insert",
    "into_loop",
    "join",
    "label",
    "launch",
    "lift_alloc",
    "lift_scope",
    "mbarrier",
    "named_barrier",
    "peel",
    "reorder",
    "restrict",
    "schedule",
    "set_mode",
    "shift",
    "simplify",
    "sink_alloc",
    "specialise",
    "swap",
    "sync",
    "unit_loop",
    "unroll",
    "var",
    "wait",
]
