"""Several quantiles at once: a sequence of estimates with a frame and a picture."""

import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.results import EstimatedQuantiles


def test_a_list_of_shares_has_a_frame_and_a_picture() -> None:
    age = dt.SW(dt.Interval(0, 100, unit="years"), epsilon=4)
    reports = age.perturb([20, 40, 60, 80] * 500, source=dt.Seeded(1))
    found = dt.quantile(reports, [0.1, 0.6])
    assert isinstance(found, EstimatedQuantiles)
    low, high = found
    assert (len(found), found[1], repr(found)) == (2, high, f"[{low!r}, {high!r}]")
    frame = found.to_frame()
    assert list(frame.columns) == ["quantile", "value", "low", "high", "n"]
    assert frame["value"].tolist() == [float(low), float(high)]
    axes = found.plot(title="age")
    assert axes.get_title().startswith("age\nn = 2 000")
    assert [tick.get_text() for tick in axes.get_yticklabels()][::-1] == [
        "0.1 of the people",
        "0.6 of the people",
    ]
    assert "years" in axes.get_xlabel()
    with pytest.raises(InvalidParameter, match="expected q to have at least one share"):
        dt.quantile(reports, [])
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        dt.quantile(reports, [0.5, 2])
