"""Shipped kernels."""
