"""Section 7.2 of the OGPM paper: means and distributions of smartphone sensors (MotionSense)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dither.core.domains import Circle, Interval
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded
from dither.mechanisms.numeric.ogpm import OGPM, OGPMU
from dither.mechanisms.numeric.pm import PM
from dither.mechanisms.numeric.sw import SW
from dither_papers.drawing import CODED, PUBLISHED, RIGHT, Lines, Rows
from dither_papers.figure import Figure, Setting, expected

TURN: Final = 2.0 * np.pi
_FILE: Final = "motionsense_dws1_sub1-3.parquet"
_RUNS: Final = 500  # the paper's number


BUDGETS: Final = tuple(float(epsilon) for epsilon in np.linspace(1.0, 8.0, 15))  # the authors' grid


def _columns(setting: Setting) -> tuple[Floats, Floats]:
    path = setting.needed(_FILE)
    from pyarrow import parquet

    table = parquet.read_table(path)
    walk = table.column("userAcceleration.x").to_numpy()
    # The authors scale by the extremes of the data; a real collection needs public bounds.
    linear = (walk - walk.min()) / (walk.max() - walk.min())
    return linear, np.mod(table.column("attitude.roll").to_numpy(), TURN)


def _linear(epsilon: float) -> dict[str, Any]:
    unit = Interval(0, 1)
    return {
        "OGPM": OGPM(unit, epsilon=epsilon),
        "PM-C": PM(unit, epsilon=epsilon).compressed(),
        "SW-C": SW(unit, epsilon=epsilon).compressed(),
    }


def _angular(epsilon: float) -> dict[str, Any]:
    flat = Interval(0, TURN)
    return {
        "OGPM": OGPM(Circle(), epsilon=epsilon),
        "PM-C": PM(flat, epsilon=epsilon).compressed(),
        "SW-C": SW(flat, epsilon=epsilon).compressed(),
    }


def figure_16(setting: Setting) -> Rows:
    """Return the distance between the histograms of reports and data, over 49 bins as coded."""
    linear, angles = _columns(setting)
    rows: Rows = []
    for panel, data, top, kinds in (("interval", linear, 1.0, _linear), ("circle", angles, TURN, _angular)):
        edges = np.linspace(0.0, top, 50)
        truth = np.histogram(data, edges)[0]
        for epsilon in BUDGETS:
            for name, mechanism in kinds(epsilon).items():
                runs = setting.runs(_RUNS, 20)
                source = Seeded(setting.seed)
                gaps = [
                    np.histogram(mechanism.perturb(data, source=source).values, edges)[0] - truth
                    for _ in range(runs)
                ]
                coded = float(np.mean([np.linalg.norm(gap) for gap in gaps]))
                stated = float(np.mean([np.abs(gap).sum() for gap in gaps])) / data.size
                row = {"ε": epsilon, "mechanism": name}
                rows.append({"version": CODED, "panel": f"{panel}, norm of counts", **row, "error": coded})
                rows.append({"version": RIGHT, "panel": f"{panel}, sum over shares", **row, "error": stated})
    return rows


def figure_17(setting: Setting) -> Rows:
    """Return the error of the plain average: for many runs averaged, as coded, and for one run, as stated."""
    linear, angles = _columns(setting)
    runs = setting.runs(_RUNS, 40)
    rows: Rows = []
    for epsilon in BUDGETS:
        kinds = {**_linear(epsilon), "OGPM-U": OGPMU(Interval(0, 1), epsilon=epsilon)}
        kinds["PM"] = PM(Interval(0, 1), epsilon=epsilon)
        for name, mechanism in kinds.items():
            source = Seeded(setting.seed)
            means = [mechanism.perturb(linear, source=source).values.mean() for _ in range(runs)]
            gaps = np.array(means) - linear.mean()
            row = {"panel": "interval", "ε": epsilon, "mechanism": name}
            rows.append({"version": CODED, **row, "error": float(abs(gaps.mean()))})
            rows.append({"version": RIGHT, **row, "error": float(np.abs(gaps).mean())})
        truth = np.exp(1j * angles).mean()
        for name, mechanism in _angular(epsilon).items():
            source = Seeded(setting.seed)
            turns = [np.exp(1j * mechanism.perturb(angles, source=source).values).mean() for _ in range(runs)]
            gaps = np.abs(np.angle(np.array(turns) / truth))
            rows.append(
                {
                    "version": RIGHT,
                    "panel": "circle",
                    "ε": epsilon,
                    "mechanism": name,
                    "error": float(gaps.mean()),
                }
            )
    return rows


def section_7_2(setting: Setting) -> Rows:
    """Return the percentages of Section 7.2: the mean of OGPM's errors over ε, over the mean of a rival's."""
    rows: Rows = []
    made = {"distribution": figure_16(setting), "mean": figure_17(setting)}
    for claim, version in ((claim, version) for claim in made for version in (CODED, RIGHT)):
        for panel in ("interval", "circle"):
            inner = [
                row for row in made[claim] if row["version"] == version and row["panel"].startswith(panel)
            ]
            mean = {
                name: float(np.mean([row["error"] for row in inner if row["mechanism"] == name]))
                for name in ("OGPM", "PM-C", "SW-C")
                if inner
            }
            if mean:
                shares = {f"of {name}": 100 * mean["OGPM"] / mean[name] for name in ("PM-C", "SW-C")}
                rows.append({"version": version, "claim": f"{claim}, {panel}", **shares})
    for claim, of_pm, of_sw in _PRINTED:
        rows.append({"version": PUBLISHED, "claim": claim, "of PM-C": of_pm, "of SW-C": of_sw})
    return rows


_PRINTED: Final = (
    ("distribution, interval", 93.5, 86.7),
    ("distribution, circle", 72.2, 84.0),
    ("mean, interval", 66.2, 55.4),
    ("mean, circle", 2.3, 3.6),
)

FIGURES: Final = (
    Figure(
        "ogpm",
        "figure 16",
        "Distributions of MotionSense",
        figure_16,
        Lines("ε", "error", "mechanism", log="y", labels={"error": "distance of histograms"}),
        expected("ogpm", "figure 16"),
        needs=(_FILE,),
        notes=(
            "As coded is the Euclidean norm of the difference of counts in 49 bins; right is the sum of "
            "absolute differences of shares, as the text defines it.",
        ),
    ),
    Figure(
        "ogpm",
        "figure 17",
        "Means of MotionSense",
        figure_17,
        Lines("ε", "error", "mechanism", together=False, log="y", labels={"error": "error of the mean"}),
        expected("ogpm", "figure 17"),
        needs=(_FILE,),
        notes=(
            "The paper plots |bias|, the error of many runs averaged; right is the average error of a run.",
        ),
    ),
    Figure(
        "ogpm",
        "section 7.2",
        "The percentages of Section 7.2",
        section_7_2,
        expected=expected("ogpm", "section 7.2"),
        needs=(_FILE,),
        notes=("OGPM's mean over the authors' grid of ε, 1 to 8 by 0.5, relative to each rival; 500 runs.",),
    ),
)
