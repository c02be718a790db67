"""Mutants: every systematic single edit of a kernel's synchronisation, which a correct kernel must not survive.

Per statement: dropped, moved past a neighbour, lag, bytes and wait depth one up and down, by other threads or units;
per barrier the count and the ring, per shared-memory ring its slots, per guard and role around synchronisation too.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from exogpu.ir.proc import Proc
from exogpu.verify.edits import (
    Edit,
    Site,
    barrier_rings,
    buffer_rings,
    counts,
    depths,
    dropped,
    expected_bytes,
    firsts,
    guards,
    lags,
    moved,
    roles,
    sites,
    units,
)


def mutants(proc: Proc) -> Iterator[Edit]:
    """Every single edit that gives a kernel of its own, in the order of the text."""
    seen = [proc]
    for edit in chain(counts(proc), barrier_rings(proc), *(_at(proc, site) for site in sites(proc))):
        if edit.proc not in seen:
            seen.append(edit.proc)
            yield edit


def _at(proc: Proc, site: Site) -> Iterator[Edit]:
    yield from dropped(site)
    yield from moved(site)
    yield from lags(site)
    yield from expected_bytes(site)
    yield from depths(site)
    yield from guards(proc, site)
    yield from roles(proc, site)
    yield from units(proc, site)
    yield from firsts(proc, site)
    yield from buffer_rings(site)
