"""Chapter 6 by other measures and by other budgets: Figures 6.10 and D.7."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from dither.core.domains import Paths
from dither.core.post_processing import Rounded
from dither.core.question import MOST_EPSILON
from dither.estimation.maps.metrics import hotspots, hotspots_lost, hotspots_miscounted, within_range
from dither.foundation.randomness import Source
from dither.mechanisms.places.base import Points
from dither.mechanisms.places.rivals import ATP, NGram
from dither.mechanisms.places.tracs import TraCSC, TraCSD
from dither_papers.drawing import CODED, PUBLISHED, RIGHT, Lines, Panels, Picture, Rows
from dither_papers.figure import Figure, Setting
from dither_papers.tracs.coded import CORNER, RawBeyondTen
from dither_papers.tracs.measuring import (
    PAPER,
    SQUARE,
    City,
    Make,
    expect,
    expect_published,
    files,
    repeated,
    sources,
)
from dither_papers.tracs.published import EPSILONS, rows
from dither_papers.tracs.rivals import CITIES, DEGREES, chosen, compared, in_degrees, points_of, rivals


def _other_measures(setting: Setting) -> Rows:
    """Return the rows of Figure 6.10: range queries and hotspots in Chicago."""
    town = chosen(setting, "chi")
    points = points_of(town)
    spots = hotspots(town.paths)

    def measure(paths: Paths, noisy: Paths) -> dict[str, float]:
        return {
            "within": within_range(town.in_degrees(paths), town.in_degrees(noisy), 0.1),
            "lost": hotspots_lost(paths, noisy, spots),
            "miscounted": hotspots_miscounted(paths, noisy, spots),
        }

    found = rows("fig6.10_rqp_chi", PUBLISHED, column="within")
    for row, published in zip(found, rows("fig6.10_cd_chi", PUBLISHED, column="miscounted"), strict=True):
        row["miscounted"] = published["miscounted"]
    return found + compared(
        repeated(town.paths, setting.runs(10, 4)), points, setting, measure, Rounded(points)
    )


def _whole_trajectories(setting: Setting) -> Rows:
    """Return the rows of Figure D.7: the budget, ε times the mean length, is divided among locations."""
    found: Rows = []
    for name, length in (("tky", 113), ("chi", 13)):
        town = chosen(setting, name)
        points = points_of(town)
        key = f"figD.7_{name}_traj_eps"
        found += rows(key, PUBLISHED, panel=town.name)
        programs = rivals(points, coded=True, reach=0.8)
        makers: dict[str, Make] = {
            "TraCS-D": partial(TraCSD, reading=Rounded(points)),
            "TraCS-C": partial(TraCSC, reading=Rounded(points)),
            "ATP": lambda area, points=points, **more: ATP(area, points, **more),
            "NGram": lambda area, points=points, **more: NGram(area, points, **more),
        }
        if setting.quick:  # ATP walks; NGram's scale is searched for each of Tokyo's lengths
            makers.pop("ATP")
            if name == "tky":
                makers.pop("NGram")
        for epsilon in EPSILONS:
            budget = epsilon * length
            found.append(_raw(town, points, epsilon, budget, setting))
            for rival, make in programs.items():
                noisy = _divided(make, town.paths, budget, sources(setting, 1)[0])
                where = {"version": CODED, "panel": town.name, "epsilon": epsilon, "mechanism": rival}
                found.append({**where, **in_degrees(town)(town.paths, noisy)})
            for (rival, make), source in zip(makers.items(), sources(setting, len(makers)), strict=True):
                reported = make(SQUARE, epsilon=budget, unit="trajectory").perturb(town.paths, source=source)
                where = {"version": RIGHT, "panel": town.name, "epsilon": epsilon, "mechanism": rival}
                found.append({**where, **in_degrees(town)(town.paths, town.paths.like(reported.values))})
    return found


def _divided(make: Make, paths: Paths, budget: float, source: Source) -> Paths:
    """Return the locations of a program that gives each location of a path its share of the budget.

    A program promises nothing, so nothing is checked: `unit="trajectory"` looks at all pairs of points.
    """
    noisy = np.empty_like(paths.points)
    for length in np.unique(paths.lengths).tolist():
        begins = paths.offsets[:-1][paths.lengths == length]
        rows = (begins[:, None] + np.arange(length)).reshape(-1)
        mechanism = make(SQUARE, epsilon=min(budget / length, MOST_EPSILON))
        part = paths.points[rows].reshape(-1, length, 2)
        noisy[rows] = mechanism.perturb(part, source=source).values.reshape(-1, 2)
    return paths.like(noisy)


def _raw(town: City, points: Points, label: float, budget: float, setting: Setting) -> dict[str, Any]:
    """Return the row of the program, whose directions are unperturbed if ε per location is large."""
    (source,), read = sources(setting, 1), Rounded(points)
    entries = [
        TraCSD(
            SQUARE, epsilon=min(budget / len(path), MOST_EPSILON), start=CORNER, direction=RawBeyondTen
        ).perturb(path, source=source)
        for path in town.paths
    ]
    noisy = town.paths.like(read(np.concatenate([path.values for path in entries])))
    where = {"version": CODED, "panel": town.name, "epsilon": label, "mechanism": "TraCS-D"}
    return {**where, **in_degrees(town)(town.paths, noisy)}


def _measures(panels: Panels, rows: Rows) -> None:
    """Draw the three measures one below the other."""
    names = {
        "within": "share of locations within 0.1 degrees",
        "miscounted": "hot-spot visits, difference of counts",
        "lost": "hot-spot visits lost",
    }
    long = [
        {**row, "panel": words, "value": row[column]}
        for column, words in names.items()
        for row in rows
        if row.get(column) is not None
    ]
    Lines("epsilon", "value", "mechanism", together=False, labels={"value": "share, or visits"}).draw(
        panels, long
    )


_FIVE: Final = ("ATP", "NGram", "L-SRR", "TraCS-D", "TraCS-C")

FIGURES: Final = [
    Figure(
        PAPER,
        "Figure 6.10",
        "range queries and hotspots in Chicago",
        _other_measures,
        Picture(
            _measures,
            "Three rows of panels against ε: the share of locations within 0.1 degrees, which grows fastest "
            "for TraCS-C and TraCS-D; the difference of the counts of visits to hot spots, which falls "
            "fastest for them; and the visits to hot spots that are lost. Columns: as published, as coded, "
            "right.",
        ),
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
        "Figure D.7",
        "ε for a whole trajectory",
        _whole_trajectories,
        DEGREES,
        [
            *expect_published("figD.7_tky_traj_eps", 0.2, "NGram", "L-SRR", "TraCS-D", panel="TKY"),
            *expect_published("figD.7_chi_traj_eps", 0.2, "NGram", "TraCS-D", panel="CHI"),
            *expect(RIGHT, "NGram", (0.0741, 0.0473, 0.038, 0.0315, 0.0275), 0.2, panel="CHI"),
        ],
        needs=CITIES,
        notes=(
            "The program reports directions unperturbed if a location's share of ε exceeds 13.2.",
            "Right, NGram spends all of its ε. A quick run leaves ATP out, and NGram in Tokyo.",
        ),
    ),
]
