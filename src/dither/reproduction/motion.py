"""Paper 001, Section 7.2: means and distributions of smartphone sensors (MotionSense)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.arrays import Floats
from dither.domains import Circle, Interval
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.ogpmu import OGPMU
from dither.mechanisms.numeric.pm import PM
from dither.mechanisms.numeric.sw import SW
from dither.randomness import Seeded
from dither.reproduction.figure import CODED, RIGHT, Setting

Rows = list[dict[str, Any]]

BUDGETS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
TURN = 2.0 * np.pi


def _columns(setting: Setting) -> tuple[Floats, Floats]:
    path = setting.needed("motionsense_dws1_sub1-3.parquet")
    from pyarrow import parquet

    table = parquet.read_table(path)
    walk = table.column("userAcceleration.x").to_numpy()
    # The authors scale by the data's own extremes; a real collection needs public bounds.
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
    """Return the distance between the histogram of reports and that of the data, over 49 bins as coded."""
    linear, angles = _columns(setting)
    rows: Rows = []
    for panel, data, top, kinds in (("interval", linear, 1.0, _linear), ("circle", angles, TURN, _angular)):
        edges = np.linspace(0.0, top, 50)
        truth = np.histogram(data, edges)[0]
        for epsilon in BUDGETS:
            for name, mechanism in kinds(epsilon).items():
                runs = setting.runs(200, 20)
                source = Seeded(setting.seed)
                gaps = [
                    np.histogram(mechanism.perturb(data, source=source).values, edges)[0] - truth
                    for _ in range(runs)
                ]
                coded = float(np.mean([np.linalg.norm(gap) for gap in gaps]))
                stated = float(np.mean([np.abs(gap).sum() for gap in gaps])) / data.size
                row = {"panel": panel, "ε": epsilon, "mechanism": name}
                rows.append({"version": CODED, **row, "error": coded})
                rows.append({"version": RIGHT, **row, "error": stated})
    return rows


def figure_17(setting: Setting) -> Rows:
    """Return the error of the plain average: of many runs averaged, as coded, and of one run, as stated."""
    linear, angles = _columns(setting)
    runs = setting.runs(500, 40)
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
