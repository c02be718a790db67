"""Equivalence of two procedures: that their sequential meanings are the same for all sizes."""
