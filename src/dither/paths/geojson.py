"""GeoJSON: lines as trips, or points with a name and a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from dither.errors import InvalidParameter
from dither.paths.tables import Row, assembled
from dither.paths.trips import Progress, Trip, Trips


def read(file: Path, progress: Progress | None = None) -> Trips:
    """Read every line of a feature collection as a trip; points are gathered by their `id` property."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InvalidParameter("this is not a GeoJSON file: it is not JSON") from None
    found: list[Trip | Row] = []
    for number, feature in enumerate(_features(data), 1):
        properties = feature.get("properties") or {}
        name = str(properties.get("id", properties.get("name", feature.get("id", number))))
        geometry = feature.get("geometry") or {}
        kind, coordinates = geometry.get("type"), geometry.get("coordinates")
        if kind == "LineString":
            places = _places(coordinates)
            times = _each(properties, coordinates, "times", "coordTimes")
            found.append(Trip(name, places, times, _each(properties, coordinates, "reports")))
            if progress is not None:
                progress(len(places))
        elif kind == "MultiLineString":
            found += [Trip(f"{name} ({i})", _places(part)) for i, part in enumerate(coordinates or (), 1)]
        elif kind == "Point":
            (place,) = _places([coordinates])
            whose = str(properties.get("id", properties.get("name", feature.get("id", ""))))
            told = _each(properties, [coordinates], "reports") or [""]
            found.append(Row(whose, str(properties.get("time", "")), *place, told[0]))
    if not found:
        raise InvalidParameter("this GeoJSON file holds no lines and no points")
    specification = data.get("dither")
    return Trips.of(assembled(found), json.dumps(specification) if specification else "")


def write(trips: Trips, stream: TextIO) -> None:
    """Write trips as a feature collection of lines; a trip of one place is a point."""
    features = []
    offsets = trips.paths.offsets
    for index, (name, places) in enumerate(zip(trips.names, trips.paths, strict=True)):
        pairs = [[round(x, 7), round(y, 7)] for x, y in places.tolist()]
        properties: dict[str, Any] = {"id": name}
        for key, column in (("times", trips.times), ("reports", trips.reports)):
            if column is not None:
                properties[key] = list(column[offsets[index] : offsets[index + 1]])
        line = len(pairs) > 1
        geometry = {"type": "LineString" if line else "Point", "coordinates": pairs if line else pairs[0]}
        features.append({"type": "Feature", "properties": properties, "geometry": geometry})
    head = {"type": "FeatureCollection"}
    if trips.specification:
        head["dither"] = json.loads(trips.specification)  # a foreign member, as RFC 7946 allows
    json.dump({**head, "features": features}, stream, ensure_ascii=False)
    stream.write("\n")


def _features(data: Any) -> list[dict[str, Any]]:
    if not isinstance(data, dict) or "type" not in data:
        raise InvalidParameter("this is not a GeoJSON file: it has no type")
    if data["type"] == "FeatureCollection":
        return [feature for feature in data.get("features", ()) if isinstance(feature, dict)]
    if data["type"] == "Feature":
        return [data]
    return [{"type": "Feature", "geometry": data}]


def _places(coordinates: Any) -> list[tuple[float, float]]:
    try:
        return [(float(pair[0]), float(pair[1])) for pair in coordinates]
    except (TypeError, ValueError, IndexError, KeyError):
        raise InvalidParameter("a line of this GeoJSON file has coordinates that are not numbers") from None


def _each(properties: dict[str, Any], coordinates: Any, *names: str) -> list[str] | None:
    """Give what a line says of each of its places, under the first of some names, if it does."""
    for name in names:
        found = properties.get(name)
        if isinstance(found, list) and len(found) == len(coordinates):
            return [str(one) for one in found]
    return None
