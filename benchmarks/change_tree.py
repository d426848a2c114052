"""Is a tree of one kept change better than one answer on a drawn day? Errors of a day's share, simulated.

    python -m benchmarks.change_tree        prints the table of benchmarks/change_tree.md

Everybody starts with "no" and changes at most once, on a uniform day, or never. In the tree a person draws a
level of dyadic intervals, keeps the change, and reports for each interval of the level a sign: of the change
in the interval, by randomized response with ε, or a fair coin. That costs ε over all sequences (enumerated in
tests/mechanisms/over_time). It is the best case of the tree, C = 1: with C changes, errors are about C times
as large. The tree is simulated in floating point: it is no mechanism of dither.
"""

from __future__ import annotations

import math

import numpy as np

import dither as dt

PEOPLE, RUNS, WIDTHS = 100_000, 4, (1, 7, 29)


def tree(change: np.ndarray, days: int, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Return the estimated shares of "yes" by day; `change` is a person's day of change, `days` for never."""
    levels = math.ceil(math.log2(days)) + 1
    gap = math.tanh(epsilon / 2.0)
    level = rng.integers(levels, size=change.size)
    sums = []
    for height in range(levels):
        kept = change[level == height]
        count = -(-days // 2**height)
        place = np.minimum(kept // 2**height, count)
        moved = np.bincount(place[kept < days], minlength=count)[:count]
        told = rng.binomial(moved, (1.0 + gap) / 2.0)  # of those who moved, how many say +1
        coins = rng.binomial(kept.size - moved, 0.5)
        sums.append((2.0 * (told + coins) - kept.size) * levels / gap / change.size)
    shares = np.zeros(days)
    for day in range(days):
        end = day + 1  # [0, end) is cut into dyadic intervals
        for height in range(levels):
            if end >> height & 1:
                shares[day] += sums[height][(end >> height) - 1]
    return shares


def pooled(shares: np.ndarray, width: int) -> np.ndarray:
    """Return the mean of `width` days around each day, fewer at the ends."""
    ones = np.ones(min(width, shares.size))
    sums = np.convolve(shares, ones, "same")
    return np.asarray(sums / np.convolve(np.ones(shares.size), ones, "same"))


def row(days: int, epsilon: float = 1.0) -> list[float]:
    """Return the errors of the tree with 1, 7 and 29 days pooled, and of `dt.Once` with the same."""
    once = dt.Once(dt.RR(dt.Categories(range(2)), epsilon=epsilon), days=days)
    squares = []
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        change = rng.integers(2 * days, size=PEOPLE)  # half of the people never change
        change = np.minimum(change, days)
        drawn = np.arange(days)
        actual = np.searchsorted(np.sort(change), drawn, side="right") / PEOPLE
        estimates = [pooled(tree(change, days, epsilon, rng), width) for width in WIDTHS]
        values = (drawn >= change[:, None]).astype(np.int8)
        dated = once.perturb(values, source=dt.Seeded(run))
        estimates += [dt.by_day(dated, smoothing=width).value[:, 1] for width in WIDTHS]
        squares.append([np.mean((one - actual) ** 2) for one in estimates])
    return [float(one) for one in np.sqrt(np.mean(squares, axis=0))]


def main() -> None:
    """Print the table."""
    names = [f"{way}, {width} day{'' if width == 1 else 's'}" for way in ("tree", "once") for width in WIDTHS]
    print(f"| days | {' | '.join(names)} |\n|{'---|' * (1 + len(names))}")
    for days in (32, 128, 365, 1000, 3000):
        print(f"| {days} | " + " | ".join(f"{error:.4f}" for error in row(days)) + " |", flush=True)


if __name__ == "__main__":
    main()
