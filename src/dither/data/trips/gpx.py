"""GPX: the tracks and routes of navigation devices.

The specification and the reports are extension elements in a namespace of their own.
"""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from dither.data.formats.format import Progress, TripFormat, name_errors
from dither.data.trips.trips import Trip, Trips
from dither.errors import InvalidParameter

_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="dither" xmlns="{}" xmlns:d="{}">\n'
)
_GPX: Final = "http://www.topografix.com/GPX/1/1"
_DITHER: Final = "urn:dither:reports"  # the namespace of the extension elements
_escape = partial(escape, quote=False)  # the one in xml.sax.saxutils would import urllib and http


class Gpx(TripFormat):
    """GPX 1.1. Every track segment and every route is a trip."""

    def read(self, path: Path, progress: Progress) -> Trips:
        with name_errors(path):
            try:
                root = ElementTree.parse(path).getroot()
            except ElementTree.ParseError as error:
                raise InvalidParameter(
                    f"expected GPX, got invalid XML in line {error.position[0]}; correct the file"
                ) from None
            except (LookupError, ValueError):  # an encoding that Python does not know
                raise InvalidParameter("expected GPX in UTF-8; save the file in UTF-8") from None
            found: list[Trip] = []
            for track in (*_children(root, "trk"), *_children(root, "rte")):
                for trip in _trips(track, len(found)):
                    found.append(trip)
                    progress(len(trip.places))
            if not found:
                raise InvalidParameter("expected tracks or routes in this GPX file; choose another file")
            carried = "".join(_extension(part, "specification") for part in _children(root, "metadata"))
            return Trips.of(found, carried or None)

    def write(self, path: Path, trips: Trips) -> None:
        with path.open("x", newline="", encoding="utf-8") as stream:
            stream.write(_HEAD.format(_GPX, _DITHER))
            if trips.specification is not None:
                own = f"<d:specification>{_escape(trips.specification)}</d:specification>"
                stream.write(f"<metadata><extensions>{own}</extensions></metadata>\n")
            index = 0
            for name, locations in zip(trips.names, trips.paths, strict=True):
                stream.write(f"<trk><name>{_escape(name)}</name><trkseg>\n")
                for longitude, latitude in locations.tolist():
                    inner = "" if trips.times is None else f"<time>{_escape(trips.times[index])}</time>"
                    if trips.reports is not None:
                        report = f"<d:report>{_escape(trips.reports[index])}</d:report>"
                        inner += f"<extensions>{report}</extensions>"
                    stream.write(f'<trkpt lat="{latitude:.7f}" lon="{longitude:.7f}">{inner}</trkpt>\n')
                    index += 1
                stream.write("</trkseg></trk>\n")
            stream.write("</gpx>\n")


def _trips(track: ElementTree.Element, before: int) -> list[Trip]:
    """Return the segments of a track, or a route; `before` trips were found in the file so far."""
    name = _text(track, "name") or f"track {before + 1}"
    segments = _children(track, "trkseg") or [track]
    found: list[Trip] = []
    for number, segment in enumerate(segments, 1):
        points = _children(segment, "trkpt") or _children(segment, "rtept")
        if points:
            trip = f"trip {before + len(found) + 1}"
            locations = [_place(point, f"{trip}, place {i}") for i, point in enumerate(points, 1)]
            times = [_text(point, "time") for point in points]
            reports = [_extension(point, "report") for point in points]
            label = name if len(segments) == 1 else f"{name} ({number})"
            found.append(
                Trip(label, locations, times if all(times) else None, reports if all(reports) else None)
            )
    return found


def _place(point: ElementTree.Element, where: str) -> tuple[float, float]:
    try:
        return float(point.attrib["lon"]), float(point.attrib["lat"])
    except (KeyError, ValueError):
        raise InvalidParameter(f"{where}: expected lat and lon to be numbers; correct the file") from None


def _extension(parent: ElementTree.Element, name: str) -> str:
    """Return the text of an element among the extensions of another, "" if it is missing."""
    return "".join(_text(part, name) for part in _children(parent, "extensions"))


def _children(parent: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Return the children of an element by name, in any namespace."""
    return [child for child in parent if child.tag.rpartition("}")[2] == name]


def _text(parent: ElementTree.Element, name: str) -> str:
    return next(((child.text or "").strip() for child in _children(parent, name)), "")
