"""Reports of trips: a file alone gives them back, and what no device can have sent is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither import data
from dither.data.streams import TRIPS
from dither.data.trips import reports as trip_reports
from dither.data.trips.reports import read_trip_specification
from dither.errors import InvalidParameter, MalformedReport, OutsideDomain
from dither.estimation import maps
from dither.mechanisms.places.base import PathMechanism

BOX = dt.Rectangle(dt.Interval(139.0, 140.0), dt.Interval(35.0, 36.0))
LOCAL = maps.LocalMap.of(BOX)
METRES = LOCAL.rectangle(BOX)


def drives(*, timed: bool = True) -> data.Trips:
    places = dt.Paths.of([[(139.1, 35.1), (139.2, 35.25)], [(139.5, 35.5)], [(139.9, 35.9)] * 3])
    times = tuple(
        f"2026-01-01T08:0{9 - minute}:00Z" for minute in range(6)
    )  # against the order of the places
    return data.Trips(places, ("a", "b & <c>", "ü"), times if timed else None)


@pytest.mark.parametrize("ending", TRIPS)
@pytest.mark.parametrize("keep_times", [True, False])
def test_a_file_alone_gives_the_reports_back(tmp_path: Path, ending: str, keep_times: bool) -> None:
    if ending in (".gpkg", ".parquet"):
        pytest.importorskip("geopandas")
    path, out = tmp_path / f"in{ending}", tmp_path / f"out{ending}"
    drives().write(path)
    question = dt.TraCSD(METRES, epsilon=4)
    written = data.perturb_trips(path, out, question, projection=LOCAL, keep_times=keep_times)
    read = data.TripReports.read(out)
    assert read.reports == written.reports
    assert read.question == written.question == question.question
    assert read.projection == written.projection == LOCAL
    assert read.trips.names == ("a", "b & <c>", "ü")
    assert read.trips.times == (data.Trips.read(path).times if keep_times else None)
    np.testing.assert_allclose(read.trips.paths.points, written.trips.paths.points, rtol=0, atol=1e-7)
    np.testing.assert_allclose(
        read.trips.paths.points, LOCAL.to_earth(read.reports.values), rtol=0, atol=1e-7
    )
    assert len(read) == 3
    assert repr(read) == "TripReports(3 trips with 6 locations, by TraCSD)"
    assert read.trips.specification is None


@pytest.mark.parametrize("ending", [".gpx", ".csv", ".geojson", ".parquet"])
def test_trips_of_one_name_keep_the_order_of_their_reports(tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("geopandas")
    own = data.Trips(dt.Paths.of([[(139.1, 35.1)], [(139.9, 35.9)]]), ("a", "a"), ("2", "1"))
    drawn = data.TripReports.draw(own, dt.TraCSC(BOX, epsilon=40), keep_times=True)
    drawn.write(tmp_path / f"out{ending}")
    assert data.TripReports.read(tmp_path / f"out{ending}").reports == drawn.reports


def test_degrees_and_metres() -> None:
    exact = dt.TraCSD(BOX, epsilon=40)
    done: list[int] = []
    noisy = data.TripReports.draw(drives(), exact, source=dt.Seeded(1), progress=done.append)
    assert sum(done) == 6
    assert noisy.projection is None
    assert noisy.trips.times is None
    assert maps.average_error(drives().paths, noisy.trips.paths) < 0.02
    flat = dt.TraCSD(METRES, epsilon=40)
    metres = data.TripReports.draw(drives(), flat, projection=LOCAL, keep_times=True, source=dt.Seeded(1))
    assert metres.trips.times == drives().times
    assert maps.average_error(drives().paths, metres.trips.paths, sphere=dt.Sphere()) < 2_000.0


def test_without_a_projection_the_file_says_so(tmp_path: Path) -> None:
    out = tmp_path / "out.geojson"
    data.TripReports.draw(drives(), dt.TraCSC(BOX, epsilon=4, inner=dt.SW)).write(out)
    read = data.TripReports.read(out)
    assert read.projection is None
    assert maps.density(read.reports, 3, 3).n == 6


def test_another_projection(tmp_path: Path) -> None:
    pytest.importorskip("pyproj")
    system = maps.ReferenceMap("EPSG:32654")
    question = dt.TraCSC(system.rectangle(BOX), epsilon=4)
    data.TripReports.draw(drives(), question, projection=system).write(tmp_path / "out.gpx")
    assert data.TripReports.read(tmp_path / "out.gpx").projection == system


def test_a_projection_that_cannot_be_written(tmp_path: Path) -> None:
    class Own(maps.Map):
        def to_plane(self, places: object) -> Any:
            return np.asarray(places)

        def to_earth(self, places: object) -> Any:
            return np.asarray(places)

    drawn = data.TripReports.draw(drives(), dt.TraCSC(BOX, epsilon=4), projection=Own())
    with pytest.raises(InvalidParameter, match="expected a LocalMap or a ReferenceMap in a file, got Own"):
        drawn.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("projection", [None, LOCAL])
def test_locations_outside(tmp_path: Path, projection: maps.Map | None) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("id,lat,lon\na,35.5,139.5\na,35.5,141.25\n")
    question = dt.TraCSD(BOX if projection is None else METRES, epsilon=40)
    with pytest.raises(OutsideDomain, match=r"in\.csv, row 2: .*outside='clip'") as caught:
        data.perturb_trips(path, out, question, projection=projection)
    assert "141" not in str(caught.value)
    assert not out.exists()
    clip: dict[str, Any] = {"projection": projection, "outside": "clip"}
    drawn = data.perturb_trips(path, out, question, **clip, source=dt.Seeded(1))
    assert abs(drawn.trips.paths.points[1, 0] - 140.0) < 0.05
    path.write_text("id,lat,lon\na,135.5,139.5\n")
    if projection is not None:
        with pytest.raises(OutsideDomain, match=r"in\.csv, row 1"):
            data.perturb_trips(path, out, question, **clip)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"outside": "clp"}, "did you mean clip"),
        ({"keep_times": True}, "a time for every location"),
    ],
)
def test_options_that_cannot_be_honoured(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        data.TripReports.draw(drives(timed=False), dt.TraCSC(BOX, epsilon=4), **options)
    assert hint in str(caught.value)


def test_an_unknown_ending_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidParameter, match=r"out\.kml: expected trips in a file that ends in one of"):
        data.perturb_trips("not_there.csv", "out.kml", dt.TraCSC(BOX, epsilon=4))


def test_what_is_not_for_trips() -> None:
    with pytest.raises(InvalidParameter, match="TraCSC"):
        data.TripReports.draw(drives(), dt.Podium(dt.Interval(0, 1), epsilon=1))  # type: ignore[arg-type]
    answers = dt.Podium(dt.Interval(0, 1), epsilon=1).perturb([0.5] * 6)
    with pytest.raises(InvalidParameter):
        data.TripReports(answers, None, drives())
    drawn = data.TripReports.draw(drives(), dt.TraCSC(BOX, epsilon=4))
    with pytest.raises(InvalidParameter, match="one report"):
        replace(drawn, reports=drawn.reports[:3])


def test_many_trips_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches end between paths, and the law is the same as in one go."""
    monkeypatch.setattr("dither.data.trips.reports.BATCH", 50)
    rng = np.random.default_rng(1)
    many = [rng.random((length, 2)) + np.array([139, 35]) for length in rng.integers(1, 120, 40)]
    own = data.Trips(dt.Paths.of(many), tuple(map(str, range(40))))
    done: list[int] = []
    question = dt.TraCSD(BOX, epsilon=45.0)
    noisy = data.TripReports.draw(own, question, source=dt.Seeded(1), progress=done.append)
    assert sum(done) == len(own.paths.points)
    assert len(done) > 10
    assert maps.average_error(own.paths, noisy.trips.paths) < 0.05


def _written(folder: Path, question: PathMechanism | None = None) -> Path:
    out = folder / "out.csv"
    data.TripReports.draw(drives(), question or dt.TraCSC(BOX, epsilon=4), keep_times=True).write(out)
    return out


def test_a_trip_whose_beginning_was_cut_off(tmp_path: Path) -> None:
    """Without the check its locations would be decoded as those of the trip before."""
    out = _written(tmp_path)
    lines = out.read_text().splitlines()
    out.write_text("\n".join([*lines[:5], *lines[6:]]) + "\n")  # the first of three places of the last trip
    with pytest.raises(MalformedReport, match=r"out\.csv, row 4: .* its first reports are missing"):
        data.TripReports.read(out)


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        (lambda given: given | {"mechanism": None}, "cannot be read"),
        (lambda given: given | {"map": {"planet": "Mars"}}, "cannot be read"),
        (
            lambda given: given | {"map": {"local": [139.5, 95.0]}},
            "cannot be read: expected the latitude of a local map's centre",
        ),
        (lambda given: {"map": None}, "cannot be read"),
        (lambda given: [], "cannot be read"),
        (lambda given: given | {"mechanism": _podium()}, "Podium, which is not for trips"),
    ],
)
def test_specifications_that_cannot_be_read(tmp_path: Path, change: Any, hint: str) -> None:
    out = _written(tmp_path)
    head, _, rest = out.read_text().partition("\n")
    given = json.loads(head.removeprefix("# dither "))
    out.write_text(f"# dither {json.dumps(change(given))}\n{rest}")
    with pytest.raises(MalformedReport, match=r"out\.csv: the specification") as caught:
        data.TripReports.read(out)
    assert hint in str(caught.value)


def _podium() -> Any:
    return json.loads(dt.Podium(dt.Interval(0, 1), epsilon=1).to_json())


def test_reports_that_no_device_sends(tmp_path: Path) -> None:
    out = _written(tmp_path, dt.TraCSC(BOX, epsilon=4))
    lines = out.read_text().splitlines()
    for forged, hint in [("0500" + "00" * 4, "out.csv: "), ("01", "out.csv, row 1: this is not a report of")]:
        begin, _, _ = lines[2].rpartition(",")
        out.write_text("\n".join([*lines[:2], f"{begin},{forged}", *lines[3:]]) + "\n")
        with pytest.raises(MalformedReport) as caught:
            data.TripReports.read(out)
        assert str(caught.value).startswith(hint)


def test_tables_and_trips_are_not_mixed_up(tmp_path: Path) -> None:
    out = _written(tmp_path)
    with pytest.raises(MalformedReport, match=r"out\.csv holds randomised trips; use .*TripReports"):
        data.summarise_file(out)
    table, reports = tmp_path / "in.csv", tmp_path / "reports.csv"
    table.write_text("lat,lon\n35.5,139.5\n")
    with pytest.raises(MalformedReport, match=r"in\.csv carries no reports of trips; .*perturb_trips"):
        data.TripReports.read(table)
    data.perturb_file(table, reports, {"lat": dt.Podium(dt.Interval(0, 90), epsilon=1)}, keep=["lon"])
    with pytest.raises(MalformedReport, match=r"reports\.csv carries no reports of trips"):
        data.TripReports.read(reports)


@pytest.mark.parametrize(
    "crs",
    [
        "+proj=longlat +nadgrids=/etc/passwd",
        "+proj=pipeline +step +proj=utm +zone=54",
        "urn:ogc:def:crs:EPSG::32654",
        'PROJCS["x"]',
        "/tmp/file.json",
        "EPSG:32654 ",
        "epsg",
        32654,
        None,
        ["EPSG:32654"],
    ],
    ids=repr,
)
def test_a_crs_in_a_file_is_an_authority_code(crs: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else reaches PROJ, which would open files and addresses."""
    asked: list[str] = []
    monkeypatch.setattr(trip_reports, "ReferenceMap", asked.append)
    square = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    inner = json.loads(dt.TraCSD(square, epsilon=2).to_json())
    with pytest.raises(MalformedReport):
        read_trip_specification(json.dumps({"mechanism": inner, "map": {"crs": crs}}))
    assert not asked
    read_trip_specification(json.dumps({"mechanism": inner, "map": {"crs": "EPSG:32654"}}))
    assert asked == ["EPSG:32654"]


@pytest.mark.parametrize("ending", [".csv", ".geojson", ".gpx"])
def test_complete_trips_have_one_report_each(tmp_path: Path, ending: str) -> None:
    box = dt.Rectangle(dt.Interval(139.4, 140.0), dt.Interval(35.5, 36.0))
    lines = [[(139.5, 35.55 + a / 20), (139.9, 35.55 + b / 20)] for a in range(3) for b in range(3)]
    design = dt.Optimal(dt.Routes(box, points=3), epsilon=4, prior=(lines, "lines of the city"))
    rows = ["id,lat,lon", "ride,35.70,139.70", "ride,35.68,139.75", "ride,35.6,139.8", "walk,35.66,139.72"]
    (tmp_path / "in.csv").write_text("\n".join(rows))
    written = data.perturb_trips(tmp_path / "in.csv", tmp_path / f"out{ending}", design)
    told = data.TripReports.read(tmp_path / f"out{ending}")
    assert told.of_routes
    assert (told.reports.cells == written.reports.cells).all()
    assert told.reports.cells.shape == (2,)
    assert told.trips.paths.lengths.tolist() == [3, 3]
    np.testing.assert_allclose(told.trips.paths.points, told.reports.values.reshape(-1, 2), atol=1e-6)
    assert dt.maps.density(told.reports, 2, 2).n == 2
    own = written.resample(data.Trips.read(tmp_path / "in.csv"))
    assert own.paths.lengths.tolist() == [3, 3]
    with pytest.raises(InvalidParameter, match="keep_times"):
        data.perturb_trips(tmp_path / "in.csv", tmp_path / "x.csv", design, keep_times=True)
    if ending == ".csv":
        text = (tmp_path / "out.csv").read_text().splitlines()
        number = int(text[2].rsplit(",", 1)[1])
        text[2] = text[2].rsplit(",", 1)[0] + f",{(number + 1) % design.routes.outcomes}"
        (tmp_path / "bad.csv").write_text("\n".join(text))
        with pytest.raises(MalformedReport, match="one report"):
            data.TripReports.read(tmp_path / "bad.csv")


def test_complete_trips_with_times_are_resampled_to_equal_steps_of_time(tmp_path: Path) -> None:
    box = dt.Rectangle(dt.Interval(0, 4), dt.Interval(0, 4))
    lines = [[(a, a), (b, 3)] for a in range(3) for b in range(3)]
    routes = dt.Routes(box, points=3, by="order")
    design = dt.Optimal(routes, epsilon=50, prior=([*lines, [(0, 0), (3, 0), (4, 0)]], "lines"))
    kernel = design.routes
    assert kernel.paths.tolist() != []
    rows = [
        "id,time,lat,lon",
        *(f"ride,2026-05-01T08:{m:02}:00Z,0,{x}" for m, x in ((0, 0), (1, 3), (10, 4))),
    ]
    (tmp_path / "in.csv").write_text("\n".join(rows))
    trips = data.Trips.read(tmp_path / "in.csv")
    written = data.perturb_trips(tmp_path / "in.csv", tmp_path / "out.csv", design, source=dt.Seeded(1))
    middle = (3 + 4 / 9, 0.0)  # five minutes after the begin
    expected = routes.check([[(0, 0), middle, (4, 0)]])
    assert (written.reports.cells == kernel.nearest(expected)).all()
    np.testing.assert_allclose(written.resample(trips).paths[0][1], middle, atol=1e-3)
    (tmp_path / "bad.csv").write_text("\n".join(rows).replace("2026-05-01T08:01:00Z", "a minute later"))
    with pytest.raises(InvalidParameter, match="ISO time stamp"):
        data.perturb_trips(tmp_path / "bad.csv", tmp_path / "out.csv", design)
