"""One table: every frequency mechanism. Every law of this folder runs over it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

import dither as dt

ALARM = 1e-6  # false alarms of one statistical test
KINDS = [
    dt.KRR,
    dt.SUE,
    dt.OUE,
    dt.OLH,
    dt.BLH,
    dt.SubsetSelection,
    dt.HadamardResponse,
    dt.ProjectiveResponse,
]
LISTED = [
    dt.KRR,
    dt.SUE,
    dt.OUE,
    dt.SubsetSelection,
    dt.HadamardResponse,
    dt.ProjectiveResponse,
]  # whose whole law is small
FRUIT = dt.Categories(["apple", "banana", "cherry", "date", "elder"])


def names(kinds: list[Any]) -> list[str]:
    return [kind.__name__ for kind in kinds]


def numbered(reports: dt.Reports) -> np.ndarray:
    """Reports as whole numbers: packed bits are read as binary numbers, as `probabilities` lists them."""
    cells = reports.cells
    if reports.mechanism.layout.shape:
        return (cells.astype(np.int64) << (8 * np.arange(cells.shape[-1]))).sum(axis=-1)
    return cells.astype(np.int64)


def p_value(cells: np.ndarray, law: list[Any]) -> float:
    """The chance of counts at least this far from the law; reports that the law forbids give 0."""
    chances = np.array([float(p) for p in law])
    counts = np.bincount(cells.reshape(-1), minlength=chances.size)
    if counts.size > chances.size or counts[chances == 0].any():
        return 0.0
    expected, counts = chances[chances > 0] * cells.size, counts[chances > 0]
    order = np.argsort(expected)
    rare = order[expected[order] < 5]  # rare reports are counted together
    if rare.size > 1:
        expected = np.append(np.delete(expected, rare), expected[rare].sum())
        counts = np.append(np.delete(counts, rare), counts[rare].sum())
    return float(stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), expected.size - 1))


def shares(protocol: Any, answers: np.ndarray, seed: int) -> np.ndarray:
    """How many reports support each category, for seeded reports of these answers."""
    cells = protocol.perturb(answers, source=dt.Seeded(seed)).cells
    return protocol.supports(protocol.counting.count(cells))
