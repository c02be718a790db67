"""Sync skeletons: `from exogpu.skeleton import *`, then write the synchronisation of a kernel with `@skeleton`.

docs/skeletons.md is the reference. Annotations name sizes, so a file of skeletons starts with
`from __future__ import annotations` if it is imported by Python itself; `exogpu` does not need it.
"""

from exogpu.skeleton import surface
from exogpu.skeleton.reading import skeleton
from exogpu.skeleton.surface import *  # noqa: F403

__all__ = ["skeleton"]
__all__ += surface.__all__
