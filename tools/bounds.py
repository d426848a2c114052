"""What two phases save: the errors of a named mean and of one phase, and how often the intervals held.

    python -m tools.bounds            write the table of docs/bounds.md (about ten minutes of one core)

The people's values lie in [8, 128] of a domain of [0, 1440], by the twelve shapes of docs/limits.md. With
"1 % far", one person in a hundred is at 1440. The second phase uses the interval that the first one shows,
whether it would be accepted or not; the last column is how often it would be.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dither as dt
from dither.advice.simulation import population
from dither.foundation.arrays import Floats

PAGE = Path(__file__).parents[1] / "docs" / "bounds.md"
BEGIN, END = "<!-- tools.bounds: begin -->", "<!-- tools.bounds: end -->"
DOMAIN = dt.Interval(0, 1440)
LOW, HIGH = 8.0, 128.0
PEOPLE = 50_000
CELLS = ((1.0, 0.1), (1.0, 0.5), (2.0, 0.1), (2.0, 0.3))  # ε, and the share of the first phase
SHAPES = (  # in the order of `population`
    *("even", "Beta(2, 5)", "two normals", "N(0.5, 0.02)", "80 % in the lower half", "30 % at 0.3"),
    *("exponential", "log-normal", "three parts", "overlapping parts", "45 % at 0.4", "40 % at 0"),
)


class Run(NamedTuple):
    """The errors of one population: named and of one phase, and what held."""

    named: float
    plain: float
    mean_held: bool
    outside_held: bool
    ready: bool


def run(shape: Floats, epsilon: float, share: float, far: bool, seed: int) -> Run:
    """Return the errors for people drawn from the cdf of a shape."""
    rng = np.random.default_rng(seed)
    places = np.linspace(0.0, 1.0, shape.size)
    values = LOW + (HIGH - LOW) * np.interp(rng.random(PEOPLE), shape, places)
    many = LOW + (HIGH - LOW) * np.interp((np.arange(200_000) + 0.5) / 200_000, shape, places)
    if far:
        values[rng.random(PEOPLE) < 0.01] = DOMAIN.high
    first = round(share * PEOPLE)
    scale = DOMAIN.on_scale("log")
    asked = dt.SW(scale, epsilon=epsilon)
    found = dt.bounds(asked.perturb(scale.positions(values[:first]), source=dt.Seeded(seed)))
    narrow = dt.Interval(found.low, found.high, clipped_from=found)
    mean = dt.mean(dt.Podium(narrow, epsilon=epsilon).perturb(values[first:], source=dt.Seeded(seed + 1)))
    wide = dt.mean(dt.Podium(DOMAIN, epsilon=epsilon).perturb(values, source=dt.Seeded(seed + 2)))
    rest = 0.01 if far else 0.0
    named = (1.0 - rest) * float(np.clip(many, found.low, found.high).mean()) + rest * found.high
    plain = (1.0 - rest) * float(many.mean()) + rest * DOMAIN.high
    beyond = (1.0 - rest) * float(np.mean((many < found.low) | (many > found.high)))
    beyond += rest * (found.high < DOMAIN.high)
    _, least, most = found.outside
    return Run(
        float(mean) - named,
        float(wide) - plain,
        bool(mean.covers(named)),
        least <= beyond <= most,
        found.ready,
    )


def runs(shape: int, epsilon: float, share: float, far: bool, count: int) -> list[Run]:
    """Return the runs of a shape and its mirror image in turn."""
    number = [shape + len(SHAPES) * each for each in range(count)]
    return [run(population(each), epsilon, share, far, 10 * each + 1) for each in number]


def gain(made: list[Run]) -> float:
    """Return by how many times fewer people the named mean has the same error."""
    named, plain = (sum(getattr(each, name) ** 2 for each in made) for name in ("named", "plain"))
    return float(plain / named)


def cells(made: list[Run]) -> str:
    """Return the numbers of a row: of all runs, and the gain of those that are accepted."""
    held, outside, ready = (
        100.0 * sum(getattr(each, name) for each in made) / len(made)
        for name in ("mean_held", "outside_held", "ready")
    )
    kept = [each for each in made if each.ready]
    times = f"{gain(kept):.0f} ×" if kept else "–"
    return f"{ready:.0f} % | {times} | {gain(made):.0f} × | {held:.0f} % | {outside:.0f} %"


def table(count: int) -> str:
    """Return the table: a row for each ε, share and population, and one at a small ε."""
    head: tuple[str, ...] = (
        "ε",
        "first phase",
        "one person in 100 at 1440",
        "accepted",
        "fewer people, if accepted",
    )
    head = (*head, "fewer people, all runs", "named mean held", "share outside held")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for epsilon, share in (*CELLS, (0.5, 0.1)):
        for far in (False, True):
            every = [
                found for shape in range(len(SHAPES)) for found in runs(shape, epsilon, share, far, count)
            ]
            line = f"| {epsilon:g} | {100 * share:g} % | {'yes' if far else 'no'} | {cells(every)} |"
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
    return "\n".join(lines)


def main(count: int) -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    made = f"{count} runs of each shape, and of its mirror image in turn.\n\n{table(count)}"
    PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
