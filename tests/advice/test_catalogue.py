"""The protocol of a question that names none: the smallest variance, then the shortest report."""

from __future__ import annotations

import pytest

import dither as dt
from dither import mechanisms
from dither.advice.catalogue import default_protocol
from dither.mechanisms.optimal.problem import least_frequency_variance


@pytest.mark.parametrize(
    ("k", "epsilon", "kind"),
    [
        (2, 1.0, mechanisms.RR),
        (3, 2.0, dt.KRR),
        (8, 2.0, dt.KRR),
        (16, 1.0, mechanisms.SubsetIndices),
        (64, 3.3, mechanisms.SubsetIndices),
        (64, 2.0, dt.ProjectiveResponse),
        (1024, 1.0, dt.ProjectiveResponse),
        (1024, 8.0, dt.KRR),
        (1 << 21, 1.0, dt.OLH),
        (100_000, 5.0, dt.OLH),
        (100_000, 8.0, dt.OLH),
        (10_000, 7.0, mechanisms.SubsetIndices),
    ],
)
def test_the_choice(k: int, epsilon: float, kind: type) -> None:
    assert isinstance(default_protocol(dt.Categories(k), epsilon), kind)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 3.0, 3.3, 4.0, 6.0])
def test_the_default_is_near_the_best_possible(epsilon: float) -> None:
    for k in (2, 3, 5, 8, 16, 40, 64, 100, 256, 700, 1024, 5000):
        chosen = default_protocol(dt.Categories(k), epsilon)
        ratio = chosen.variance(1 / k) / least_frequency_variance(k, epsilon)
        assert 1 - 1e-6 <= ratio <= 1.10, (k, epsilon, type(chosen).__name__)


@pytest.mark.parametrize("k", [10_000, 31_622, 56_234, 100_000])
def test_of_very_many_categories_it_is_at_most_four_per_cent_above(k: int) -> None:
    """It was 1.15 times the bound at k = 10⁵ and ε = 5, and 2.8 times at ε = 8."""
    for epsilon in (0.5, 1.0, 2.0, 3.5, 5.0, 6.0, 6.75, 7.0, 7.5, 8.0):
        chosen = default_protocol(dt.Categories(k), epsilon)
        assert chosen.variance(1 / k) <= 1.04 * least_frequency_variance(k, epsilon), (k, epsilon)


@pytest.mark.parametrize("k", [2, 5, 64, 300])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_no_protocol_is_below_the_bound(k: int, epsilon: float) -> None:
    """Subset selection attains it; every other mechanism of the comparison is above."""
    table = dt.compare(dt.Categories(k), epsilon=epsilon)
    ratios = {row["mechanism"]: row["relative average variance"] for row in table}
    assert min(ratios.values()) >= 1 - 1e-6
    assert ratios["SubsetSelection"] <= 1.02


def test_campaigns_use_it() -> None:
    campaign = dt.Questionnaire.from_toml("[questions.browser]\ncategories = 1000\nepsilon = 1")
    assert campaign.questions["browser"].name == "ProjectiveResponse"
