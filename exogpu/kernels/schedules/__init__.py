"""Kernels derived from three loops, every step proved."""
