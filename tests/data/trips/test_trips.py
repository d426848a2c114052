"""Trips in files: what is written is read back, what is broken is refused with a reason."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import data
from dither.data.streams import TRIPS
from dither.errors import InvalidParameter, MissingExtra


def trips(*, timed: bool = True) -> data.Trips:
    places = dt.Paths.of([[(139.1, 35.1), (139.2, 35.25)], [(139.5, 35.5)], [(139.9, 35.9)] * 3])
    times = tuple(f"2026-01-01T08:0{minute}:00Z" for minute in range(6))
    return data.Trips(places, ("a", "b & <c>", "ü"), times if timed else None)


@pytest.mark.parametrize("ending", [ending.removeprefix(".") for ending in TRIPS])
@pytest.mark.parametrize("timed", [True, False])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str, timed: bool) -> None:
    if ending in ("gpkg", "parquet"):
        pytest.importorskip("geopandas")
    file = tmp_path / f"trips.{ending}"
    trips(timed=timed).write(file)
    back = data.Trips.read(str(file))
    np.testing.assert_allclose(back.paths.points, trips().paths.points, atol=1e-7)
    assert back.paths.lengths.tolist() == [2, 1, 3]
    assert back.names == trips().names
    assert list(tmp_path.iterdir()) == [file]
    if timed:
        assert back.times == trips().times
    if not timed:
        assert back.times is None
    assert repr(back) == "Trips(3 with 6 places)"


def test_progress_of_reading_counts_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dither.data.formats.csv.ROWS", 2)
    for ending in TRIPS:
        if ending in (".gpkg", ".parquet"):
            pytest.importorskip("geopandas")
        trips().write(tmp_path / f"trips{ending}")
        done: list[int] = []
        data.Trips.read(tmp_path / f"trips{ending}", progress=done.append)
        assert sum(done) == 6


def test_gpx_of_a_device(tmp_path: Path) -> None:
    file = tmp_path / "ride.gpx"
    file.write_text(
        '<gpx xmlns="http://www.topografix.com/GPX/1/1"><metadata/><wpt lat="1" lon="1"/>'
        '<trk><name>Ride</name><trkseg><trkpt lat="35.1" lon="139.1"><ele>3</ele></trkpt></trkseg>'
        '<trkseg><trkpt lat="35.2" lon="139.2"/><trkpt lat="35.3" lon="139.3"/></trkseg></trk>'
        '<rte><rtept lat="35.4" lon="139.4"/></rte></gpx>'
    )
    found = data.Trips.read(file)
    assert found.names == ("Ride (1)", "Ride (2)", "track 3")
    assert found.paths.lengths.tolist() == [1, 2, 1]
    assert found.paths[1].tolist() == [[139.2, 35.2], [139.3, 35.3]]
    assert found.times is None


def test_csv_as_people_write_it(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("User,Timestamp,Latitude,Longitude\nx,9,35.3,139.3\ny,1,35.5,139.5\nx,10,35.2,139.2\n")
    found = data.Trips.read(file)
    assert found.names == ("x", "y")
    assert found.paths[0].tolist() == [[139.3, 35.3], [139.2, 35.2]]  # 9 comes before 10
    file.write_text("lat,lng\n35.3,139.3\n\n35.4,139.4\n,\n\n")  # blank lines, as spreadsheets leave them
    found = data.Trips.read(file)
    assert found.paths.lengths.tolist() == [2]
    assert found.where(1) == "rows.csv, row 3"
    file.write_bytes(b"id,lat,lon\n\xff,1,2\n")
    with pytest.raises(InvalidParameter, match=r"UTF-8 text in rows\.csv"):
        data.Trips.read(file)


def test_geojson_of_points_and_lines(tmp_path: Path) -> None:
    file = tmp_path / "mixed.geojson"

    def feature(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
        geometry = {"type": kind, "coordinates": coordinates}
        return {"type": "Feature", "properties": properties, "geometry": geometry}

    collection = {
        "type": "FeatureCollection",
        "features": [
            feature("Point", [139.2, 35.2, 17.0], id="p", time="2026-01-02"),
            feature("LineString", [[139.1, 35.1], [139.2, 35.1]], name="line"),
            feature("Point", [139.1, 35.1], id="p", time="2026-01-01"),
            feature("MultiLineString", [[[139.1, 35.1], [139.3, 35.1]], [[139.1, 35.5], [139.2, 35.4]]]),
            feature("Polygon", [[[0, 0], [1, 0], [0, 1], [0, 0]]]),
        ],
    }
    file.write_text(json.dumps(collection))
    found = data.Trips.read(file)
    assert found.paths.lengths.tolist() == [2, 2, 2, 2]
    assert found.names[:2] == ("p", "line")
    assert found.paths[0].tolist() == [[139.1, 35.1], [139.2, 35.2]]  # the points, by time
    file.write_text(json.dumps({"type": "LineString", "coordinates": [[1, 2], [3, 4]]}))
    assert data.Trips.read(file).paths[0].tolist() == [[1, 2], [3, 4]]


def test_geographic_data_frames() -> None:
    pytest.importorskip("geopandas")
    frame = trips().to_frame()
    assert list(frame["id"]) == ["a", "b & <c>", "ü"]
    back = data.Trips.from_frame(frame)
    assert back.paths.lengths.tolist() == [2, 1, 3]
    metres = frame.to_crs("EPSG:32654")
    np.testing.assert_allclose(data.Trips.from_frame(metres).paths.points, back.paths.points, atol=1e-7)
    with pytest.raises(InvalidParameter):
        data.Trips.from_frame([1, 2])
    with pytest.raises(InvalidParameter):
        data.Trips.from_frame(frame.assign(geometry=[None, None, None]).set_geometry("geometry"))


def test_geopandas_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(MissingExtra, match="geo"):
        trips().to_frame()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.gpx", "<gpx><trk>"),
        ("a.gpx", "<gpx></gpx>"),
        ("a.gpx", '<gpx><trk><trkseg><trkpt lat="x" lon="1"/></trkseg></trk></gpx>'),
        ("a.gpx", '<gpx><trk><trkseg><trkpt lon="1"/></trkseg></trk></gpx>'),
        ("a.gpx", '<?xml version="1.0" encoding="UTF-m"?><gpx/>'),
        ("a.geojson", '{"type": "LineString", "coordinates": [[1%s, 1], [1, 2]]}' % ("0" * 400)),
        ("a.geojson", "[" * 100_000),
        ("a.geojson", "{"),
        ("a.geojson", "[1, 2]"),
        ("a.geojson", '{"type": "FeatureCollection", "features": []}'),
        ("a.geojson", '{"type": "LineString", "coordinates": [["a", 1]]}'),
        ("a.geojson", '{"type": "LineString", "coordinates": null}'),
        ("a.geojson", '{"type": "MultiLineString", "coordinates": 3}'),
        ("a.geojson", '{"type": "FeatureCollection", "features": null}'),
        ("a.geojson", '{"type": "Feature", "geometry": [1, 2]}'),
        ("a.geojson", '{"type": "Feature", "geometry": {"type": "Point", "coordinates": 1}}'),
        ("a.csv", "id,lat\n1,2\n"),
        ("a.csv", "id,lat,lon\n"),
        ("a.csv", "id,lat,lon\nx,north,1\n"),
        ("a.csv", "id,lat,lon\nx,1\n"),
        ("a.txt", "?"),
        ("a.gpkg", "?"),
        ("a.parquet", "?"),
    ],
)
def test_broken_files(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InvalidParameter) as caught:
        data.Trips.read(file)
    assert str(caught.value).count(name) == 1
    assert "north" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"cannot find the file .*none\.gpx"):
        data.Trips.read(tmp_path / "none.gpx")


def test_trips_that_do_not_fit() -> None:
    places = dt.Paths.of([[(1, 1)]])
    with pytest.raises(InvalidParameter):
        data.Trips(places, ())
    with pytest.raises(InvalidParameter):
        data.Trips(places, ("a",), ("t", "u"))
