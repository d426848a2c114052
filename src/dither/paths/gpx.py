"""GPX: the tracks and routes of navigation devices."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from dither.errors import InvalidParameter
from dither.paths.trips import Trip, Trips

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="dither" xmlns="{}">\n'
_SPACE: Final = "http://www.topografix.com/GPX/1/1"


def read(file: Path) -> Trips:
    """Read every track segment and every route as a trip of its own."""
    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        raise InvalidParameter(f"this is not a GPX file: line {error.position[0]} is not XML") from None
    found: list[Trip] = []
    for track in (*_all(root, "trk"), *_all(root, "rte")):
        name = _text(track, "name") or f"track {len(found) + 1}"
        parts = _all(track, "trkseg") or [track]
        for number, part in enumerate(parts, 1):
            points = _all(part, "trkpt") or _all(part, "rtept")
            if points:
                places, times = zip(*map(_point, points), strict=True)
                label = name if len(parts) == 1 else f"{name} ({number})"
                found.append(Trip(label, places, times if all(times) else None))
    if not found:
        raise InvalidParameter("this GPX file holds no tracks and no routes")
    return Trips.of(found)


def write(trips: Trips, file: Path) -> None:
    """Write trips as tracks of one segment."""
    lines = [_HEAD.format(_SPACE)]
    offsets = trips.paths.offsets
    for index, (name, places) in enumerate(zip(trips.names, trips.paths, strict=True)):
        lines.append(f"<trk><name>{escape(name)}</name><trkseg>\n")
        for step, (longitude, latitude) in enumerate(places.tolist()):
            time = "" if trips.times is None else f"<time>{escape(trips.times[offsets[index] + step])}</time>"
            lines.append(f'<trkpt lat="{latitude:.7f}" lon="{longitude:.7f}">{time}</trkpt>\n')
        lines.append("</trkseg></trk>\n")
    file.write_text("".join([*lines, "</gpx>\n"]), encoding="utf-8")


def _point(point: ElementTree.Element) -> tuple[tuple[float, float], str]:
    try:
        place = float(point.attrib["lon"]), float(point.attrib["lat"])
    except (KeyError, ValueError):
        raise InvalidParameter("a point of this GPX file lacks a numeric lat or lon") from None
    return place, _text(point, "time")


def _all(parent: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [child for child in parent if child.tag.rpartition("}")[2] == name]


def _text(parent: ElementTree.Element, name: str) -> str:
    return next(((child.text or "").strip() for child in _all(parent, name)), "")
