"""Chapter 6 in discrete space: Figures 6.8 to 6.10, D.3 and D.7."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from dither.domains import Paths
from dither.maps.metrics import (
    average_error,
    hotspots,
    hotspots_lost,
    hotspots_miscounted,
    within_range,
)
from dither.mechanisms.combined.post_processing import Rounded
from dither.mechanisms.places.atp import ATP
from dither.mechanisms.places.gridding import Gridding
from dither.mechanisms.places.lsrr import LSRR
from dither.mechanisms.places.ngram import NGram
from dither.mechanisms.places.path import PathMechanism
from dither.mechanisms.places.points import Points, grid
from dither.mechanisms.places.tracs_c import TraCSC
from dither.mechanisms.places.tracs_d import TraCSD
from dither.numerics.false_position import power_law_root
from dither.privacy import TRAJECTORY
from dither.reproduction.figure import CODED, PUBLISHED, RIGHT, Figure, Setting, lines
from dither.reproduction.tracs.coded import CORNER, RawBeyondTen
from dither.reproduction.tracs.data import SQUARE, City, city, files, grid_paths, sources
from dither.reproduction.tracs.measuring import PAPER, Make, Rows, expect, expect_published, repeated
from dither.reproduction.tracs.published import EPSILONS, rows
from dither.reproduction.tracs.published import PUBLISHED as TABLES

Measure = Callable[[Paths, Paths], dict[str, float]]
Round = Callable[[Any], Any]

MEANT: Final = "L-SRR with c = e^ε"  # as it must be meant; it spends more than ε


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
        "NGram": lambda area, **more: NGram(area, points, **more),
        "L-SRR": lambda area, **more: LSRR(area, points, **more),
    }


def spending(make: Make, epsilon: float) -> float:
    """Return the nominal budget at which a mechanism spends ε, to 10⁻³; the two are nearly proportional."""

    def ratio(label: float) -> float:
        return float(make(SQUARE, epsilon=label).guarantee.epsilon / epsilon)

    return power_law_root(ratio, epsilon, -1.0, close=1e-3, steps=6, low=0.0, high=50.0)[0]


class ComparedMechanism(NamedTuple):
    """A mechanism with its label, the ε it spends, and how its places are rounded."""

    version: str
    name: str
    mechanism: PathMechanism[Any, Any]
    spent: float
    read: Round


def entries(points: Points, epsilon: float, rounded: Round, *, heavy: bool) -> Iterator[ComparedMechanism]:
    """Yield what is compared: as coded; repaired, at equal nominal ε; NGram at equal spent ε."""
    for version, makers in ((CODED, rivals(points, coded=True)), (RIGHT, rivals(points, coded=False))):
        for name, make in makers.items():
            mechanism = make(SQUARE, epsilon=epsilon)
            # Looking at every pair of thousands of points is left out.
            yield ComparedMechanism(
                version, name, mechanism, math.nan if heavy else mechanism.guarantee.epsilon, _same
            )
    nearest = Rounded(points)
    yield ComparedMechanism(CODED, "TraCS-D", TraCSD(SQUARE, epsilon=epsilon, start=CORNER), epsilon, rounded)
    yield ComparedMechanism(CODED, "TraCS-C", TraCSC(SQUARE, epsilon=epsilon), epsilon, rounded)
    yield ComparedMechanism(RIGHT, "TraCS-D", TraCSD(SQUARE, epsilon=epsilon), epsilon, nearest)
    yield ComparedMechanism(RIGHT, "TraCS-C", TraCSC(SQUARE, epsilon=epsilon), epsilon, nearest)
    if not heavy:
        make = rivals(points, coded=False)["NGram"]
        alike = make(SQUARE, epsilon=spending(make, epsilon))
        yield ComparedMechanism(RIGHT, "NGram spending ε", alike, alike.guarantee.epsilon, _same)


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
            told = entry.read(entry.mechanism.perturb(paths, source=root.spawn()).values)
            where = {"version": entry.version, **also, "epsilon": epsilon, "mechanism": entry.name}
            found.append({**where, "spent": entry.spent, **measure(paths, paths.like(told))})
    return found


def _same(places: Any) -> Any:
    return places


def _error(paths: Paths, noisy: Paths) -> dict[str, float]:
    return {"error": average_error(paths, noisy)}


def _grid(side: int, published: str) -> Callable[[Setting], Rows]:
    def make(setting: Setting) -> Rows:
        count = setting.runs(100, 20) if side == 10 else setting.runs(20, 3)
        paths = grid_paths(side, count, 100, sources(setting, 1)[0])

        def floored(places: Any) -> Any:
            return np.floor(np.asarray(places) * side) / side

        measured = compared(paths, grid(SQUARE, side + 1), setting, _error, floored, heavy=side > 10)
        return rows(published, PUBLISHED) + measured

    return make


def _chosen(setting: Setting, name: str) -> City:
    """Return the paths that the programs take: Tokyo's first ten, Chicago's second hundred."""
    return city(setting, name).chosen(*((0, 10) if name == "tky" else (100, 200)))


def _in_degrees(town: City) -> Measure:
    return lambda paths, noisy: {"error": average_error(town.in_degrees(paths), town.in_degrees(noisy))}


def _points(town: City) -> Points:
    return [(x, y) for x, y in town.points.tolist()]


def _towns(setting: Setting) -> Rows:
    found: Rows = []
    for name in ("tky", "chi"):
        town = _chosen(setting, name)
        points = _points(town)
        found += rows(f"fig6.9_{name}", PUBLISHED, panel=town.name)
        found += compared(
            town.paths,
            points,
            setting,
            _in_degrees(town),
            Rounded(points),
            heavy=name == "tky",
            panel=town.name,
        )
    return found


def _other_measures(setting: Setting) -> Rows:
    """Return the rows of Figure 6.10: range queries and hotspots in Chicago."""
    town = _chosen(setting, "chi")
    points = _points(town)
    spots = hotspots(town.paths)

    def measure(paths: Paths, noisy: Paths) -> dict[str, float]:
        return {
            "within": within_range(town.in_degrees(paths), town.in_degrees(noisy), 0.1),
            "lost": hotspots_lost(paths, noisy, spots),
            "miscounted": hotspots_miscounted(paths, noisy, spots),
        }

    found = rows("fig6.10_rqp_chi", PUBLISHED, column="within")
    for one, two in zip(found, rows("fig6.10_cd_chi", PUBLISHED, column="miscounted"), strict=True):
        one["miscounted"] = two["miscounted"]
    return found + compared(
        repeated(town.paths, setting.runs(10, 4)), points, setting, measure, Rounded(points)
    )


def _whole_trajectories(setting: Setting) -> Rows:
    """Return the rows of Figure D.7: the budget, ε times the mean length, is divided among locations."""
    found: Rows = []
    for name, length in (("tky", 113), ("chi", 13)):
        town = _chosen(setting, name)
        points = _points(town)
        key = f"figD.7_{name}_traj_eps"
        found += rows(key, PUBLISHED, panel=town.name)
        makers: dict[tuple[str, str], Make] = {
            **{(CODED, one): make for one, make in rivals(points, coded=True, reach=0.8).items()},
            **{(RIGHT, one): make for one, make in rivals(points, coded=False).items() if "L-SRR" not in one},
            (RIGHT, "TraCS-D"): partial(TraCSD, reading=Rounded(points)),
            (RIGHT, "TraCS-C"): partial(TraCSC, reading=Rounded(points)),
        }
        for epsilon in EPSILONS:
            found.append(_raw(town, points, epsilon, epsilon * length, setting))
            for ((version, one), make), source in zip(
                makers.items(), sources(setting, len(makers)), strict=True
            ):
                told = make(SQUARE, epsilon=epsilon * length, unit=TRAJECTORY).perturb(
                    town.paths, source=source
                )
                error = _in_degrees(town)(town.paths, town.paths.like(told.values))
                where = {"version": version, "panel": town.name, "epsilon": epsilon, "mechanism": one}
                found.append({**where, **error})
    return found


def _raw(town: City, points: Points, label: float, budget: float, setting: Setting) -> dict[str, Any]:
    """Return the row of the program, whose directions are unperturbed if ε per location is large."""
    (source,), read = sources(setting, 1), Rounded(points)
    told = [
        TraCSD(SQUARE, epsilon=min(budget / len(path), 50.0), start=CORNER, direction=RawBeyondTen).perturb(
            path, source=source
        )
        for path in town.paths
    ]
    noisy = town.paths.like(read(np.concatenate([one.values for one in told])))
    where = {"version": CODED, "panel": town.name, "epsilon": label, "mechanism": "TraCS-D"}
    return {**where, **_in_degrees(town)(town.paths, noisy)}


def _gridding(setting: Setting) -> Rows:
    """Return the rows of Figure D.3: the corner of the unit square, on a coarse and on a fine grid."""
    paths = Paths.of(np.zeros((setting.runs(5000, 1000), 1, 2)))
    makers: dict[str, Make] = {
        "gridding 10 × 10": partial(Gridding, side=10),
        "gridding 100 × 100": partial(Gridding, side=100),
        "TraCS-C": TraCSC,
    }
    found = rows("figD.3_gridding", PUBLISHED)
    for epsilon in EPSILONS:
        for (name, make), source in zip(makers.items(), sources(setting, len(makers)), strict=True):
            error = average_error(paths, make(SQUARE, epsilon=epsilon).perturb(paths, source=source))
            found.append({"version": RIGHT, "epsilon": epsilon, "mechanism": name, "error": error})
    return found


_CURVES: Final = lines("epsilon", "error", "mechanism")
_HONEST: Final = (
    "As coded, NGram and ATP promise nothing: what they can report depends on the exact true place.",
    "`spent` is the ε that is spent. NGram repaired spends about half its nominal ε, and is shown at equal "
    "spending as well.",
)
_FIVE: Final = ("ATP", "NGram", "L-SRR", "TraCS-D", "TraCS-C")
_BOTH: Final = tuple(dict.fromkeys(file for name in ("tky", "chi") for file in files(name)))

FIGURES: Final = [
    Figure(
        PAPER,
        "Figure 6.8a",
        "a grid of 11 × 11 points",
        _grid(10, "fig6.8a_grid10"),
        _CURVES,
        [
            *expect(CODED, "ATP", (0.394, 0.395, 0.357, 0.34, 0.33), 0.1),
            *expect(RIGHT, "ATP", (0.523, 0.496, 0.463, 0.441, 0.414), 0.1),
            *expect(CODED, "NGram", (0.482, 0.415, 0.368, 0.311, 0.279), 0.1),
            *expect(RIGHT, "NGram", (0.493, 0.441, 0.381, 0.347, 0.297), 0.1),
            *expect(CODED, "L-SRR", (0.496, 0.432, 0.398, 0.39, 0.378), 0.1),
            *expect(RIGHT, "TraCS-D", (0.468, 0.331, 0.245, 0.172, 0.127), 0.1),
            *expect(RIGHT, "TraCS-C", (0.399, 0.285, 0.196, 0.119, 0.059), 0.1),
            *expect(CODED, "TraCS-C", (0.4, 0.296, 0.201, 0.16, 0.128), 0.1),
            *expect(RIGHT, MEANT, (0.4, 0.333, 0.323, 0.321, 0.318), 0.1),
            *expect_published("fig6.8a_grid10", 0.15, "NGram", "L-SRR", "TraCS-D", "TraCS-C"),
        ],
        notes=("The published grids have one point more a side than said.", *_HONEST),
    ),
    Figure(
        PAPER,
        "Figure 6.8b",
        "a grid of 61 × 61 points",
        _grid(60, "fig6.8b_grid60"),
        _CURVES,
        expect_published("fig6.8b_grid60", 0.2, "ATP", "NGram", "L-SRR", "TraCS-D", "TraCS-C"),
        notes=_HONEST,
    ),
    Figure(
        PAPER,
        "Figure 6.9",
        "the places of Tokyo and Chicago, in degrees",
        _towns,
        _CURVES,
        [
            *expect(CODED, "ATP", (0.149, 0.157, 0.141, 0.135, 0.132), 0.2, panel="CHI"),
            *expect(RIGHT, "TraCS-D", (0.156, 0.111, 0.075, 0.05, 0.038), 0.2, panel="CHI"),
            *expect(RIGHT, "TraCS-C", (0.168, 0.122, 0.078, 0.048, 0.03), 0.2, panel="CHI"),
            *expect(CODED, "TraCS-D", (0.228, 0.157, 0.117, 0.074, 0.052), 0.2, panel="CHI"),
            *expect(CODED, "NGram", (0.163, 0.126, 0.107, 0.102, 0.084), 0.2, panel="CHI"),
            *expect(CODED, "L-SRR", (0.145, 0.146, 0.137, 0.133, 0.124), 0.2, panel="CHI"),
            *expect(RIGHT, "ATP", (0.169, 0.167, 0.149, 0.15, 0.147), 0.2, panel="CHI"),
            *expect(RIGHT, MEANT, (0.121, 0.13, 0.127, 0.113, 0.127), 0.2, panel="CHI"),
            *expect(CODED, "ATP", (0.08, 0.0776, 0.0731, 0.0651, 0.0651), 0.15, panel="TKY"),
            *expect(RIGHT, "ATP", (0.107, 0.101, 0.09, 0.087, 0.083), 0.15, panel="TKY"),
            *expect(CODED, "NGram", (0.0976, 0.0873, 0.0839, 0.0718, 0.0664), 0.15, panel="TKY"),
            *expect(CODED, "L-SRR", (0.099, 0.0971, 0.0968, 0.0969, 0.0922), 0.15, panel="TKY"),
            *expect(RIGHT, MEANT, (0.0925, 0.0907, 0.0973, 0.0934, 0.0913), 0.15, panel="TKY"),
            *expect(RIGHT, "TraCS-D", (0.1317, 0.0917, 0.0659, 0.0529, 0.0415), 0.15, panel="TKY"),
            *expect(RIGHT, "TraCS-C", (0.1272, 0.091, 0.0663, 0.0427, 0.0275), 0.15, panel="TKY"),
        ],
        needs=_BOTH,
        notes=_HONEST,
    ),
    Figure(
        PAPER,
        "Figure 6.10",
        "range queries and hotspots in Chicago",
        _other_measures,
        lines("epsilon", "within", "mechanism"),
        [
            *expect_published("fig6.10_rqp_chi", 0.1, *_FIVE, column="within", absolute=True),
            *expect_published("fig6.10_cd_chi", 0.7, *_FIVE, column="miscounted", absolute=True),
        ],
        needs=files("chi"),
        notes=(
            "The programs compare counts of hotspot visits; the definition counts the visits that are lost.",
        ),
    ),
    Figure(
        PAPER,
        "Figure D.3",
        "gridding the unit square",
        _gridding,
        _CURVES,
        [
            *expect(RIGHT, "TraCS-C", (0.5933, 0.4343, 0.3019, 0.2013, 0.13), 0.06),
            *(
                one
                for name in ("gridding 10 × 10", "gridding 100 × 100")
                for one in expect(RIGHT, name, TABLES["figD.3_gridding"][name], 0.1, source="published")
            ),
        ],
        notes=("The published points of TraCS-C lie up to 16 % below the exact mean, which is an integral.",),
    ),
    Figure(
        PAPER,
        "Figure D.7",
        "ε for a whole trajectory",
        _whole_trajectories,
        _CURVES,
        [
            *expect_published("figD.7_tky_traj_eps", 0.2, "NGram", "L-SRR", "TraCS-D", panel="TKY"),
            *expect_published("figD.7_chi_traj_eps", 0.2, "NGram", "TraCS-D", panel="CHI"),
        ],
        needs=_BOTH,
        notes=("The program reports directions unperturbed if a location's share of ε exceeds 13.2.",),
    ),
]
