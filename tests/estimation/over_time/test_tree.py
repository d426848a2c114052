"""Least squares on a tree of intervals, against the normal equations of linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from dither.estimation.over_time.tree import NoisySums, running_sums


def solved(levels: list[NoisySums], days: int, smoothing: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same estimates by the inverse of a matrix: (AᵀWA)⁻¹AᵀWz, for each day's average."""
    rows, values, weights = [], [], []
    for height, level in enumerate(levels):
        for place, (value, variance) in enumerate(zip(level.values, level.variances, strict=True)):
            row = np.zeros(days - 1)
            row[place << height : (place + 1) << height] = 1.0
            rows.append(row)
            values.append(value)
            weights.append(1.0 / variance)
    design, weight = np.array(rows), np.array(weights)
    covariance = np.linalg.inv(design.T @ (weight[:, None] * design))
    daily = covariance @ design.T @ (weight * np.array(values))
    sums = np.tril(np.ones((days, days - 1)), -1)
    half = smoothing // 2
    means = np.array([sums[max(0, day - half) : day + half + 1].mean(axis=0) for day in range(days)])
    return means @ daily, np.einsum("ij,jk,ik->i", means, covariance, means)


@pytest.mark.parametrize("days", [2, 3, 4, 9, 16, 33, 50])
@pytest.mark.parametrize("smoothing", [1, 3, 7])
def test_running_sums_are_those_of_least_squares(days: int, smoothing: int) -> None:
    rng = np.random.default_rng(days)
    levels = []
    for height in range((days - 1).bit_length()):
        size = -(-(days - 1) // (1 << height))
        levels.append(NoisySums(rng.normal(size=size), rng.uniform(0.1, 3.0, size)))
    smoothing = min(smoothing, 2 * days - 1)
    for found, wanted in zip(
        running_sums(levels, days, smoothing), solved(levels, days, smoothing), strict=True
    ):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_all_levels_together_have_a_smaller_variance_than_the_fewest_intervals() -> None:
    """A running sum of 364 days from nine levels: plain dyadic sums have a variance of up to 8 intervals."""
    days = 365
    levels = [
        NoisySums(np.zeros(-(-(days - 1) // (1 << height))), np.ones(-(-(days - 1) // (1 << height))))
        for height in range(9)
    ]
    _, variances = running_sums(levels, days)
    plain = np.array([bin(day).count("1") for day in range(days)])
    assert variances[0] == 0.0
    assert (variances <= plain + 1e-12).all()
    assert variances.mean() < 0.4 * plain.mean()
