"""Equivalence of two procedures: that their sequential meanings are the same for all sizes."""

from exogpu.equiv.equivalent import equivalent
from exogpu.equiv.result import Equivalence, Verdict
from exogpu.equiv.trial import Difference

__all__ = ["Difference", "Equivalence", "Verdict", "equivalent"]
