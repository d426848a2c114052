"""`dither trajectory`: trips in, noisy trips out, maps from them; what is refused says where, never what."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither import data, results
from dither.estimation import maps
from tests.support import terminal

BOX = ("--box", 139.4, 35.5, 140.0, 36.0)
SECRET = "139.7654321"


run = partial(terminal.run, "trajectory")


def made(folder: Path, ending: str, count: int = 8) -> Path:
    random = np.random.default_rng(1)
    places = [random.normal((139.6, 35.7), 0.03, (int(size), 2)) for size in random.integers(2, 9, count)]
    own = dt.Paths.of(places)
    times = tuple(f"2026-05-01T08:00:{second:02d}Z" for second in range(len(own.points)))
    file = folder / f"in.{ending}"
    data.Trips(own, tuple(f"ride {number}" for number in range(count)), times).write(file)
    return file


@pytest.mark.some(every=3)
@pytest.mark.parametrize("ending", ["gpx", "geojson", "csv"])
@pytest.mark.parametrize("into", ["gpx", "geojson", "csv"])
def test_every_format_to_every_other(tmp_path: Path, ending: str, into: str) -> None:
    file, out = made(tmp_path, ending), tmp_path / f"out.{into}"
    result = run("perturb", file, *BOX, "--epsilon", 2, "-o", out)
    assert result.exit_code == 0, result.output
    assert "ε ≤ 2 for one location" in result.output
    true, told = data.Trips.read(file), data.Trips.read(out)
    assert told.names == true.names
    assert told.paths.lengths.tolist() == true.paths.lengths.tolist()
    assert told.times is None
    assert not np.isclose(told.paths.points, true.paths.points, atol=1e-6).all(axis=1).any()
    assert list(tmp_path.glob(".*")) == []
    asked = run("density", out, "--columns", 4, "--rows", 4, "--json")
    assert asked.exit_code == 0, asked.output
    found = json.loads(asked.output)
    assert found["n"] == len(true.paths.points)
    assert np.sum(found["probabilities"]) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["tracs-c", "tracs-d", "planar-laplace", "gridding", "strawman"])
def test_what_is_written_is_what_the_reports_say(tmp_path: Path, kind: str) -> None:
    """The file's places are those of its reports, read by the specification that it carries."""
    file, out = made(tmp_path, "csv"), tmp_path / "out.geojson"
    words = ("--mechanism", kind, "--epsilon", 4, "--keep-times", "-o", out, "--json")
    result = run("perturb", file, *BOX, *words)
    answer = json.loads(result.stdout)
    assert answer["places"] == len(data.Trips.read(file).paths.points)
    assert answer["mechanism"].lower() == kind.replace("-", "")
    told = data.Trips.read(out)
    assert told.times == data.Trips.read(file).times
    given = json.loads(told.specification)
    mechanism = dt.from_json(json.dumps(given["mechanism"]))
    cells = [list(np.frombuffer(bytes.fromhex(text), mechanism.layout.base)) for text in told.reports or ()]
    local = maps.LocalMap(*given["map"]["local"])
    np.testing.assert_allclose(
        local.to_earth(mechanism.reports(cells).values), told.paths.points, rtol=0, atol=2e-7
    )


def test_a_budget_for_a_trajectory_and_other_areas(tmp_path: Path) -> None:
    file, out = made(tmp_path, "gpx"), tmp_path / "out.gpx"
    result = run("perturb", file, *BOX, "--epsilon", 20, "--unit", "trajectory", "-o", out)
    assert "ε ≤ 20 for one trajectory, assuming" in result.output
    assert run("density", out, "--columns", 3, "--rows", 3).exit_code == 0
    disk = run("perturb", file, "--disk", 139.6, 35.7, 30_000, "--epsilon", 2, "-o", out, "--force")
    assert "TraCSD" in disk.output  # on a disk there is no other
    inner = run(
        "perturb", file, *BOX, "--epsilon", 2, "--mechanism", "tracs-d", "--inner", "sw", "-o", out, "--force"
    )
    assert inner.exit_code == 0
    pytest.importorskip("pyproj")
    assert (
        run("perturb", file, *BOX, "--crs", "EPSG:32654", "--epsilon", 2, "-o", out, "--force").exit_code == 0
    )
    assert run("density", out, "--columns", 3, "--rows", 3).exit_code == 0


def test_a_polygon(tmp_path: Path) -> None:
    shapely = pytest.importorskip("shapely")
    ring = [[139.4, 35.5], [140.0, 35.5], [139.4, 36.0], [139.4, 35.5]]
    area = tmp_path / "area.geojson"
    area.write_text(json.dumps({"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}}))
    file, out = made(tmp_path, "csv"), tmp_path / "out.csv"
    result = run("perturb", file, "--polygon", area, "--epsilon", 1, "-o", out)
    assert result.exit_code == 0, result.output
    inside = shapely.Polygon(ring).buffer(1e-3)
    assert all(inside.covers(shapely.Point(place)) for place in data.Trips.read(out).paths.points)
    area.write_text('{"type": "Point"}')
    refused = run("perturb", file, "--polygon", area, "--epsilon", 1, "-o", out)
    assert refused.exit_code == 2
    assert "polygon" in refused.output


@pytest.mark.parametrize("ending", ["gpkg", "parquet"])
def test_geographic_data_frames_in_files(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("geopandas")
    file, out = made(tmp_path, ending), tmp_path / f"out.{ending}"
    assert run("perturb", file, *BOX, "--epsilon", 2, "-o", out).exit_code == 0
    asked = run("density", out, "--columns", 4, "--rows", 4, "--json")
    assert asked.exit_code == 0, asked.output
    assert json.loads(asked.output)["n"] == len(data.Trips.read(file).paths.points)


@pytest.mark.slow
def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file, out = made(tmp_path, "csv"), tmp_path / "out.csv"
    result = run("perturb", file, *BOX, "--epsilon", 8, "-o", out, "--plot", tmp_path / "picture.png")
    assert "do not publish it" in result.output
    assert (tmp_path / "picture.png").stat().st_size > 5_000
    shown = run(
        *("density", out, "--columns", 6, "--rows", 5, "--plot", tmp_path / "map.png"),
        *("--share", 139.5, 35.6, 139.7, 35.8, "-o", tmp_path / "map.geojson"),
    )
    assert "139.5 35.6 139.7 35.8: " in shown.output
    assert (tmp_path / "map.png").stat().st_size > 5_000
    cells = json.loads((tmp_path / "map.geojson").read_text())["features"]
    assert len(cells) == 30
    assert sum(cell["properties"]["share"] for cell in cells) == pytest.approx(1.0)


@pytest.mark.slow
def test_mechanisms_side_by_side() -> None:
    rows = json.loads(run("compare", *BOX, "--epsilon", 2, "--json").output)
    assert [row["mechanism"] for row in rows][:3] == ["TraCSD, fixed reference", "TraCSC", "Gridding"]
    assert 15_000 < rows[0]["error_metres"] < 30_000
    assert all(row["epsilon_spent"] <= 2 for row in rows)
    assert "TraCSD, fixed reference    19,9" in run("compare", *BOX, "--epsilon", 2).output
    assert "TraCSC" not in run("compare", "--disk", 139.6, 35.7, 30_000, "--epsilon", 2).output


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        (f"x,{SECRET},35.6,extra", "row 3: expected 3 fields as in the header, got 4"),
        (f"x,35.6,{SECRET}x", "row 3, column 'lon'"),
        ("x,35.6,", "row 3, column 'lon'"),
        ("x,nan,139.6", "row 3, column 'lat'"),
        ("x", "row 3: expected 3 fields as in the header, got 1"),
    ],
)
def test_a_bad_place_is_named_only_by_its_location_in_the_file(tmp_path: Path, row: str, hint: str) -> None:
    file, out = tmp_path / "trips.csv", tmp_path / "out.csv"
    file.write_text(f"id,lat,lon\nx,35.6,139.6\nx,35.6,139.7\n{row}\ny,35.6,139.6\n")
    result = run("perturb", file, *BOX, "--epsilon", 2, "-o", out)
    assert result.exit_code == 2
    assert "trips.csv" in result.output
    assert hint in result.output.replace("\n", " ")
    assert SECRET[4:] not in result.output
    assert not out.exists()
    assert list(tmp_path.glob(".*")) == []


def test_places_outside_may_be_moved_to_the_border(tmp_path: Path) -> None:
    file = made(tmp_path, "gpx")
    words = ("--box", 139.6, 35.6, 140.0, 36.0, "--epsilon", 2, "-o", tmp_path / "out.gpx")
    refused = run("perturb", file, *words)
    assert refused.exit_code == 2
    assert "trip 1, place " in refused.output
    assert run("perturb", file, *words, "--outside", "clip").exit_code == 0


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((), "not taken from the data"),
        ((*BOX, "--disk", 139, 35, 100), "not taken from the data"),
        (("--box", 140, 35.5, 139, 36), "below"),
        (("--box", 139, 35.5, 500, 36), "−180 to 180"),
        ((*BOX, "--plot", "picture.xyz"), ".png"),
        ((*BOX, "--epsilon", -1), "positive"),
        ((*BOX, "--mechanism", "magic"), "tracs-d"),
        (("--disk", 139.6, 35.7, 30_000, "--mechanism", "tracs-c"), "TraCSC"),
        ((*BOX, "--mechanism", "strawman", "--inner", "sw"), "--inner only with tracs-c and tracs-d"),
    ],
)
def test_wrong_words(tmp_path: Path, words: tuple[object, ...], hint: str) -> None:
    given = (*words, *(() if "--epsilon" in words else ("--epsilon", 1)))
    result = run("perturb", made(tmp_path, "csv"), *given, "-o", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert hint in result.output


def test_times_that_are_not_there_cannot_be_kept(tmp_path: Path) -> None:
    file, out = tmp_path / "in.csv", tmp_path / "out.csv"
    file.write_text("id,time,lat,lon\nx,1,35.6,139.6\nx,,35.6,139.7\n")
    refused = run("perturb", file, *BOX, "--epsilon", 2, "--keep-times", "-o", out)
    assert refused.exit_code == 2
    assert "a time for every location" in refused.output
    assert not out.exists()


def test_the_file_is_read_from_python_too(tmp_path: Path) -> None:
    file, out = made(tmp_path, "gpx"), tmp_path / "out.gpx"
    run("perturb", file, *BOX, "--epsilon", 2, "-o", out)
    read = data.TripReports.read(out)
    assert read.question.guarantee.epsilon <= 2
    assert read.projection == maps.LocalMap(139.7, 35.75)
    decoded = read.projection.to_earth(read.reports.values)
    np.testing.assert_allclose(decoded, data.Trips.read(out).paths.points, rtol=0, atol=2e-7)


def test_a_map_of_reports_in_degrees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was written from Python without a projection is in degrees."""
    asked: list[dt.Rectangle] = []
    monkeypatch.setattr(
        results.DensityMap, "share", lambda self, part: asked.append(part)
    )  # its errors take seconds
    out, picture = tmp_path / "out.geojson", tmp_path / "map.geojson"
    box = dt.Rectangle(dt.Interval(139.4, 140.0), dt.Interval(35.5, 36.0))
    data.perturb_trips(made(tmp_path, "csv"), out, dt.TraCSC(box, epsilon=2), source=dt.Seeded(1))
    words = ("--columns", 2, "--rows", 2, "-o", picture)
    assert run("density", out, *words, "--share", 139.5, 35.6, 139.7, 35.8).exit_code == 0
    assert asked == [dt.Rectangle(dt.Interval(139.5, 139.7), dt.Interval(35.6, 35.8))]
    corners = json.loads(picture.read_text())["features"][0]["geometry"]["coordinates"][0]
    assert corners[0] == [139.4, 35.5]
    assert corners[2] == [139.7, 35.75]


def test_files_that_hold_no_reports(tmp_path: Path) -> None:
    file, out = made(tmp_path, "csv"), tmp_path / "out.csv"
    assert "carries no reports" in run("density", file).output
    run("perturb", file, *BOX, "--epsilon", 2, "-o", out)
    lines = out.read_text().splitlines()
    lines[4] = lines[4][:-2] + "xx"
    out.write_text("\n".join(lines))
    broken = run("density", out)
    assert broken.exit_code == 2
    assert "out.csv, row 3: this is not a report of TraCSC" in broken.output
    out.write_text("\n".join(["# dither {}", *lines[1:4]]))
    assert "specification" in run("density", out).output
    assert run("perturb", file, *BOX, "--epsilon", 2, "-o", tmp_path / "out.kml").exit_code == 2


def test_help_teaches_by_examples() -> None:
    assert "dither trajectory perturb in.gpx --epsilon 2 --box" in run("--help").output
    for verb in ("perturb", "density", "compare"):
        assert f"dither trajectory {verb}" in run(verb, "--help").output


def test_complete_trips_by_public_ones(tmp_path: Path) -> None:
    rows = ["id,lat,lon"]
    for trip in range(40):
        rows += [f"t{trip},{35.6 + trip % 2 / 10},139.{5 + part}" for part in range(3)]
    (tmp_path / "public.csv").write_text("\n".join(rows))
    where = ("--epsilon", 4, "--box", 139.4, 35.5, 140, 36, "-o", tmp_path / "out.geojson")
    public = ("--routes", tmp_path / "public.csv")
    given = ("perturb", tmp_path / "public.csv", *where)
    done = run(*given, *public, "--source", "lines of the city", "--points", 4)
    assert "by Optimal" in done.output
    assert "ε ≤ 4 for one trajectory" in done.output
    assert "(lines of the city)" in done.output
    done = run("density", tmp_path / "out.geojson", "--columns", 2, "--rows", 2)
    assert "40 complete trips" in done.output
    for words, hint in (
        (public, "--routes with --source"),
        (("--source", "x"), "expected --routes"),
        ((*public, "--source", "x", "--inner", "sw"), "itself a mechanism"),
    ):
        failed = run(*given, *words, "--force")
        assert failed.exit_code == 2
        assert hint in failed.output
