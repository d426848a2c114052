"""Sectors: the law of reports in floats is the exact one, block by block."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt


@pytest.mark.parametrize("sectors", [2, 3, 6, 16])
def test_the_operator_is_the_exact_law_of_the_blocks(sectors: int) -> None:
    kernel = dt.rivals.Sectors(dt.Circle(360), epsilon=1, sectors=sectors, cells=1 << 8).question.kernel
    inputs = np.linspace(0, 360, 37)
    operator = kernel.likelihood(inputs, 64)
    assert operator.shape == (sectors, inputs.size)
    for place, value in enumerate(inputs):
        exact = np.array([float(one) for one in kernel.probabilities(float(value))])
        assert kernel.chances(float(value)) == pytest.approx(exact, rel=1e-14)
        column = operator.forward(np.eye(inputs.size)[place])
        assert column == pytest.approx(exact.reshape(sectors, -1).sum(axis=1), rel=1e-14)


def test_the_operator_counts_every_report_in_its_block() -> None:
    kernel = dt.rivals.Sectors(dt.Circle(360), epsilon=1, sectors=3, cells=1 << 8).question.kernel
    tally = np.arange(kernel.outcomes)
    assert (
        kernel.likelihood(np.zeros(1), 64).counts(tally).tolist() == tally.reshape(3, -1).sum(axis=1).tolist()
    )


def test_many_cells_are_no_obstacle_to_a_distribution() -> None:
    """Listing exact probabilities of 2^16 cells for thousands of inputs took minutes."""
    mechanism = dt.rivals.Sectors(dt.Circle(360), epsilon=4, sectors=8)
    reports = mechanism.perturb(np.full(20_000, 100.0), source=dt.Seeded(3))
    shape = dt.distribution(reports, bins=8, method="likelihood")
    assert shape.probabilities[2] > 0.9
