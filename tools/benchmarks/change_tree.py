"""Is one kept change better than one answer on a drawn day? Errors of a day's share, simulated.

    python -m tools.benchmarks.change_tree        prints the table of tools/benchmarks/change_tree.md

Three people in ten begin with "yes". Half of all people change once, on a uniform day; the others never do.
That is what `dt.KeptChange` is for. `dt.Once` needs no such assumption.
"""

from __future__ import annotations

import numpy as np

import dither as dt

PEOPLE, RUNS, WIDTHS = 100_000, 4, (1, 7, 29)


def lives(days: int, rng: np.random.Generator) -> np.ndarray:
    """Return a row of values, 0 or 1, for each person."""
    begin = (rng.random((PEOPLE, 1)) < 0.3).astype(np.int8)
    when = np.minimum(1 + rng.integers(2 * (days - 1), size=(PEOPLE, 1)), days)
    return begin ^ (np.arange(days) >= when).astype(np.int8)


def row(days: int, epsilon: float = 1.0) -> list[float]:
    """Return the errors of one kept change with 1, 7 and 29 days pooled, and of `dt.Once` with the same."""
    question = dt.KRR(dt.Categories(2), epsilon=epsilon)
    ways = dt.KeptChange(question, days=days), dt.Once(question, days=days)
    squares = []
    for run in range(RUNS):
        values = lives(days, np.random.default_rng(run))
        actual = values.mean(axis=0)
        found = []
        for way in ways:
            reports = way.perturb(values, source=dt.Seeded(run))
            found += [dt.by_day(reports, smoothing=width).value[:, 1] - actual for width in WIDTHS]
        squares.append([np.mean(one**2) for one in found])
    return [float(one) for one in np.sqrt(np.mean(squares, axis=0))]


def main() -> None:
    """Print the table."""
    names = [f"{way}, {width} day{'' if width == 1 else 's'}" for way in ("kept", "once") for width in WIDTHS]
    print(f"| days | {' | '.join(names)} |\n|{'---|' * (1 + len(names))}")
    for days in (32, 128, 365, 1000):
        print(f"| {days} | " + " | ".join(f"{error:.4f}" for error in row(days)) + " |", flush=True)


if __name__ == "__main__":
    main()
