"""GPX: the tracks and routes of navigation devices."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TextIO
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from dither.errors import InvalidParameter
from dither.files.trips.trips import Progress, Trip, Trips

_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="dither" xmlns="{}" xmlns:d="{}">\n'
)
_SPACE: Final = "http://www.topografix.com/GPX/1/1"
_OWN: Final = "urn:dither:reports"  # what trips that were randomised carry, as extensions


def read(file: Path, progress: Progress | None = None) -> Trips:
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
                places = [
                    _place(point, f"trip {len(found) + 1}, place {i}") for i, point in enumerate(points, 1)
                ]
                times = [_text(point, "time") for point in points]
                told = [_own(point, "report") for point in points]
                if progress is not None:
                    progress(len(places))
                label = name if len(parts) == 1 else f"{name} ({number})"
                found.append(Trip(label, places, times if all(times) else None, told if all(told) else None))
    if not found:
        raise InvalidParameter("this GPX file holds no tracks and no routes")
    return Trips.of(found, "".join(_own(part, "specification") for part in _all(root, "metadata")))


def write(trips: Trips, stream: TextIO) -> None:
    """Write trips as tracks of one segment."""
    stream.write(_HEAD.format(_SPACE, _OWN))
    if trips.specification:
        own = f"<d:specification>{escape(trips.specification)}</d:specification>"
        stream.write(f"<metadata><extensions>{own}</extensions></metadata>\n")
    step = 0
    for name, places in zip(trips.names, trips.paths, strict=True):
        stream.write(f"<trk><name>{escape(name)}</name><trkseg>\n")
        for longitude, latitude in places.tolist():
            inner = "" if trips.times is None else f"<time>{escape(trips.times[step])}</time>"
            if trips.reports is not None:
                inner += f"<extensions><d:report>{escape(trips.reports[step])}</d:report></extensions>"
            stream.write(f'<trkpt lat="{latitude:.7f}" lon="{longitude:.7f}">{inner}</trkpt>\n')
            step += 1
        stream.write("</trkseg></trk>\n")
    stream.write("</gpx>\n")


def _place(point: ElementTree.Element, where: str) -> tuple[float, float]:
    try:
        return float(point.attrib["lon"]), float(point.attrib["lat"])
    except (KeyError, ValueError):
        raise InvalidParameter(f"{where} lacks a numeric lat or lon") from None


def _own(parent: ElementTree.Element, name: str) -> str:
    """Give what trips that were randomised carry, from an element's extensions."""
    return "".join(_text(part, name) for part in _all(parent, "extensions"))


def _all(parent: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [child for child in parent if child.tag.rpartition("}")[2] == name]


def _text(parent: ElementTree.Element, name: str) -> str:
    return next(((child.text or "").strip() for child in _all(parent, name)), "")
