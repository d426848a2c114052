"""Laws of what a collector sees over a few days, for published protocols, by enumeration of everything.

A law is a matrix: a row for each sequence of values, a column for everything that can be seen. The privacy
loss over sequences is the largest logarithm of a ratio of two entries of a column.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Sequences = list[tuple[int, ...]]


def sequences(values: int, days: int) -> Sequences:
    """Return all sequences of values."""
    return list(itertools.product(range(values), repeat=days))


def response(k: int, epsilon: float) -> Matrix:
    """Return the transition matrix of k-ary randomized response: a row for each value."""
    ratio = math.exp(epsilon)
    return (np.full((k, k), 1.0) + (ratio - 1.0) * np.eye(k)) / (ratio + k - 1.0)


def unary(k: int, epsilon: float) -> Matrix:
    """Return the matrix of a row of k bits, each told by randomized response with ε/2; rows are bit rows."""
    bit = response(2, epsilon / 2.0)
    table = []
    for bits in itertools.product((0, 1), repeat=k):
        rows = np.ones(1)
        for one in bits:
            rows = np.kron(rows, bit[one])
        table.append(rows)
    return np.array(table)


def loss(law: Matrix) -> float:
    """Return the privacy loss between any two rows; infinite if something is possible under only one."""
    most, least = law.max(axis=0), law.min(axis=0)
    seen = most > 0.0
    if (least[seen] == 0.0).any():
        return math.inf
    return float(np.log(most[seen] / least[seen]).max())


def fresh(channel: Matrix, days: int) -> Matrix:
    """Return the law of a new report on each day."""
    rows = []
    for values in sequences(len(channel), days):
        row = np.ones(1)
        for value in values:
            row = np.kron(row, channel[value])
        rows.append(row)
    return np.array(rows)


def permanent(first: Matrix, again: Matrix, days: int, mark: Callable[[int], int], values: int) -> Matrix:
    """Return the law of permanent answers, one for each mark of a value, told again through a channel daily.

    `first` maps a mark to its permanent answer, drawn once and independently for each mark; `again` maps the
    permanent answer of the day to what is sent. The identity as `again` sends permanent answers as they are.
    """
    marks = len(first)
    seen = again.shape[1]
    rows = []
    for sequence in sequences(values, days):
        row = np.ones((seen,) * days)
        for one in range(marks):
            when = [day for day, value in enumerate(sequence) if mark(value) == one]
            if not when:
                continue
            told = np.zeros((seen,) * len(when))
            for answer in range(first.shape[1]):
                part = np.array(first[one, answer])
                for _ in when:
                    part = np.multiply.outer(part, again[answer])
                told += part
            shape = [seen if day in when else 1 for day in range(days)]
            row = row * told.reshape(shape)
        rows.append(row.ravel())
    return np.array(rows)


def once(channel: Matrix, days: int) -> Matrix:
    """Return the law of one report on a uniform day; a column is a day and a report."""
    return np.array(
        [
            np.concatenate([channel[value] for value in values]) / days
            for values in sequences(len(channel), days)
        ]
    )


def rounded_bit(epsilon: float, steps: int, days: int) -> Matrix:
    """Return the law of 1BitMean with α-point rounding and permanent bits, for values 0 … steps.

    A person draws α from 0 … steps − 1 once and keeps it secret. A value x is rounded up if x + α ≥ steps, to
    the upper end, else to the lower end. Each end has one permanent bit.
    """
    bit = response(2, epsilon)
    total = np.zeros((len(sequences(steps + 1, days)), 2**days))
    for alpha in range(steps):
        total += permanent(bit, np.eye(2), days, lambda x, a=alpha: int(x + a >= steps), steps + 1)  # type: ignore[misc]
    return total / steps


def kept_change(epsilon: float, days: int, changes: int) -> Matrix:
    """Return the law of a tree of one kept change, for bits that start at 0 and change at most so often.

    A person draws a level of dyadic intervals, and one of `changes` places for the kept change, which may
    stay empty. For each interval of the level a sign is sent: that of the kept change in it, by randomized
    response, or a fair coin.
    """
    sign = response(2, epsilon)
    channel = {0: np.full(2, 0.5), 1: sign[1], -1: sign[0]}
    rows = []
    for values in sequences(2, days):
        moves = [(day, b - a) for day, (a, b) in enumerate(itertools.pairwise((0, *values))) if a != b]
        if len(moves) > changes:
            continue
        kept = [*moves, *[(0, 0)] * (changes - len(moves))]
        levels = []
        for height in range(days.bit_length()):
            total = np.zeros(2 ** (days >> height))
            for day, move in kept:
                law = np.ones(1)
                for place in range(days >> height):
                    law = np.kron(law, channel[move if day >> height == place else 0])
                total += law / len(kept)
            levels.append(total / days.bit_length())
        rows.append(np.concatenate(levels))
    return np.array(rows)
