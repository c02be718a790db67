"""The language: `from exogpu.lang import *`, then write procedures with `@proc`, or with
`@algorithm` what a schedule starts from.

Annotations name sizes that are arguments, so a kernel file starts with `from __future__ import annotations`.
"""

from exogpu import isa
from exogpu.isa import *  # noqa: F403
from exogpu.lang import surface
from exogpu.lang.load import load
from exogpu.lang.procedure import algorithm, proc, scalar
from exogpu.lang.surface import *  # noqa: F403

__all__ = ["algorithm", "load", "proc", "scalar"]
__all__ += isa.__all__
__all__ += surface.__all__
