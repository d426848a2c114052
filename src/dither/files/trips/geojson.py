"""GeoJSON: lines as trips, or points with a name and a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from dither.errors import InvalidParameter
from dither.files.trips.csv import Row, assembled
from dither.files.trips.trips import Progress, Trip, Trips


def read(file: Path, progress: Progress | None = None) -> Trips:
    """Read every line of a feature collection as a trip; points are gathered by their `id` property."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InvalidParameter("this is not a GeoJSON file: it is not JSON") from None
    found: list[Trip | Row] = []
    for number, feature in enumerate(_features(data), 1):
        try:
            own = _read(feature, number)
        except InvalidParameter as error:
            raise InvalidParameter(f"feature {number}: {error}") from None
        found += own
        if progress is not None:
            progress(sum(len(one.places) if isinstance(one, Trip) else 1 for one in own))
    if not found:
        raise InvalidParameter("this GeoJSON file holds no lines and no points")
    specification = data.get("dither")
    return Trips.of(assembled(found), json.dumps(specification) if specification else "")


def _read(feature: dict[str, Any], number: int) -> list[Trip | Row]:
    """Give the trips of a feature, or its place; other geometries have none."""
    properties, geometry = (_object(feature.get(part)) for part in ("properties", "geometry"))
    name = properties.get("id", properties.get("name", feature.get("id")))
    kind, coordinates = geometry.get("type"), geometry.get("coordinates")
    if kind == "LineString":
        places = _places(coordinates)
        times = _each(properties, places, "times", "coordTimes")
        label = str(number) if name is None else str(name)
        return [Trip(label, places, times, _each(properties, places, "reports"))]
    if kind == "MultiLineString":
        label = str(number) if name is None else str(name)
        parts = coordinates if isinstance(coordinates, list) else []
        return [Trip(f"{label} ({i})", _places(part)) for i, part in enumerate(parts, 1)]
    if kind == "Point":
        (place,) = _places([coordinates])
        (told,) = _each(properties, [place], "reports") or [""]
        (when,) = _each(properties, [place], "times") or [str(properties.get("time", ""))]
        return [Row("" if name is None else str(name), when, *place, told)]
    return []


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
        features = data.get("features")
        return (
            [feature for feature in features if isinstance(feature, dict)]
            if isinstance(features, list)
            else []
        )
    if data["type"] == "Feature":
        return [data]
    return [{"type": "Feature", "geometry": data}]


def _object(part: Any) -> dict[str, Any]:
    if part is not None and not isinstance(part, dict):
        raise InvalidParameter("properties and geometry are objects, or null")
    return part or {}


def _places(coordinates: Any) -> list[tuple[float, float]]:
    try:
        return [(float(pair[0]), float(pair[1])) for pair in coordinates]
    except (TypeError, ValueError, IndexError, KeyError):
        raise InvalidParameter("its coordinates are not pairs of numbers") from None


def _each(properties: dict[str, Any], places: list[Any], *names: str) -> list[str] | None:
    """Give what a line says of each of its places, under the first of some names, if it does."""
    for name in names:
        found = properties.get(name)
        if isinstance(found, list) and len(found) == len(places):
            return [str(one) for one in found]
    return None
