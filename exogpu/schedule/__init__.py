"""User scheduling: rewrites of procedures, each proved to keep the sequential meaning for all sizes."""

from exogpu.schedule.cursor import Cursor, Gap
from exogpu.schedule.errors import Counterexample, Refused
from exogpu.schedule.expr import var
from exogpu.schedule.loops import collapse, cut, divide, fission, fuse, join, reorder, shift, swap, unroll
from exogpu.schedule.schedule import Schedule, schedule

__all__ = [
    "Counterexample",
    "Cursor",
    "Gap",
    "Refused",
    "Schedule",
    "collapse",
    "cut",
    "divide",
    "fission",
    "fuse",
    "join",
    "reorder",
    "schedule",
    "shift",
    "swap",
    "unroll",
    "var",
]
