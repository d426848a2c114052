"""`dither trajectory`: randomise trips in files, draw maps of them, compare mechanisms on an area."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.cli.area import INNER, KINDS, TYPICAL, Area, area_options
from dither.cli.options import FORCE_OPTION, JSON_OPTION
from dither.cli.output import metres, number, number_of, print_json, rows_done, save_picture, table
from dither.cli.protection import check_protection
from dither.data.dialect import Outside
from dither.data.streams import TRIPS
from dither.foundation.atomic import refuse_to_overwrite, whole

if TYPE_CHECKING:
    from dither.core.domains import Rectangle, Region
    from dither.data import Trips
    from dither.estimation.maps import Map
    from dither.estimation.maps.density import DensityMap
    from dither.estimation.maps.routes import PathDensity
    from dither.mechanisms.optimal.routes import AmongRoutes
    from dither.mechanisms.places.base import PathMechanism, PathUnit


_FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
_OUT = click.Path(dir_okay=False, path_type=Path)


def _drawable(ctx: click.Context, option: click.Parameter, plot: Path | None) -> Path | None:
    """Return the file of a picture; raise BadParameter if its format is not known."""
    if plot is not None and plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise click.BadParameter(
            f"expected a picture that ends in .png, .svg or .pdf, got {plot.name}; rename it"
        )
    return plot


_INNER = click.option(
    "--inner",
    type=click.Choice(INNER),
    show_default="ogpm",
    help="The mechanism inside TraCS; sw is the one for maps.",
)
_UNIT = click.option(
    "--unit",
    type=click.Choice(["location", "trajectory"]),
    default="location",
    show_default=True,
    help="The unit that ε protects.",
)


@click.group()
def command() -> None:
    """Randomise trips in GPX, GeoJSON, CSV (columns id, time, lat, lon), GeoPackage or GeoParquet files.

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
    help="The mechanism; best is the more accurate of TraCS-C and TraCS-D on the area.",
)
@_INNER
@click.option(
    "--routes",
    "public",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Public trips: each complete trip has one report, the number of a public trip. Needs --source.",
)
@click.option("--source", help="With --routes: the public source of these trips, in words.")
@click.option(
    "--points",
    type=click.IntRange(2, 64),
    help="With --routes: the number of locations of a trip.  [default: 8]",
)
@click.option(
    "--outside",
    type=click.Choice(["error", "clip"]),
    default="error",
    show_default=True,
    help="What to do with locations outside the area; clip moves them to its border.",
)
@click.option("--keep-times", is_flag=True, help="Copy the times unchanged; they are not protected.")
@click.option("-o", "--out", required=True, type=_OUT, help=f"The file of reports: {', '.join(TRIPS)}.")
@click.option(
    "--plot",
    type=_OUT,
    callback=_drawable,
    help="Draw trips before and after; the picture contains true locations.",
)
@FORCE_OPTION
@JSON_OPTION
def perturb(
    file: Path,
    area: Area,
    epsilon: float,
    unit: PathUnit,
    mechanism: str,
    inner: str | None,
    public: Path | None,
    source: str | None,
    points: int | None,
    outside: Outside,
    keep_times: bool,
    out: Path,
    plot: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Randomise every location of the trips in FILE, and write the trips as a collector decodes them.

    The area, the number of locations of a trip and the names of trips are public. The output also holds the
    reports and their specification for `dither trajectory density` and dt.data.TripReports.read.

    \b
    dither trajectory perturb in.gpx --epsilon 2 --box 139.4 35.5 140 36 -o out.geojson
    dither trajectory perturb in.csv --epsilon 60 --unit trajectory --disk 139.7 35.7 20000 -o out.csv
    dither trajectory perturb in.gpx --epsilon 4 --routes lines.geojson --source "lines of the city" \
        --box 139.4 35.5 140 36 -o out.geojson
    """
    from dither.data import TripReports, Trips
    from dither.data.formats.format import trip_format

    trip_format(out)  # refuse an unknown ending before anything is read
    for written in (out, plot):
        if written is not None:
            refuse_to_overwrite(written, file, force=force)
    if public is None:
        if source is not None or points is not None:
            raise click.UsageError(
                "expected --routes, a file of public trips, with --source and --points; give it, or leave "
                "them out"
            )
        own: PathMechanism[Region] | AmongRoutes = area.mechanism(mechanism, epsilon, unit, inner)
    else:
        if mechanism != "best" or inner is not None:
            raise click.UsageError(
                "expected no --mechanism and no --inner with --routes because it is itself a mechanism; "
                "leave them out"
            )
        own, unit = area.of_routes(public, source, epsilon, points or 8, clip=outside == "clip"), "trajectory"
    with rows_done(f"loading {file.name}") as progress:
        trips = Trips.read(file, progress=progress)
    longest = int(trips.paths.lengths.max())
    whole_trip = own.guarantee if unit == "trajectory" else own.guarantee.repeated(longest)
    check_protection(whole_trip)
    with rows_done(f"perturbing {file.name}", len(trips.paths.points)) as progress:
        drawn = TripReports.draw(
            trips,
            own,
            projection=area.projection,
            outside=outside,
            keep_times=keep_times,
            progress=progress,
        )
    drawn.write(out)
    name = own.question.name
    if plot is not None:
        _picture(trips if public is None else drawn.resample(trips), drawn.trips, area, plot)
    if as_json:
        answer = {"trips": len(trips), "places": len(trips.paths.points), "out": str(out)}
        answer |= {"mechanism": name, "guarantee": str(own.guarantee)}
        print_json({**answer, "longest_trip": str(whole_trip)})
        return
    click.echo(f"{len(trips)} trips with {len(trips.paths.points)} locations in {out}, by {name}")
    click.echo(f"each is promised {own.guarantee}")
    if public is not None:
        click.echo(str(own))
    if unit == "location":
        click.echo(f"the longest trip, of {longest} locations, is promised {whole_trip}")
    if plot is not None:
        click.echo(f"{plot} contains the true locations: do not publish it", err=True)


def _picture(trips: Trips, decoded: Trips, area: Area, plot: Path) -> None:
    """Draw trips before and after randomisation, in degrees."""
    from dither.core.domains import Interval, Rectangle
    from dither.estimation.maps import draw_before_and_after

    box = area.region.box
    corners = area.projection.to_earth([(box.x.low, box.y.low), (box.x.high, box.y.high)])
    (west, south), (east, north) = corners.tolist()
    axes = draw_before_and_after(
        trips.paths, decoded.paths, Rectangle(Interval(west, east), Interval(south, north))
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
@click.option(
    "--at-least",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="The smallest number of locations for a map.",
)
@click.option("--plot", type=_OUT, callback=_drawable, help="Draw the map.")
@click.option("-o", "--out", type=_OUT, help="The map as GeoJSON: a polygon for each cell.")
@JSON_OPTION
def map_(
    file: Path,
    columns: int,
    rows: int,
    parts: tuple[tuple[float, float, float, float], ...],
    at_least: int,
    plot: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Estimate the distribution of locations from FILE, the output of `dither trajectory perturb`.

    \b
    dither trajectory density out.geojson --columns 24 --rows 24 --plot map.png
    dither trajectory density out.geojson --share 139.6 35.6 139.8 35.8
    """
    from dither.data import TripReports
    from dither.estimation.maps import density

    with rows_done(f"loading {file.name}") as progress:
        trips = TripReports.read(file, progress=progress)
    counted = "complete trip" if trips.of_routes else "location"
    positions = len(trips.reports)
    if positions < at_least:
        raise click.UsageError(
            f"expected at least {at_least} reports for a map, got {number_of(positions, counted)} in "
            f"{file.name}: the errors would be as large as the shares; collect more, or lower --at-least"
        )
    projection = trips.projection
    found = density(trips.reports, columns, rows)
    shares = [found.share(_to_plane(_box(part), projection)) for part in parts]
    if plot is not None:
        axes = found.plot()
        axes.set_xlabel("longitude" if projection is None else "metres east")
        axes.set_ylabel("latitude" if projection is None else "metres north")
        save_picture(axes, plot, bbox_inches="tight")
    if out is not None:
        with whole(out) as stream:
            json.dump(_polygons(found, projection), stream)
            stream.write("\n")
    if as_json:
        ends = {"x": [found.grid.x.low, found.grid.x.high], "y": [found.grid.y.low, found.grid.y.high]}
        plain = [{"share": float(share), "standard_error": float(share.standard_error)} for share in shares]
        answer = {"n": found.n, "grid": ends, "probabilities": found.probabilities.tolist(), "shares": plain}
        print_json(answer)
        return
    click.echo(f"{number_of(found.n, counted)} by {trips.question.name}, {found.guarantee}")
    for part, share in zip(parts, shares, strict=True):
        click.echo(f"  {' '.join(number(degrees, 6) for degrees in part)}: {share}")
    if not parts:
        click.echo(_busiest(found, projection))


def _box(bounds: tuple[float, float, float, float]) -> Rectangle:
    from dither.core.domains import Interval, Rectangle

    west, south, east, north = bounds
    return Rectangle(Interval(west, east), Interval(south, north))


def _to_plane(box: Rectangle, projection: Map | None) -> Rectangle:
    """Return a box of degrees in the coordinates of the reports."""
    return box if projection is None else projection.rectangle(box)


def _corners(found: DensityMap | PathDensity, projection: Map | None) -> Any:
    """Return the corners of all cells in degrees, indexed by column, row, and longitude or latitude."""
    import numpy as np

    columns, rows = found.probabilities.shape
    x = np.linspace(found.grid.x.low, found.grid.x.high, columns + 1)
    y = np.linspace(found.grid.y.low, found.grid.y.high, rows + 1)
    corners = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    return (corners if projection is None else projection.to_earth(corners)).round(7)


def _polygons(found: DensityMap | PathDensity, projection: Map | None) -> dict[str, Any]:
    import numpy as np

    corners = _corners(found, projection)
    features = []
    for (column, row), share in np.ndenumerate(found.probabilities):
        ring = [corners[column + a, row + b].tolist() for a, b in ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))]
        geometry = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": {"share": float(share)}, "geometry": geometry})
    return {"type": "FeatureCollection", "features": features}


def _busiest(found: DensityMap | PathDensity, projection: Map | None, count: int = 5) -> str:
    import numpy as np

    from dither.foundation.tables import percent

    corners, columns = _corners(found, projection), found.probabilities.shape[1]
    lines, errors = [], found.standard_errors
    for index in np.argsort(-found.probabilities.reshape(-1), kind="stable")[:count].tolist():
        column, row = divmod(index, columns)
        (west, south), (east, north) = corners[column, row], corners[column + 1, row + 1]
        where = f"{west:.4f} {south:.4f} {east:.4f} {north:.4f}"
        share, error = found.probabilities[column, row], errors[column, row]
        lines.append([where, percent(share, 3), percent(1.96 * error, 2)])
    return table(["W S E N", "share", "± (95 %)"], lines)


@command.command()
@area_options
@click.option("--epsilon", type=float, required=True, help="The budget ε of one location.")
@_INNER
@JSON_OPTION
def compare(area: Area, epsilon: float, inner: str | None, as_json: bool) -> None:
    """Compare the mean error of mechanisms, in metres, for trips whose locations are spread evenly.

    \b
    dither trajectory compare --epsilon 2 --box 139.4 35.5 140 36
    """
    from dither.core.domains import Disk
    from dither.estimation.maps import predicted_error

    found: list[tuple[str, float, float]] = []
    for kind in KINDS:
        if isinstance(area.region, Disk) and kind in ("tracs-c", "gridding"):
            continue
        mechanism = area.mechanism(kind, epsilon, "location", inner if kind.startswith("tracs") else None)
        name = type(mechanism).__name__ + (", fixed reference" if kind.endswith("fixed") else "")
        found.append((name, predicted_error(mechanism, length=TYPICAL), mechanism.guarantee.epsilon))
    rows = sorted(found, key=lambda row: row[1])
    if as_json:
        keys = "mechanism", "error_metres", "epsilon_spent"
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    shown = [[name, metres(error), number(spent)] for name, error, spent in rows]
    click.echo(table(["mechanism", "mean error", "ε spent"], shown))
