"""What is predicted of quantiles comes true, and the page states the record of it."""

from __future__ import annotations

from tests.support.repository import ROOT
from tools.quantile_errors import CHECKED, OTHERS, TWELVE, others, ratios


def test_predictions_are_within_15_per_cent_and_30_of_other_shapes() -> None:
    """Of the recorded checks: one cell of other shapes is named on the page, the median of a sawtooth."""
    found = ratios()
    assert set(found) == {(which, *cell) for which in (TWELVE, OTHERS) for cell in CHECKED}
    page = (ROOT / "docs" / "rankings.md").read_text(encoding="utf-8")
    for (which, epsilon, n), pair in found.items():
        most = 0.15 if which == TWELVE else 0.3
        for at, (ratio, spread) in enumerate(pair):
            assert f"{ratio:.2f} ± {spread:.2f}" in page
            if (which, epsilon, n, at) != (OTHERS, 2.0, 200_000, 0):
                assert abs(ratio - 1) <= most


def test_other_shapes_are_distributions() -> None:
    for cdf in others():
        assert cdf[0] == 0
        assert (cdf[1:] >= cdf[:-1]).all()
        assert 0 < cdf[-1] <= 1.000001  # scaled where people are drawn
