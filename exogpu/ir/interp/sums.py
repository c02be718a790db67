"""Sums over axes of a grid. A sum of products is a matrix product, and the products are never stored."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from exogpu.ir.numeric import Array

SMALL = 1 << 18
"""Multiplications of a matrix product that is best done by one thread: OpenBLAS splits larger ones, and hundreds of
them wait long for each other on a busy machine."""


def collect(value: Array, shape: tuple[int, ...], axes: Sequence[int]) -> Array:
    """`value`, stretched to `shape` along `axes`, summed over them; they keep length 1."""
    stretched = [shape[x] if x in axes else n for x, n in enumerate(value.shape)]
    total: Array = np.broadcast_to(value, stretched).sum(axis=tuple(axes), keepdims=True, dtype=value.dtype)
    return total


def collect_product(a: Array, b: Array, axes: Sequence[int]) -> Array:
    """`a * b` summed over `axes`, along which both vary; they keep length 1."""
    others = [x for x in range(a.ndim) if x not in axes]
    batch = [x for x in others if (a.shape[x] > 1) == (b.shape[x] > 1)]
    rows = [x for x in others if a.shape[x] > 1 and x not in batch]
    columns = [x for x in others if b.shape[x] > 1 and x not in batch]
    depth, width = math.prod(a.shape[x] for x in axes), math.prod(b.shape[x] for x in columns)
    while rows and math.prod(a.shape[x] for x in rows) * depth * width > SMALL:
        batch.append(rows.pop(0))
    left = _matrix(a, batch, rows, axes)
    right = _matrix(b, batch, axes, columns)
    order = [*batch, *rows, *columns, *axes]
    extents = [a.shape[x] if x in batch or x in rows else b.shape[x] if x in columns else 1 for x in order]
    product: Array = np.matmul(left, right)
    return product.reshape(extents).transpose(np.argsort(order))


def _matrix(value: Array, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> Array:
    """`value` as matrices, one for each element of `batch`; it has length 1 along all other axes."""
    absent = [x for x in range(value.ndim) if x not in batch and x not in rows and x not in columns]
    extents = [math.prod(value.shape[x] for x in part) for part in (rows, columns)]
    lead = [value.shape[x] for x in batch]
    return value.transpose([*batch, *rows, *columns, *absent]).reshape([*lead, *extents])
