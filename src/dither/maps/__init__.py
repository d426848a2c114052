"""Paths from end to end: files, maps in metres, measures of error, and what many paths tell together."""

from dither.mechanisms.trajectory.design import Choice, best_split, best_start, predicted_error, ranked
from dither.paths.densities import Density, density
from dither.paths.drawing import draw_before_and_after, draw_density
from dither.paths.files import read_trips, write_trips
from dither.paths.layers import from_frame, to_frame
from dither.paths.maps import LocalMap, Map, ReferenceMap
from dither.paths.metrics import (
    average_error,
    direction_error,
    distances,
    hotspots,
    hotspots_lost,
    hotspots_miscounted,
    within_range,
)
from dither.paths.origins import Flows, flows, flows_between
from dither.paths.trips import Trips

__all__ = [
    "Choice",
    "Density",
    "Flows",
    "LocalMap",
    "Map",
    "ReferenceMap",
    "Trips",
    "average_error",
    "best_split",
    "best_start",
    "density",
    "direction_error",
    "distances",
    "draw_before_and_after",
    "draw_density",
    "flows",
    "flows_between",
    "from_frame",
    "hotspots",
    "hotspots_lost",
    "hotspots_miscounted",
    "predicted_error",
    "ranked",
    "read_trips",
    "to_frame",
    "within_range",
    "write_trips",
]
