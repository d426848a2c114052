"""GeoJSON: lines as trips, or points with a name and a time.

The specification is a member `dither` of the feature collection, as RFC 7946 allows; the reports of a trip
are its property `reports`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dither.data.formats.format import Progress, TripFormat, name_errors
from dither.data.trips.trips import Trip, TripPoint, Trips, gather_trips
from dither.errors import InvalidParameter


class GeoJson(TripFormat):
    """GeoJSON. Every line is a trip; points are gathered into trips by their property `id`."""

    def read(self, path: Path, progress: Progress) -> Trips:
        with name_errors(path):
            data = _document(path)
            found: list[Trip | TripPoint] = []
            for number, feature in enumerate(_features(data), 1):
                try:
                    own = _read_feature(feature, number)
                except InvalidParameter as error:
                    raise InvalidParameter(f"feature {number}: {error}") from None
                found += own
                progress(sum(len(part.places) if isinstance(part, Trip) else 1 for part in own))
            if not found:
                raise InvalidParameter("expected lines or points in this GeoJSON file; choose another file")
            specification = json.dumps(data["dither"]) if data.get("dither") else None
            return Trips.of(gather_trips(found, in_order=specification is not None), specification)

    def write(self, path: Path, trips: Trips) -> None:
        features, offsets = [], trips.paths.offsets
        for index, (name, indices) in enumerate(zip(trips.names, trips.paths, strict=True)):
            pairs = [[round(x, 7), round(y, 7)] for x, y in indices.tolist()]
            properties: dict[str, Any] = {"id": name}
            for key, column in (("times", trips.times), ("reports", trips.reports)):
                if column is not None:
                    properties[key] = list(column[offsets[index] : offsets[index + 1]])
            line = len(pairs) > 1  # a line has at least two points
            geometry = {"type": "LineString" if line else "Point", "coordinates": pairs if line else pairs[0]}
            features.append({"type": "Feature", "properties": properties, "geometry": geometry})
        head: dict[str, Any] = {"type": "FeatureCollection"}
        if trips.specification is not None:
            head["dither"] = json.loads(trips.specification)
        with path.open("x", newline="", encoding="utf-8") as stream:
            json.dump({**head, "features": features}, stream, ensure_ascii=False)
            stream.write("\n")


def _document(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError):
        raise InvalidParameter("expected GeoJSON, got text that is not JSON; choose another file") from None
    if not isinstance(data, dict) or "type" not in data:
        raise InvalidParameter("expected GeoJSON, got JSON without a type; choose another file")
    return data


def _features(data: dict[str, Any]) -> list[dict[str, Any]]:
    if data["type"] == "FeatureCollection":
        features = data.get("features")
        if not isinstance(features, list):
            return []
        return [feature for feature in features if isinstance(feature, dict)]
    if data["type"] == "Feature":
        return [data]
    return [{"type": "Feature", "geometry": data}]


def _read_feature(feature: dict[str, Any], number: int) -> list[Trip | TripPoint]:
    """Return the trips of a feature, or its point; other geometries hold none."""
    properties, geometry = (_object(feature.get(part)) for part in ("properties", "geometry"))
    name = properties.get("id", properties.get("name", feature.get("id")))
    label = str(number) if name is None else str(name)
    kind, coordinates = geometry.get("type"), geometry.get("coordinates")
    if kind == "LineString":
        locations = _places(coordinates)
        times = _texts(properties, locations, "times", "coordTimes")
        return [Trip(label, locations, times, _texts(properties, locations, "reports"))]
    if kind == "MultiLineString":
        parts = coordinates if isinstance(coordinates, list) else []
        return [Trip(f"{label} ({i})", _places(part)) for i, part in enumerate(parts, 1)]
    if kind == "Point":
        (location,) = _places([coordinates])
        (report,) = _texts(properties, [location], "reports") or [""]
        (time,) = _texts(properties, [location], "times") or [str(properties.get("time", ""))]
        return [TripPoint("" if name is None else str(name), time, *location, report)]
    return []


def _object(part: object) -> dict[str, Any]:
    if part is not None and not isinstance(part, dict):
        raise InvalidParameter("expected properties and geometry to be objects, or null; correct the file")
    return part or {}


def _places(coordinates: Any) -> list[tuple[float, float]]:
    try:
        return [(float(pair[0]), float(pair[1])) for pair in coordinates]
    except (TypeError, ValueError, OverflowError, IndexError, KeyError):
        raise InvalidParameter("expected coordinates as pairs of numbers; correct the file") from None


def _texts(properties: dict[str, Any], locations: list[Any], *names: str) -> list[str] | None:
    """Return the first property among some names that has one text for each location."""
    for name in names:
        found = properties.get(name)
        if isinstance(found, list) and len(found) == len(locations):
            return [str(text) for text in found]
    return None
