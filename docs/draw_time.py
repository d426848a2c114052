"""Draws pictures/time.png: what daily answers cost, and what one answer a year still shows.

Run it with `python docs/draw_time.py`; it takes ten seconds. The losses are computed here, the answers are
made by `dt.Once` and estimated by `dt.by_day`.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from narrow import save_with_portrait

import dither as dt
from dither import results
from dither.foundation.plotting import BLUE, GREY, ORANGE, dress_axes

DAYS, PEOPLE = 365, 200_000


def two_rounds(days: int) -> float:
    """Return a lower bound of the loss of two-round randomized response, ε∞ = ε of a day = 1.

    Days are of four kinds, by the values of the two sequences that are compared; all reports of a kind are
    equal.
    """
    keep = math.e / (math.e + 1)
    lie = 1 - keep

    def seen(ones: int, zeros: int, value: int) -> float:
        if_one, if_zero = keep**ones * lie**zeros, lie**ones * keep**zeros  # by the permanent answer
        return (keep * if_one + lie * if_zero) if value else (lie * if_one + keep * if_zero)

    def chance(kinds: tuple[int, ...], told: tuple[int, ...], which: int) -> float:
        product = 1.0
        for value in (0, 1):
            mine = [kind for kind in range(4) if (kind >> which) & 1 == value]
            ones = sum(kinds[kind] for kind in mine if told[kind])
            product *= seen(ones, sum(kinds[kind] for kind in mine) - ones, value)
        return product

    best = 0.0
    for a, b, c in itertools.product(range(days + 1), repeat=3):
        if a + b + c <= days:
            kinds = (a, b, c, days - a - b - c)
            for told in itertools.product((0, 1), repeat=4):
                best = max(best, math.log(chance(kinds, told, 0) / chance(kinds, told, 1)))
    return best


def year() -> tuple[np.ndarray, np.ndarray, results.EstimatedDays]:
    """Return the shares of a year with a shock, those that people really have, and the estimates."""
    level = 0.25 + 0.06 * np.sin(2 * np.pi * np.arange(DAYS) / DAYS) + 0.25 * (np.arange(DAYS) >= 240)
    values = (np.random.default_rng(1).random((PEOPLE, 1)) < level).astype(np.int8)
    once = dt.Once(dt.KRR(dt.Categories(range(2)), epsilon=1), days=DAYS)
    return level, values.mean(axis=0), dt.by_day(once.perturb(values, source=dt.Seeded(4)), smoothing=7)


def draw(target: Path) -> None:
    """Draw the losses on the left and a year on the right."""
    figure = Figure(figsize=(11.0, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.25))
    days = np.array([1, 2, 4, 6, 8, 10, 12, 14])
    rounds = [two_rounds(int(day)) for day in days]
    left.plot(days, days, color=GREY, label="a new answer every day")
    left.plot(days, rounds, "o-", color=ORANGE, markersize=4, label="two rounds of noise (at least)")
    left.plot(days, np.ones(days.size), color=BLUE, linewidth=2.5, label="dt.Once and dt.KeptChange")
    left.axhline(14.3, color=GREY, linestyle=":")
    left.text(1.2, 14.1, "permanent answers: no bound after a change", color=GREY, va="top", fontsize=9)
    left.set(ylim=(0, 15), xlim=(1, 14))
    dress_axes(
        left,
        title="Privacy loss of one person, ε = 1 per answer",
        x="days of asking",
        y="ε for all days together",
    )
    left.legend(loc="upper left", bbox_to_anchor=(0.0, 0.86), frameon=False, fontsize=9)
    _, actual, estimated = year()
    low, high = estimated.interval()
    right.fill_between(
        np.arange(DAYS), low[:, 1], high[:, 1], color=BLUE, alpha=0.2, linewidth=0, label="95 % interval"
    )
    right.plot(estimated.value[:, 1], color=BLUE, linewidth=1.2, label="estimate, 7 days pooled")
    right.plot(actual, "k--", linewidth=1, label="the truth")
    right.set(xlim=(0, DAYS - 1), ylim=(0, 0.8))
    crowd = f"{PEOPLE:,}".replace(",", " ")
    dress_axes(
        right,
        title=f"One answer each in a year: {crowd} people, ε = 1 for the year",
        x="day of the year",
        y='share of "yes"',
    )
    right.legend(loc="upper left", frameon=False, fontsize=9)
    save_with_portrait(figure, target, dpi=130)


if __name__ == "__main__":
    draw(Path(__file__).parent / "pictures" / "time.png")
