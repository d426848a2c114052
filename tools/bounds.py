"""What two phases save: the errors of a named mean and of one phase, and how often the intervals held.

    python -m tools.bounds      measures the rows that are not recorded (40 runs a shape: about 20 minutes
                                of one core), and writes the table of docs/bounds.md from the record

The people's values lie in [8, 128] of a domain of [0, 1440], by the twelve shapes of docs/limits.md. With
"1 % far", one person in a hundred is at 1440. The second phase uses the interval that the first one shows,
whether it would be accepted or not; the last column is how often it would be.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dither as dt
from dither.advice.simulation import population
from dither.foundation.arrays import Floats

PAGE = Path(__file__).parents[1] / "docs" / "bounds.md"
RECORDED = Path(__file__).parent / "recorded" / "bounds.json"
BEGIN, END = "<!-- tools.bounds: begin -->", "<!-- tools.bounds: end -->"
DOMAIN = dt.Interval(0, 1440)
LOW, HIGH = 8.0, 128.0
PEOPLE = 50_000
CELLS = ((1.0, 0.1), (1.0, 0.5), (2.0, 0.1), (2.0, 0.3))  # ε, and the share of the first phase
FEWEST = 10  # accepted runs of which a gain is stated
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


class Sums(NamedTuple):
    """Sums over the runs of a cell: of squared errors, and of what held; the last two of accepted runs."""

    runs: int
    named: float
    plain: float
    mean_held: int
    outside_held: int
    ready: int
    ready_named: float
    ready_plain: float

    @staticmethod
    def of(made: Sequence[Run]) -> Sums:
        """Return the sums of some runs."""
        kept = [each for each in made if each.ready]
        squares = [sum(getattr(each, name) ** 2 for each in made) for name in ("named", "plain")]
        ready = [sum(getattr(each, name) ** 2 for each in kept) for name in ("named", "plain")]
        held = [sum(getattr(each, name) for each in made) for name in ("mean_held", "outside_held")]
        return Sums._make([len(made), *squares, *held, len(kept), *ready])

    @staticmethod
    def together(parts: Sequence[Sums]) -> Sums:
        """Return the sums of several cells."""
        return Sums(*map(sum, zip(*parts, strict=True)))

    @property
    def gain(self) -> float:
        """By how many times fewer people the named mean has the same error."""
        return self.plain / self.named

    @property
    def ready_gain(self) -> float:
        """The gain of the runs whose bounds are accepted; 0 if none are."""
        return self.ready_plain / self.ready_named if self.ready_named else 0.0


def row_name(epsilon: float, share: float, far: bool) -> str:
    return f"{epsilon:g}, {share:g}, {'far' if far else 'near'}"


ROWS = [(*cell, far) for cell in (*CELLS, (0.5, 0.1)) for far in (False, True)]


def recorded() -> dict[str, list[Sums]]:
    """Return what was measured: the sums of each shape, by the names of the rows."""
    if not RECORDED.exists():
        return {}
    data = json.loads(RECORDED.read_text("utf-8"))
    return {name: [Sums(*part) for part in parts] for name, parts in data.items()}


def record(count: int) -> None:
    """Measure the rows that are not recorded, and write each as it comes."""
    kept = recorded()
    for row in ROWS:
        if row_name(*row) in kept:
            continue
        sums = [Sums.of(runs(shape, *row, count)) for shape in range(len(SHAPES))]
        kept[row_name(*row)] = [
            Sums._make(float(f"{x:.5g}") if isinstance(x, float) else x for x in part) for part in sums
        ]
        print(row_name(*row), Sums.together(sums), file=sys.stderr, flush=True)
        lines = [f"{json.dumps(name)}: {json.dumps(parts)}" for name, parts in kept.items()]
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def cells(parts: list[Sums]) -> str:
    """Return the numbers of a row."""
    made = Sums.together(parts)
    least = min(range(len(parts)), key=lambda shape: parts[shape].gain)
    held, outside, ready = (
        f"{100.0 * number / made.runs:.3g} %" for number in (made.mean_held, made.outside_held, made.ready)
    )
    times = f"{made.ready_gain:.0f} ×" if made.ready >= FEWEST else "–"
    return (
        f"{ready} | {times} | {made.gain:.0f} × | {parts[least].gain:.0f} × ({SHAPES[least]}) "
        f"| {held} | {outside}"
    )


def table() -> str:
    """Return the table: a row for each ε, share and population, and one at a small ε."""
    head: tuple[str, ...] = (
        *("ε", "first phase", "one person in 100 at 1440", "accepted", "fewer people, if accepted"),
        *("fewer people, all runs", "the same for the shape with the least", "named mean held"),
        "share outside held",
    )
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    kept = recorded()
    for epsilon, share, far in ROWS:
        parts = kept[row_name(epsilon, share, far)]
        lines.append(f"| {epsilon:g} | {100 * share:g} % | {'yes' if far else 'no'} | {cells(parts)} |")
    return "\n".join(lines)


def page() -> str:
    """Return the part of the page that is made from the record."""
    count = next(iter(recorded().values()))[0].runs
    return f"Each shape has {count} runs, alternating with its mirror image.\n\n{table()}"


def main(count: int) -> None:
    """Measure what is not recorded, and write the table into the page."""
    record(count)
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{page()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
