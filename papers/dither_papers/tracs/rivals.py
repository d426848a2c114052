"""The mechanisms that chapter 6 compares on lists of locations, as coded and repaired, and their times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from dither.core.domains import Paths
from dither.core.post_processing import Rounded
from dither.estimation.maps.metrics import average_error
from dither.mechanisms.places.base import PathMechanism, Points
from dither.mechanisms.places.rivals import ATP, LSRR, NGram
from dither.mechanisms.places.tracs import TraCSC, TraCSD
from dither_papers.drawing import CODED, PUBLISHED, RIGHT, Lines, Rows
from dither_papers.figure import Figure, Setting
from dither_papers.tracs.coded import CORNER
from dither_papers.tracs.measuring import PAPER, SQUARE, City, Make, city, files, random_paths, sources
from dither_papers.tracs.published import EPSILONS

Measure = Callable[[Paths, Paths], dict[str, float]]
Round = Callable[[Any], Any]

HALF: Final = "NGram, printed scale"  # the scale ε/2Δ spends about half of ε
MEANT: Final = "L-SRR with c = e^ε"  # the likely intention; it spends more than ε


def rivals(points: Points, *, coded: bool, reach: float = 0.75) -> dict[str, Make]:
    """Return the rivals on a list of points: as coded, or repaired."""
    if coded:
        return {
            "ATP": lambda area, **more: ATP.as_published(area, points, **more),
            "NGram": lambda area, **more: NGram.as_published(area, points, reach=reach, **more),
            "L-SRR": lambda area, **more: LSRR.as_published(area, points, **more),
        }
    return {
        MEANT: lambda area, **more: LSRR.as_meant(area, points, **more),
        "ATP": lambda area, **more: ATP(area, points, **more),
        HALF: lambda area, **more: NGram(area, points, reach=1.0, **more),
        "L-SRR": lambda area, **more: LSRR(area, points, **more),
    }


class ComparedMechanism(NamedTuple):
    """A mechanism with its label, the ε it spends, and how its places are rounded."""

    version: str
    name: str
    mechanism: PathMechanism[Any]
    spent: float
    read: Round


def entries(points: Points, epsilon: float, rounded: Round, *, heavy: bool) -> Iterator[ComparedMechanism]:
    """Yield the compared mechanisms: as coded; repaired; NGram also with the scale that spends ε.

    On a `heavy` list of thousands of points the spent ε is left out, because it needs all pairs of points.
    """
    for version, makers in ((CODED, rivals(points, coded=True)), (RIGHT, rivals(points, coded=False))):
        for name, make in makers.items():
            mechanism = make(SQUARE, epsilon=epsilon)
            yield ComparedMechanism(version, name, mechanism, _spent(mechanism, heavy), _same)
    nearest = Rounded(points)
    yield ComparedMechanism(CODED, "TraCS-D", TraCSD(SQUARE, epsilon=epsilon, start=CORNER), epsilon, rounded)
    yield ComparedMechanism(CODED, "TraCS-C", TraCSC(SQUARE, epsilon=epsilon), epsilon, rounded)
    yield ComparedMechanism(RIGHT, "TraCS-D", TraCSD(SQUARE, epsilon=epsilon), epsilon, nearest)
    yield ComparedMechanism(RIGHT, "TraCS-C", TraCSC(SQUARE, epsilon=epsilon), epsilon, nearest)
    full = NGram(SQUARE, points, epsilon=epsilon)
    yield ComparedMechanism(RIGHT, "NGram", full, _spent(full, heavy), _same)


def _spent(mechanism: PathMechanism[Any], heavy: bool) -> float:
    return math.nan if heavy else mechanism.guarantee.epsilon


def compared(
    paths: Paths,
    points: Points,
    setting: Setting,
    measure: Measure,
    rounded: Round,
    *,
    heavy: bool = False,
    **also: Any,
) -> Rows:
    """Compare everything at each ε."""
    found: Rows = []
    root = sources(setting, 1)[0]
    for epsilon in EPSILONS:
        for entry in entries(points, epsilon, rounded, heavy=heavy):
            reported = entry.read(entry.mechanism.perturb(paths, source=root.spawn()).values)
            where = {"version": entry.version, **also, "epsilon": epsilon, "mechanism": entry.name}
            found.append({**where, "spent": entry.spent, **measure(paths, paths.like(reported))})
    return found


def _same(locations: Any) -> Any:
    return locations


ASKED: Final = {"tky": (0, 10), "chi": (100, 200)}  # the paths that the programs take


def chosen(setting: Setting, name: str) -> City:
    """Return the paths that the programs take: Tokyo's first ten, Chicago's second hundred."""
    return city(setting, name).chosen(*ASKED[name])


def in_degrees(town: City) -> Measure:
    """Return the average error in degrees."""
    return lambda paths, noisy: {"error": average_error(town.in_degrees(paths), town.in_degrees(noisy))}


def points_of(town: City) -> Points:
    """Return the locations of a city as public points."""
    return [(x, y) for x, y in town.points.tolist()]


CURVES: Final = Lines(
    "epsilon", "error", "mechanism", together=False, labels={"error": "average error of a location"}
)
DEGREES: Final = Lines(
    "epsilon", "error", "mechanism", together=False, labels={"error": "average error in degrees"}
)
CITIES: Final = tuple(dict.fromkeys(file for name in ("tky", "chi") for file in files(name)))


_PRINTED: Final = {  # milliseconds in total, and for perturbing only
    "ATP": (145.7, 125.8),
    "NGram": (100.9, 92.8),
    "L-SRR": (6.2, 0.003),
    "TraCS-D": (0.06, 0.018),
    "TraCS-C": (0.05, 0.003),
}


def _timed(setting: Setting) -> Rows:
    """Time the mechanisms on random public points, one for each location of Tokyo."""
    locations = random_paths(SQUARE, 1, setting.runs(7798, 1000), sources(setting, 1)[0]).points
    points = [(x, y) for x, y in locations.tolist()]
    paths = random_paths(SQUARE, 100, 20, sources(setting, 2)[1])
    makers: dict[str, Make] = {
        "ATP": lambda area, **more: ATP(area, points, **more),
        "NGram": lambda area, **more: NGram(area, points, reach=1.0, **more),
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
