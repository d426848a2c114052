"""Polars expressions: `pl.col("minutes").dither.perturb(mechanism)`."""

from __future__ import annotations

import numpy as np
import pytest

import dither as dt

pl = pytest.importorskip("polars")

MINUTES = dt.Podium(dt.Interval(0, 180), epsilon=1)


def test_polars_expressions() -> None:
    import dither.data.frames.polars  # noqa: F401

    frame = pl.DataFrame({"minutes": np.linspace(0, 180, 1000)})
    out = frame.with_columns(pl.col("minutes").dither.perturb(MINUTES).alias("report"))
    assert out["report"].dtype == pl.UInt16
    assert dt.data.summarise(out, {"report": MINUTES})["report"].n == 1000
    two = frame.select(
        pl.col("minutes").dither.perturb(MINUTES).alias("a"),
        pl.col("minutes").dither.perturb(MINUTES).alias("b"),
    )
    assert not two["a"].equals(two["b"])
    with pytest.raises(Exception, match="public"):
        pl.DataFrame({"minutes": [1.0, None]}).select(pl.col("minutes").dither.perturb(MINUTES))
    skipped = pl.col("minutes").dither.perturb(MINUTES, missing="skip")
    assert pl.DataFrame({"minutes": [1.0, None]}).select(skipped)["minutes"].is_null().to_list() == [
        False,
        True,
    ]
