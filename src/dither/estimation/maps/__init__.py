"""Maps of places: projections to metres, densities, flows, errors of noisy paths, post-processing.

A post-processing of decoded locations, as in `dt.TraCSC(area, epsilon=1, reading=dt.maps.Rounded(points))`,
is `Rounded` to public points, `Snapped` to the cells of a grid, or `Projected` to a shape.
"""

from dither.core.domains import Parallelogram
from dither.core.post_processing import Projected, Rounded, Snapped
from dither.estimation.maps.density import density
from dither.estimation.maps.flows import flows, flows_between, synthesise
from dither.estimation.maps.metrics import (
    average_error,
    direction_error,
    distances,
    hotspots,
    hotspots_lost,
    hotspots_miscounted,
    within_range,
)
from dither.estimation.maps.plotting import draw_before_and_after
from dither.estimation.maps.projection import LocalMap, Map, ReferenceMap
from dither.estimation.maps.records import joint
from dither.mechanisms.places.planning import best_split, best_start, predicted_error, ranked

__all__ = [
    "LocalMap",
    "Map",
    "Parallelogram",
    "Projected",
    "ReferenceMap",
    "Rounded",
    "Snapped",
    "average_error",
    "best_split",
    "best_start",
    "density",
    "direction_error",
    "distances",
    "draw_before_and_after",
    "flows",
    "flows_between",
    "hotspots",
    "hotspots_lost",
    "hotspots_miscounted",
    "joint",
    "predicted_error",
    "ranked",
    "synthesise",
    "within_range",
]
