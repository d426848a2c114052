"""Maps of places: projections to metres, densities, flows, and measures of the error of noisy paths."""

from dither.maps.density import DensityMap, Flows, density, flows, flows_between
from dither.maps.metrics import (
    average_error,
    direction_error,
    distances,
    draw_before_and_after,
    draw_density,
    hotspots,
    hotspots_lost,
    hotspots_miscounted,
    within_range,
)
from dither.maps.projection import LocalMap, Map, ReferenceMap
from dither.mechanisms.places.planning import Choice, best_split, best_start, predicted_error, ranked

__all__ = [
    "Choice",
    "DensityMap",
    "Flows",
    "LocalMap",
    "Map",
    "ReferenceMap",
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
    "hotspots",
    "hotspots_lost",
    "hotspots_miscounted",
    "predicted_error",
    "ranked",
    "within_range",
]
