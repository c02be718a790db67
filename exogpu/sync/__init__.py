"""Synchronisation inference: from the data statements of a kernel to barriers, waits and fences that are proved."""

from exogpu.sync.infer import Inferred, infer_sync

__all__ = ["Inferred", "infer_sync"]
