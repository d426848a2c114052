"""Draw what a classifier keeps: `python docs/draw_classifiers.py` writes two of the pictures.

Breast cancer as it comes with scikit-learn, two features, a forest and a plane trained here.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from narrow import save_with_portrait
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dither as dt
from dither.extensions.classifiers.result import Case
from dither.extensions.classifiers.utility import draw_boundary
from dither.foundation.plotting import dress_axes

NAMES = ("worst texture", "worst concave points")
DOMAINS = dict(zip(NAMES, (dt.Interval(12, 50), dt.Interval(0, 0.3)), strict=True))
RECORD = 44
TITLES = ("Logistic regression", "Random forest")
PICTURES = Path(__file__).with_name("pictures")


def main() -> None:
    """Write the pictures."""
    plt.rcParams["svg.hashsalt"] = "dither"
    data = load_breast_cancer()
    columns = [list(data.feature_names).index(name) for name in NAMES]
    people, x = data.data[:, columns], data.data[RECORD, columns]
    plane = make_pipeline(StandardScaler(), LogisticRegression()).fit(people, data.target)
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(people, data.target)
    _map(plane, forest, x)
    _curves(forest, x)


def _map(plane: object, forest: object, x: np.ndarray) -> None:
    figure, both = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
    for axes, model, title in zip(both, (plane, forest), TITLES, strict=True):
        case = Case.of(model, x, NAMES, NAMES)
        boxes = {
            "proved box, sides one by one": dt.classifiers.hyperrectangle(model, x, DOMAINS, names=NAMES).box,
            "proved box, all sides alike": dt.classifiers.radius(model, x, DOMAINS, names=NAMES).box,
        }
        draw_boundary(case, tuple(DOMAINS.values()), boxes, NAMES, ax=axes)
        axes.legend(frameon=False, loc="lower left", fontsize=8)
        dress_axes(axes, title=f"{title}: where the answer stays", x=f"{NAMES[0]} (grey values)")
    _save(figure, "classifiers-map.svg")


def _curves(forest: object, x: np.ndarray) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    budgets = np.geomspace(0.2, 20, 24).tolist()
    kinds = {
        "OGPM": dt.OGPM,
        "redesigned SW": lambda domain, epsilon: dt.SW(domain, epsilon=epsilon).redesigned(),
        "clamped Laplace": lambda domain, epsilon: dt.Laplace(domain, epsilon=epsilon).truncated(),
    }
    each = dt.Each({feature: dt.OGPM(domain, epsilon=1) for feature, domain in DOMAINS.items()})
    asked = dt.classifiers.utility_curve(
        forest.predict,
        x,
        each,
        budgets,
        names=NAMES,
        method="importance sampling",
        source=dt.Seeded(1),
    )
    asked.plot(ax=axes, label="OGPM, from 20 000 queries (95 % band)")
    for name, kind in kinds.items():
        each = dt.Each({feature: kind(domain, epsilon=1) for feature, domain in DOMAINS.items()})
        dt.classifiers.utility_curve(forest, x, each, budgets, names=NAMES).plot(
            ax=axes, label=f"{name}, exact"
        )
    axes.set_xscale("log")
    dress_axes(axes, x="ε of the whole record")
    _save(figure, "classifiers-curve.svg")


def _save(figure: plt.Figure, name: str) -> None:
    save_with_portrait(figure, PICTURES / name, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
