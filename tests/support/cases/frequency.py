"""One table: every frequency mechanism. Every law of this folder runs over it."""

from __future__ import annotations

from typing import Any

import numpy as np

import dither as dt

KINDS = [
    dt.KRR,
    dt.rivals.SUE,
    dt.OUE,
    dt.OLH,
    dt.rivals.BLH,
    dt.SubsetSelection,
    dt.HadamardResponse,
    dt.ProjectiveResponse,
]
LISTED = [
    dt.KRR,
    dt.rivals.SUE,
    dt.OUE,
    dt.SubsetSelection,
    dt.HadamardResponse,
    dt.ProjectiveResponse,
]  # whose whole law is small
FRUIT = dt.Categories(["apple", "banana", "cherry", "date", "elder"])


def names(kinds: list[Any]) -> list[str]:
    return [kind.__name__ for kind in kinds]


def numbered(reports: dt.Reports) -> np.ndarray:
    """Reports as integers: packed bits are read as binary numbers, as `probabilities` lists them."""
    cells = reports.cells
    if reports.question.layout.shape:
        return (cells.astype(np.int64) << (8 * np.arange(cells.shape[-1]))).sum(axis=-1)
    return cells.astype(np.int64)


def shares(protocol: Any, answers: np.ndarray, seed: int) -> np.ndarray:
    """How many reports support each category, for seeded reports of these answers."""
    cells = protocol.perturb(answers, source=dt.Seeded(seed)).cells
    return protocol.supports(protocol.question.counting.count(cells))
