"""Products and triangular factors of matrices in blocks so small that a BLAS library starts no threads.

A fit multiplies and factors hundreds of matrices of about 128 rows. OpenBLAS divides each of them among all
processors, and its threads then wait in a loop. So a fit takes 50 times the processor time of one thread, and
on a busy machine up to 50 times longer. Blocks of 64 are smaller than the sizes at which any release of
OpenBLAS divides work. They cost about 10 % more time than undivided matrices on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dither.foundation.arrays import Floats

SIDE: Final = 64  # rows of a block: OpenBLAS divides products of more than 64³ multiplications
_VECTOR: Final = 1 << 13  # OpenBLAS divides products of two vectors from 10 000 numbers on
_TABLE: Final = 1 << 16  # matrix–vector products are divided from 2 304·200 numbers on; fewer in old releases
_COLUMNS: Final = 2 * SIDE  # right-hand sides that are solved at once


def product(first: Floats, second: Floats) -> Floats:
    """Return the matrix product of two arrays of at most two dimensions, as `first @ second` does."""
    if first.ndim == 1 and second.ndim == 1:
        if first.size <= _VECTOR:
            return np.asarray(first @ second)
        return np.asarray((first * second).sum())
    if first.ndim == 1:
        return _vector_times(first, second)
    if second.ndim == 1:
        return _times_vector(first, second)
    rows, inner, columns = first.shape[0], first.shape[1], second.shape[1]
    if rows * inner * columns <= SIDE**3:
        return np.asarray(first @ second)
    found = np.zeros((rows, columns))
    for row in _blocks(rows):
        for column in _blocks(columns):
            part = found[row, column]
            for middle in _blocks(inner):
                part += first[row, middle] @ second[middle, column]
    return found


def dot(first: Floats, second: Floats) -> float:
    """Return the sum of the products of two vectors."""
    return float(product(first, second))


def _times_vector(matrix: Floats, vector: Floats) -> Floats:
    if matrix.size <= _TABLE:
        return np.asarray(matrix @ vector)
    rows = max(_TABLE // vector.size, 1)
    parts = [matrix[at : at + rows] @ vector for at in range(0, len(matrix), rows)]
    return np.concatenate(parts)


def _vector_times(vector: Floats, matrix: Floats) -> Floats:
    if matrix.size <= _TABLE:
        return np.asarray(vector @ matrix)
    found = np.zeros(matrix.shape[1])
    rows = max(_TABLE // matrix.shape[1], 1)
    for at in range(0, len(matrix), rows):
        found += vector[at : at + rows] @ matrix[at : at + rows]
    return found


def cholesky(matrix: Floats) -> Floats:
    """Return the lower triangular L with L·L' = matrix; raise LinAlgError if it is not positive definite."""
    size = len(matrix)
    if size <= SIDE:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    found = np.zeros((size, size))
    rest = np.array(matrix, dtype=np.float64)
    for own in _blocks(size):
        below = slice(own.stop, size)
        found[own, own] = np.linalg.cholesky(rest[own, own])
        beside = solve_lower(found[own, own], rest[below, own].T)
        found[below, own] = beside.T
        rest[below, below] -= product(beside.T, beside)
    return found


def log_determinant(factor: Floats) -> float:
    """Return the logarithm of the determinant of L·L' from the triangular factor L."""
    return 2.0 * float(np.log(np.diagonal(factor)).sum())


def solve_lower(factor: Floats, right: Floats) -> Floats:
    """Return the X with L·X = right for a lower triangular L, by forward substitution of blocks."""
    found = np.array(right, dtype=np.float64)
    for own in _blocks(len(factor)):
        done = slice(0, own.start)
        known = found[own] - product(factor[own, done], found[done]) if own.start else found[own]
        found[own] = _solve_block(factor[own, own], known)
    return found


def solve_upper(factor: Floats, right: Floats) -> Floats:
    """Return the X with L'·X = right for a lower triangular L, by backward substitution of blocks."""
    return np.asarray(solve_lower(factor.T[::-1, ::-1], right[::-1])[::-1])


def solve(matrix: Floats, right: Floats) -> Floats:
    """Return the X with matrix·X = right, by elimination of blocks.

    The matrix must be close to positive definite, because rows are exchanged within a block only.
    """
    size = len(matrix)
    if size <= SIDE:
        return _solve_block(matrix, right)
    first, others = slice(0, SIDE), slice(SIDE, size)
    columns = right.reshape(size, -1)
    both = _solve_block(matrix[first, first], np.hstack([matrix[first, others], columns[first]]))
    across, known = both[:, : size - SIDE], both[:, size - SIDE :]
    below = matrix[others, first]
    lower = solve(matrix[others, others] - product(below, across), columns[others] - product(below, known))
    return np.concatenate([known - product(across, lower), lower]).reshape(right.shape)


def _solve_block(matrix: Floats, right: Floats) -> Floats:
    if right.ndim == 1 or right.shape[1] <= _COLUMNS:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    starts = range(0, right.shape[1], _COLUMNS)
    return np.hstack([np.linalg.solve(matrix, right[:, at : at + _COLUMNS]) for at in starts])


def _blocks(size: int) -> Iterator[slice]:
    """Return consecutive slices of at most 64 rows that cover `count` rows."""
    return (slice(at, min(at + SIDE, size)) for at in range(0, size, SIDE))
