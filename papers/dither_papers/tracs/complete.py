"""Complete paths under one ε, compared with a divided budget: not in the dissertation, on its data."""

from __future__ import annotations

from typing import Final

import numpy as np

from dither.core.domains import Paths, Routes
from dither.estimation.maps.metrics import average_error, hotspots, hotspots_lost, within_range
from dither.foundation.randomness import Seeded
from dither.mechanisms.optimal.routes import AmongRoutes
from dither.mechanisms.places.tracs import TraCSC, TraCSD
from dither_papers.drawing import RIGHT, Lines, Rows
from dither_papers.figure import Figure, Setting, expected
from dither_papers.tracs.measuring import PAPER, SQUARE, city, files

_EPSILONS: Final = (1, 2, 4, 8, 16)
_POINTS: Final = 8
_GRID: Final = 10  # cells a side; their centres are the locations of hotspots
# Panels: the city, and the places that a path has at least. A third of the people of Chicago have one place.
_PANELS: Final = (("TKY", "tky", 1), ("CHI", "chi", 1), ("CHI, 4 places or more", "chi", 4))


def _complete_paths(setting: Setting) -> Rows:
    """Return the mean error of a location, of range queries and of hotspots, by the ε of a complete path.

    Every second path, in a seeded order, is public; the other half reports. Paths are in the order of time.
    """
    found: Rows = []
    for panel, name, least in _PANELS:
        known = city(setting, name, ordered=True).paths
        paths = Paths.of([path for path in known if len(path) >= least])
        order = np.random.default_rng(setting.seed).permutation(len(paths))
        half = len(order) // 2
        routes = Routes(SQUARE, points=_POINTS)
        public, request = ([paths[int(at)] for at in part] for part in (order[:half], order[half:]))
        true = Paths.of(routes.resample(request))
        cells = true.like(_centres(true.points))
        spots = hotspots(cells)
        for epsilon in _EPSILONS:
            design = AmongRoutes(routes, epsilon=epsilon, prior=(public, "the public half"))
            facts = {
                "nearest public path": Paths.of(design.perturb(request, source=Seeded(setting.seed)).values)
            }
            for kind in (TraCSC, TraCSD):
                divided = kind(SQUARE, epsilon=epsilon, unit="trajectory")
                noisy = divided.perturb(true, source=Seeded(setting.seed)).values.reshape(-1, 2)
                facts[f"{kind.__name__}, ε/{_POINTS} a place"] = true.like(noisy)
            facts["one public path, not asked"] = true.like(np.tile(_middle(design), (len(true), 1)))
            for mechanism, noisy_paths in facts.items():
                found.append(
                    {
                        "variant": RIGHT,
                        "panel": panel,
                        "mechanism": mechanism,
                        "epsilon": epsilon,
                        "error": average_error(true, noisy_paths),
                        "within": within_range(true, noisy_paths, 0.1),
                        "lost": hotspots_lost(cells, true.like(_centres(noisy_paths.points)), spots),
                    }
                )
    return found


def _centres(locations: np.ndarray) -> np.ndarray:
    """Return the centres of the cells of locations."""
    return np.asarray((np.minimum(np.floor(locations * _GRID), _GRID - 1) + 0.5) / _GRID)


def _middle(design: AmongRoutes) -> np.ndarray:
    """Return the coordinatewise median of the public paths."""
    return np.asarray(design.domain.places(np.median(design.public, axis=0)))


_FILES: Final = tuple(dict.fromkeys(file for name in ("tky", "chi") for file in files(name, ordered=True)))

FIGURES: Final = [
    Figure(
        PAPER,
        "Complete paths",
        "one ε for a complete path",
        _complete_paths,
        Lines("epsilon", "error", "mechanism", together=False, labels={"error": "mean error of a place"}),
        expected(PAPER, "Complete paths"),
        needs=_FILES,
        notes=(
            "Not in the dissertation. Half of the paths are public; errors are in sides of the square, at "
            "8 places a path, in the order of time; hotspots are cells of a grid of 10 × 10.",
        ),
    ),
]
