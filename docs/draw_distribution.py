"""Draw docs/pictures/distribution.png: what `dt.distribution` says of two populations, and the truth.

python docs/draw_distribution.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from narrow import save_with_portrait

import dither as dt
from dither.foundation.plotting import dress_axes

mpl.use("Agg")
from matplotlib import pyplot

HERE = Path(__file__).parent
PEOPLE, EPSILON = 100_000, 1.0


def main() -> None:
    """Draw two shapes from seeded reports."""
    rng = np.random.default_rng(7)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 3.8), constrained_layout=True)
    places = np.linspace(0, 180, 721)

    # Two groups of commuters, by bicycle and by train.
    groups = ((0.55, 25.0, 9.0), (0.45, 80.0, 14.0))
    which = rng.random(PEOPLE) < groups[0][0]
    minutes = np.where(which, rng.normal(25, 9, PEOPLE), rng.normal(80, 14, PEOPLE)).clip(0, 180)
    question = dt.SW(dt.Interval(0, 180), epsilon=EPSILON)
    dt.distribution(question.perturb(minutes, source=dt.Seeded(7))).plot(ax=left)
    truth = sum(
        share * np.exp(-(((places - centre) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
        for share, centre, width in groups
    )
    left.plot(places, truth, color="black", linewidth=1.0, linestyle="--", label="the truth")
    title = f"{PEOPLE:,}".replace(",", "\u202f") + f" people, ε = {EPSILON:g} each"
    dress_axes(left, title=title, x="minutes", y="share per minute")
    left.legend(frameon=False, fontsize="small")

    # Four in ten do not commute at all.
    home = rng.random(PEOPLE) < 0.4
    minutes = np.where(home, 0.0, 180 * rng.beta(2, 5, PEOPLE))
    shape = dt.distribution(question.perturb(minutes, source=dt.Seeded(8)))
    shape.plot(ax=right)
    unit = places / 180
    right.plot(
        places,
        0.6 * 30 * unit * (1 - unit) ** 4 / 180,
        color="black",
        linewidth=1.0,
        linestyle="--",
        label="the truth",
    )
    right.set_ylim(top=0.014)  # room for the legend above the curves
    dress_axes(
        right, title="40 % of them stay at home: a point mass, found", x="minutes", y="share per minute"
    )
    right.legend(frameon=False, fontsize="small", loc="upper right")
    save_with_portrait(figure, HERE / "pictures" / "distribution.png", dpi=110)


if __name__ == "__main__":
    main()
