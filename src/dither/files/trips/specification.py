"""The specification of a file of randomised trips: the mechanism, and the projection of its area."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from dither.device_text import real
from dither.errors import DitherError, InvalidParameter, MalformedReport, MissingExtra
from dither.maps.projection import LocalMap, Map, ReferenceMap
from dither.question import PathQuestion
from dither.wire.codec import from_json, to_json

_AUTHORITY_CODE: Final = re.compile(r"[A-Z]{2,10}:[0-9]{1,8}")


def trip_specification(mechanism: PathQuestion, projection: Map | None) -> str:
    """Return the specification as JSON text."""
    return json.dumps({"mechanism": json.loads(to_json(mechanism)), "map": _to_plain(projection)})


def read_trip_specification(text: str) -> tuple[PathQuestion, Map | None]:
    """Return the mechanism and the projection; raise MalformedReport if the text is of another kind."""
    try:
        given = json.loads(text)
        mechanism, projection = from_json(json.dumps(given["mechanism"])), _from_plain(given["map"])
    except MissingExtra:
        raise
    except DitherError as error:
        raise MalformedReport(f"the specification of these trips cannot be read: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise MalformedReport("the specification of these trips cannot be read") from None
    if not isinstance(mechanism, PathQuestion):
        raise MalformedReport(f"the specification is of {mechanism.name}, which is not for trips")
    return mechanism, projection


def is_of_trips(text: str) -> bool:
    """Return True if the specification in a file is one of trips, and False if it is of a table."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(given, dict) and {"mechanism", "map"} <= given.keys()


def _to_plain(projection: Map | None) -> dict[str, Any] | None:
    match projection:
        case None:
            return None
        case LocalMap(longitude, latitude):
            return {"local": [longitude, latitude]}
        case ReferenceMap(name):
            return {"crs": _code(name, InvalidParameter)}
    raise InvalidParameter(
        f"a {type(projection).__name__} cannot be written to a file; use a LocalMap or a ReferenceMap"
    )


def _from_plain(given: Any) -> Map | None:
    if given is None:
        return None
    if not isinstance(given, dict) or set(given) not in ({"local"}, {"crs"}):
        raise MalformedReport("the map of trips is null, local or a coordinate reference system")
    if "local" in given:
        longitude, latitude = map(real, given["local"])
        return LocalMap(longitude, latitude)
    return ReferenceMap(_code(given["crs"], MalformedReport))


def _code(name: object, error: type[DitherError]) -> str:
    """Return an authority's code; other texts are programs for PROJ, which may open files and addresses."""
    if not isinstance(name, str) or not _AUTHORITY_CODE.fullmatch(name):
        raise error("a coordinate reference system in a file is an authority's code, such as EPSG:32654")
    return name
