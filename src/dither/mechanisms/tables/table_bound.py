"""A lower bound on the variance of tables of attributes: that of docs/theory.md, symmetric multipliers.

λ = 1, and Y depends on how many attributes two cells differ in. Then N has one eigenvalue for each set S of
attributes: 1 − Σ_r y_r·P_r(S), where Σ_r P_r(S)·z^r = Π_{i ∉ S} (1 + (k_i − 1)z)·Π_{i ∈ S} (1 − z).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final, final

import numpy as np

from dither.arrays import Floats
from dither.numerics.golden_section import argmax

_MOST_SETS: Final = 12  # attributes for which all sets are looked at; for more, y = 0
_SWEEPS: Final = 12


@final
@dataclass(frozen=True)
class TableBound:
    """The bound for all tables of `way` attributes of the given sizes, at E = ratio."""

    sizes: tuple[int, ...]
    way: int
    ratio: float

    @property
    def rest(self) -> float:
        """1ᵀG1/N² − tr(G)/N: a table counts every person once."""
        tables = list(combinations(self.sizes, self.way))
        return sum(1.0 / math.prod(table) for table in tables) - len(tables)

    @cached_property
    def _sets(self) -> list[tuple[int, ...]]:
        places = range(len(self.sizes))
        most = len(self.sizes) if len(self.sizes) <= _MOST_SETS else self.way
        return [one for count in range(1, most + 1) for one in combinations(places, count)]

    @cached_property
    def _eigenvalues(self) -> tuple[Floats, Floats]:
        """For every set S: how many dimensions it has, and the eigenvalue of G over the number of cells."""
        dimensions, values = [], []
        tables = list(combinations(range(len(self.sizes)), self.way))
        for one in self._sets:
            dimensions.append(math.prod(self.sizes[place] - 1 for place in one))
            holding = [table for table in tables if set(one) <= set(table)]
            values.append(sum(1.0 / math.prod(self.sizes[place] for place in table) for table in holding))
        return np.array(dimensions, dtype=np.float64), np.array(values)

    @cached_property
    def _differing(self) -> tuple[Floats, Floats]:
        """P_r(S) for every set S (rows) and r = 1 … d (columns), and for the empty set."""

        def row(held: tuple[int, ...]) -> Floats:
            polynomial = np.array([1.0])
            for place, size in enumerate(self.sizes):
                factor = [1.0, -1.0] if place in held else [1.0, size - 1.0]
                polynomial = np.convolve(polynomial, factor)
            return polynomial[1:]

        return np.array([row(one) for one in self._sets]), row(())

    def value(self, pairs: Floats) -> float:
        """Return the bound for y_1 … y_d; −∞ if it proves nothing."""
        by_set, whole = self._differing
        inner = 1.0 - by_set @ pairs
        total = float(whole @ pairs)
        gamma = self.ratio - total
        if not gamma > 0.0 or float(inner.min()) < 1e-9:
            return -math.inf
        tau = ((1.0 + self.ratio) / 2.0 - total) ** 2 / gamma - 1.0 + total
        if not tau > 0.0:
            return -math.inf
        dimensions, values = self._eigenvalues
        return float((dimensions * np.sqrt(values * inner)).sum() ** 2 / tau + self.rest)

    @cached_property
    def best(self) -> float:
        """The largest bound found, by searches along lines: each y_r, all, and those from some r on."""
        pairs = np.zeros(len(self.sizes))
        reached = self.value(pairs)
        if len(self.sizes) > _MOST_SETS:
            return reached
        _, whole = self._differing
        count = len(pairs)
        ways = [np.ones(count), *np.eye(count), *(np.arange(count) >= first for first in range(1, count))]
        for _ in range(_SWEEPS):
            for way in ways:
                step = np.asarray(way, dtype=np.float64)
                down = float(min(pairs[step > 0.0]))  # y stays at least 0

                def along(length: float, step: Floats = step, now: Floats = pairs) -> float:
                    return self.value(now + length * step)

                length = argmax(along, -down, self.ratio / float(whole @ step), sections=40)
                if along(length) > reached:
                    pairs = np.maximum(pairs + length * step, 0.0)
                    reached = self.value(pairs)
        return reached
