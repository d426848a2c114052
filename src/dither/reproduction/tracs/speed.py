"""Table 6.2: the running time of one location. Only its order of magnitude depends on the mechanisms."""

from __future__ import annotations

import time
from typing import Final

from dither.mechanisms.places.atp import ATP
from dither.mechanisms.places.lsrr import LSRR
from dither.mechanisms.places.ngram import NGram
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.tracs_d import TraCSD
from dither.post_processing import Rounded
from dither.reproduction.figure import Figure, Setting
from dither.reproduction.tracs.data import SQUARE, random_paths, sources
from dither.reproduction.tracs.measuring import PAPER, Make, Rows
from dither.reproduction.version import PUBLISHED, RIGHT

_PRINTED: Final = {  # total and perturbing alone, in milliseconds
    "ATP": (145.7, 125.8),
    "NGram": (100.9, 92.8),
    "L-SRR": (6.2, 0.003),
    "TraCS-D": (0.06, 0.018),
    "TraCS-C": (0.05, 0.003),
}


def _timed(setting: Setting) -> Rows:
    """Time the mechanisms on as many public points as Tokyo has places, drawn at random."""
    places = random_paths(SQUARE, 1, setting.runs(7798, 1000), sources(setting, 1)[0]).points
    points = [(x, y) for x, y in places.tolist()]
    paths = random_paths(SQUARE, 100, 20, sources(setting, 2)[1])
    makers: dict[str, Make] = {
        "ATP": lambda area, **more: ATP(area, points, **more),
        "NGram": lambda area, **more: NGram(area, points, **more),
        "L-SRR": lambda area, **more: LSRR.as_meant(area, points, **more),
        "TraCS-D": TraCSD,
        "TraCS-C": TraCSC,
    }
    found: Rows = [
        {"version": PUBLISHED, "mechanism": name, "milliseconds": total, "perturbing": alone}
        for name, (total, alone) in _PRINTED.items()
    ]
    reading = Rounded(points)
    for name, make in makers.items():
        mechanism = make(SQUARE, epsilon=4.0)
        mechanism.perturb(paths.points[:2])  # tables are made at the first use
        begin = time.process_time()
        reports = mechanism.perturb(paths)
        alone = time.process_time() - begin
        _ = reading(reports.values) if name.startswith("TraCS") else reports.values
        total = time.process_time() - begin
        each = 1e3 / len(paths.points)
        found.append(
            {"version": RIGHT, "mechanism": name, "milliseconds": total * each, "perturbing": alone * each}
        )
    return found


FIGURES: Final = [
    Figure(
        PAPER,
        "Table 6.2",
        "milliseconds a location",
        _timed,
        notes=("The published script times New York; the machines differ; only the order is comparable.",),
    )
]
