"""Files that a release wrote are read, in every layout."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither import data
from dither.estimation import maps

FOLDER = Path(__file__).parent / "files"
EXPECTED = json.loads((FOLDER / "expected-2.json").read_text())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("table-*")), ids=lambda path: path.name)
def test_tables_are_read(path: Path) -> None:
    if path.suffix in (".parquet", ".arrow"):
        pytest.importorskip("pyarrow")
    found = data.summarise_file(path)
    assert set(found) == {"minutes", "tag", "browser"}
    for name, summary in found.items():
        mechanism = summary.question
        cells = np.array(EXPECTED[name], dtype=mechanism.layout.base)
        assert summary.n == 24
        assert np.array_equal(summary.counts, dt.Counts.of(mechanism.reports(cells)).counts)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("trips-*")), ids=lambda path: path.name)
def test_trips_are_read(path: Path, tmp_path: Path) -> None:
    if path.suffix == ".parquet":
        geopandas = pytest.importorskip("geopandas")
        package = tmp_path / "trips.gpkg"  # the same columns; a GeoPackage is too large to keep here
        geopandas.read_parquet(path).to_file(package, driver="GPKG", layer="trips")
        _check(package)
    if "crs" in path.name:
        pytest.importorskip("pyproj")
    _check(path)


def _check(path: Path) -> None:
    read = data.TripReports.read(path)
    label = "crs" if "crs" in path.name else "local"
    assert read.reports.cells.tolist() == EXPECTED[label]
    assert read.trips.names == ("ride 1", "b & <c>", "ü")
    assert read.projection is not None
    decoded = read.projection.to_earth(read.reports.values)
    np.testing.assert_allclose(read.trips.paths.points, decoded, rtol=0, atol=1e-7)
    if label == "local":
        assert read.projection == maps.LocalMap(139.7, 35.75)
        assert read.trips.times == tuple(f"2026-05-01T08:0{minute}:00Z" for minute in range(9))
    else:
        assert read.projection == maps.ReferenceMap("EPSG:32654")
        assert read.trips.times is None
