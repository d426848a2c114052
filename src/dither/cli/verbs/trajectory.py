"""`dither trajectory`: randomise trips in files, draw maps of them, compare mechanisms on an area."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from dither.atomic import whole
from dither.cli.areas import INNER, KINDS, Area, area_options, from_text, to_text
from dither.cli.output import JSON_OPTION, metres, number, print_json, rows_done, save_picture, table
from dither.domains import Disk, Interval, Rectangle
from dither.errors import MalformedReport, OutsideDomain
from dither.files import Trips, read_trips, write_trips
from dither.maps import Map, density, draw_before_and_after, predicted_error
from dither.maps.density import DensityMap
from dither.mechanisms.places.path import PathMechanism
from dither.privacy import Unit
from dither.reports import Reports
from dither.table import percent
from dither.wire.codec import from_json, to_json

_FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_OUT = click.Path(dir_okay=False, path_type=Path)


def _drawable(ctx: click.Context, option: click.Parameter, plot: Path | None) -> Path | None:
    """Raise BadParameter for a picture that matplotlib cannot write, before anything is read."""
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise click.BadParameter("a picture's name ends in .png, .svg or .pdf")
    return plot


_INNER = click.option(
    "--inner",
    type=click.Choice(list(INNER)),
    default="ogpm",
    show_default=True,
    help="Inside TraCS; sw for maps.",
)
_UNIT = click.option(
    "--unit",
    type=click.Choice(["location", "trajectory"]),
    default="location",
    show_default=True,
    help="What ε is for.",
)


@click.group()
def command() -> None:
    """Randomise trips: GPX, GeoJSON, CSV with columns id, time, lat, lon; GeoPackage or GeoParquet.

    \b
    dither trajectory perturb in.gpx --epsilon 2 --box 139.4 35.5 140 36 -o out.geojson --plot picture.png
    dither trajectory density out.geojson --plot map.png
    dither trajectory compare --epsilon 2 --box 139.4 35.5 140 36
    """


@command.command()
@_FILE
@area_options
@click.option("--epsilon", type=float, required=True, help="The budget ε.")
@_UNIT
@click.option(
    "--mechanism",
    type=click.Choice(["best", *KINDS]),
    default="best",
    show_default=True,
    help="Which; best is the more accurate of TraCS-C and TraCS-D on the area.",
)
@_INNER
@click.option(
    "--outside",
    type=click.Choice(["error", "clip"]),
    default="error",
    show_default=True,
    help="What happens to places outside the area; clip moves them to its border.",
)
@click.option("--keep-times", is_flag=True, help="Copy the times as they are; they are not protected.")
@click.option(
    "-o", "--out", required=True, type=_OUT, help="The noisy trips: .gpx, .geojson, .csv, .gpkg or .parquet."
)
@click.option(
    "--plot",
    type=_OUT,
    callback=_drawable,
    help="A picture of trips before and after; it shows the true places.",
)
@JSON_OPTION
def perturb(
    file: Path,
    area: Area,
    epsilon: float,
    unit: str,
    mechanism: str,
    inner: str,
    outside: str,
    keep_times: bool,
    out: Path,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Randomise every place of the trips in FILE, in metres, and write what a collector would read.

    The area is public; how many places a trip has is public, and so are the names of trips. The output also
    holds the reports and the specification that `dither trajectory density` needs.

    \b
    dither trajectory perturb in.gpx --epsilon 2 --box 139.4 35.5 140 36 -o out.geojson
    dither trajectory perturb in.csv --epsilon 60 --unit trajectory --disk 139.7 35.7 20000 -o out.csv
    """
    own = area.mechanism(mechanism, epsilon, Unit[unit.upper()], inner)
    with rows_done(f"reading {file.name}") as progress:
        trips = read_trips(file, progress=progress)
    if outside == "clip":
        trips = trips.clipped(area.region, area.onto)
    try:
        trips.check(area.region, area.onto)
    except OutsideDomain as error:
        raise OutsideDomain(f"{file.name}, {error}; give a larger one, or --outside clip") from None
    with rows_done(f"perturbing {file.name}", len(trips.paths.points)) as progress:
        reports = trips.randomised(own, onto=area.onto, progress=progress)
    told = trips.told(reports, onto=area.onto, keep_times=keep_times)
    specification = json.dumps({"mechanism": json.loads(to_json(own)), "map": to_text(area)})
    write_trips(replace(told, reports=_written(reports), specification=specification), out)
    if plot is not None:
        _picture(trips, told, area, plot)
    longest = int(trips.paths.lengths.max())
    whole_trip = own.guarantee if unit == "trajectory" else own.guarantee.repeated(longest)
    if as_json:
        answer = {"trips": len(trips), "places": len(trips.paths.points), "out": str(out)}
        answer |= {"mechanism": type(own).__name__, "guarantee": str(own.guarantee)}
        print_json({**answer, "longest_trip": str(whole_trip)})
        return
    click.echo(f"{len(trips)} trips with {len(trips.paths.points)} places in {out}, by {type(own).__name__}")
    click.echo(f"each is promised {own.guarantee}")
    if unit == "location":
        click.echo(f"the longest trip, of {longest} locations, is promised {whole_trip}")
    if plot is not None:
        click.echo(f"{plot} shows the true places: keep it to yourself", err=True)


def _picture(trips: Trips, told: Trips, area: Area, plot: Path) -> None:
    box = area.region.box
    corners = area.onto.to_earth([(box.x.low, box.y.low), (box.x.high, box.y.high)])
    (west, south), (east, north) = corners.tolist()
    axes = draw_before_and_after(
        trips.paths, told.paths, Rectangle(Interval(west, east), Interval(south, north))
    )
    axes.set_aspect(1.0 / math.cos(math.radians((south + north) / 2.0)))  # a degree of longitude is shorter
    axes.set_xlabel("longitude")
    axes.set_ylabel("latitude")
    save_picture(axes, plot, bbox_inches="tight")


@command.command("density")
@_FILE
@click.option("--columns", default=32, show_default=True, help="Cells from west to east.")
@click.option("--rows", default=32, show_default=True, help="Cells from south to north.")
@click.option(
    "--share",
    "parts",
    nargs=4,
    type=float,
    multiple=True,
    metavar="W S E N",
    help="Also the share of locations in a box, with its error.",
)
@click.option("--plot", type=_OUT, callback=_drawable, help="Draw the map.")
@click.option("-o", "--out", type=_OUT, help="The map as GeoJSON: a polygon for each cell.")
@JSON_OPTION
def map_(
    file: Path,
    columns: int,
    rows: int,
    parts: tuple[tuple[float, float, float, float], ...],
    plot: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Estimate where people are from FILE, which `dither trajectory perturb` wrote.

    \b
    dither trajectory density out.geojson --columns 24 --rows 24 --plot map.png
    dither trajectory density out.geojson --share 139.6 35.6 139.8 35.8
    """
    reports, onto = _reports(file)
    found = density(reports, columns, rows)
    shares = [found.share(onto.rectangle(_box(part))) for part in parts]
    if plot is not None:
        axes = found.plot()
        axes.set_xlabel("metres east")
        axes.set_ylabel("metres north")
        save_picture(axes, plot, bbox_inches="tight")
    if out is not None:
        with whole(out) as stream:
            json.dump(_polygons(found, onto), stream)
            stream.write("\n")
    if as_json:
        ends = {"x": [found.grid.x.low, found.grid.x.high], "y": [found.grid.y.low, found.grid.y.high]}
        plain = [{"share": float(one), "standard_error": float(one.standard_error)} for one in shares]
        answer = {"n": found.n, "grid": ends, "probabilities": found.probabilities.tolist(), "shares": plain}
        print_json(answer)
        return
    click.echo(f"{found.n} locations by {type(reports.mechanism).__name__}, {found.guarantee}")
    for part, share in zip(parts, shares, strict=True):
        click.echo(f"  {' '.join(number(degrees, 6) for degrees in part)}: {share}")
    if not parts:
        click.echo(_busiest(found, onto))


def _reports(file: Path) -> tuple[Reports, Map]:
    """Return the reports and the projection in a file of noisy trips."""
    with rows_done(f"reading {file.name}") as progress:
        trips = read_trips(file, progress=progress)
    if not trips.specification or trips.reports is None:
        raise MalformedReport(f"{file.name} contains no reports; `dither trajectory perturb` writes them")
    try:
        given = json.loads(trips.specification)
        mechanism, onto = from_json(json.dumps(given["mechanism"])), from_text(given["map"])
    except (ValueError, KeyError, TypeError):
        raise MalformedReport(f"{file.name}: its specification cannot be read") from None
    layout = mechanism.layout
    rows = np.empty(len(trips.reports), dtype=layout)
    for index, text in enumerate(trips.reports):
        try:
            rows[index] = np.frombuffer(bytes.fromhex(text), dtype=layout.base.newbyteorder("<"))
        except ValueError:
            kind = type(mechanism).__name__
            raise MalformedReport(f"{file.name}, {trips.where(index)}: this is no report of {kind}") from None
    return mechanism.reports(rows), onto


def _written(reports: Reports) -> tuple[str, ...]:
    """Return reports as hexadecimal text, the lowest byte first."""
    cells = np.ascontiguousarray(reports.cells, dtype=reports.cells.dtype.newbyteorder("<"))
    return tuple(row.tobytes().hex() for row in cells.reshape(-1, cells.shape[-1]))


def _box(bounds: tuple[float, float, float, float]) -> Rectangle:
    west, south, east, north = bounds
    return Rectangle(Interval(west, east), Interval(south, north))


def _corners(found: DensityMap, onto: Map) -> Any:
    """Return the corners of all cells in degrees: by column, row, and longitude and latitude."""
    columns, rows = found.probabilities.shape
    x = np.linspace(found.grid.x.low, found.grid.x.high, columns + 1)
    y = np.linspace(found.grid.y.low, found.grid.y.high, rows + 1)
    return onto.to_earth(np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)).round(7)


def _polygons(found: DensityMap, onto: Map) -> dict[str, Any]:
    corners = _corners(found, onto)
    features = []
    for (column, row), share in np.ndenumerate(found.probabilities):
        ring = [corners[column + a, row + b].tolist() for a, b in ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))]
        geometry = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": {"share": float(share)}, "geometry": geometry})
    return {"type": "FeatureCollection", "features": features}


def _busiest(found: DensityMap, onto: Map, count: int = 5) -> str:
    corners, columns = _corners(found, onto), found.probabilities.shape[1]
    lines = []
    for index in np.argsort(-found.probabilities.reshape(-1), kind="stable")[:count].tolist():
        column, row = divmod(index, columns)
        (west, south), (east, north) = corners[column, row], corners[column + 1, row + 1]
        where = f"{west:.4f} {south:.4f} {east:.4f} {north:.4f}"
        lines.append([where, percent(found.probabilities[column, row], 3)])
    return table(["W S E N", "share"], lines)


@command.command()
@area_options
@click.option("--epsilon", type=float, required=True, help="The budget ε of one location.")
@_INNER
@JSON_OPTION
def compare(area: Area, epsilon: float, inner: str, as_json: bool) -> None:
    """Print the mean distance of reports to the truth, in metres, for uniform places on an area.

    \b
    dither trajectory compare --epsilon 2 --box 139.4 35.5 140 36
    """
    found: list[tuple[PathMechanism, float]] = []
    for kind in KINDS:
        if isinstance(area.region, Disk) and kind in ("tracs-c", "gridding"):
            continue
        mechanism = area.mechanism(kind, epsilon, Unit.LOCATION, inner)
        found.append((mechanism, predicted_error(mechanism)))
    found.sort(key=lambda one: one[1])
    rows = [(type(one).__name__, error, one.guarantee.epsilon) for one, error in found]
    if as_json:
        keys = "mechanism", "error_metres", "epsilon_spent"
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    shown = [[name, metres(error), number(spent)] for name, error, spent in rows]
    click.echo(table(["mechanism", "mean error", "ε spent"], shown))
