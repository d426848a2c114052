"""Intervals of retention: how often they hold, and how wide they are, over weekly actives, ε and patterns.

python -m tools.coverage_presence           measures the cells that are not recorded, and makes the page
python -m tools.coverage_presence 1500 …    the same for some numbers of weekly actives, without the page
python -m tools.coverage_presence page      makes the table of docs/coverage.md from the record alone

A device has a coin for life, a cohort and, if it carries the label, one report for life. Devices of a cohort
with the same report are exchangeable, so a cell is simulated by numbers of devices: multinomial at the
installation, binomial in each week.
"""

from __future__ import annotations

import datetime
import json
import sys
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np

import dither as dt
from dither.core.presence import PresenceCounts
from dither.core.question import Question
from tests.support.repository import ROOT
from tools.coverage import PAGE, write

RECORDED: Final = ROOT / "tools" / "recorded" / "coverage_presence.json"
SIZES: Final = (1_500, 15_000, 150_000, 1_000_000)
EPSILONS: Final = (1.0, 2.0, 4.0)
AFTER: Final = (1, 4, 12)
REPETITIONS: Final = 400
SHARE: Final = 0.7  # of the devices carry the label
MONDAY: Final = datetime.date(2026, 1, 5)


@dataclass(frozen=True)
class Group:
    """Devices of one habit: their part of all, the chances of a use in a later week and of leaving."""

    part: float
    active: float = 1.0
    leaves: float = 0.0


PATTERNS: Final = {
    "independent weeks": (Group(1.0, active=0.5),),
    "churn for good": (Group(1.0, leaves=0.1),),
    "nobody leaves": (Group(1.0),),
    "rare and daily users": (Group(0.5, leaves=0.05), Group(0.5, active=0.15)),
}


@dataclass(frozen=True)
class Cell:
    """One cell: a pattern at a number of weekly actives and an ε for life."""

    pattern: str
    size: int
    epsilon: float

    @property
    def name(self) -> str:
        return f"{self.pattern}, {self.size}, {self.epsilon:g}"

    @property
    def weeks(self) -> int:
        """A year; half a year where a label of 54 weeks would have too many reports."""
        return 26 if self.size < 1_600 else 52

    def label(self) -> Question:
        """Return the mechanism of least variance with as many different reports as are allowed."""
        days = [(MONDAY + datetime.timedelta(7 * week)).isoformat() for week in range(-1, self.weeks + 1)]
        most = min(128, int(self.size * SHARE / 20))
        made = (kind(dt.Categories(days), epsilon=self.epsilon) for kind in KINDS)
        return min((one for one in made if one.question.outcomes <= most), key=variance).question

    def arrivals(self) -> tuple[int, int]:
        """Return devices that were there before, and those of each week; the mean of actives is `size`."""
        old, new = 10.0, 1.0  # ten weeks' worth were there before
        total = sum(
            group.part
            * (
                old * kept_of(group, week + 1)
                + new * (1.0 + sum(kept_of(group, age) for age in range(1, week + 1)))
            )
            for group in PATTERNS[self.pattern]
            for week in range(self.weeks)
        )
        unit = self.size * self.weeks / total
        return round(old * unit), round(new * unit)


KINDS: Final = (dt.KRR, dt.HadamardResponse, dt.ProjectiveResponse)


def variance(made: Any) -> float:
    return float(np.max(made.variance()))


def kept_of(group: Group, age: int) -> float:
    """Return the chance of a use so many weeks after the installation."""
    return float((1.0 - group.leaves) ** age * group.active)


class Simulated:
    """A cell's simulation: counts of a year of presence, and the true retention of the same devices."""

    def __init__(self, cell: Cell) -> None:
        self.cell, self.label = cell, cell.label()
        self.old, self.new = cell.arrivals()
        kernel = self.label.kernel
        rows = [kernel.probabilities(place) for place in range(cell.weeks + 1)]
        self.chances = np.array(rows, dtype=float)  # the last bits of a sum of fractions are multinomial's
        self.outcomes = self.chances.shape[1]

    def run(self, rng: np.random.Generator) -> tuple[PresenceCounts, dict[int, float]]:
        """Draw a year of messages; return them and the shares of devices that were active again."""
        weeks, outcomes = self.cell.weeks, self.outcomes
        counts = np.zeros((weeks, outcomes + 1), dtype=np.int64)  # the last column: without the label
        came = np.zeros((weeks, weeks), dtype=np.int64)  # devices of a cohort in a week
        for group in PATTERNS[self.cell.pattern]:
            there = np.zeros((weeks + 1, outcomes + 1), dtype=np.int64)  # the first row: before the list
            there[0] = self._installed(rng, self.old * group.part, 0)
            for week in range(weeks):
                stay = there[: week + 1]
                if group.leaves:
                    stay = there[: week + 1] = rng.binomial(stay, 1.0 - group.leaves)
                used = stay if group.active == 1.0 else rng.binomial(stay, group.active)
                first = self._installed(rng, self.new * group.part, week + 1)
                there[week + 1] = first
                counts[week] += used.sum(axis=0) + first
                came[:week, week] += used[1:].sum(axis=1)
                came[week, week] += first.sum()
        days = [MONDAY + datetime.timedelta(7 * week) for week in range(weeks)]
        messages = [int(count) for count in counts.sum(axis=1)]
        public = [int(count) for count in counts[:, -1]]
        made = PresenceCounts("week", days, messages, public, {}, self.label, counts[:, :-1], people=100)
        first = np.diagonal(came)
        truth = {
            after: float(np.diagonal(came, after).sum() / first[: weeks - after].sum()) for after in AFTER
        }
        return made, truth

    def _installed(self, rng: np.random.Generator, mean: float, place: int) -> Any:
        """Draw the reports of devices that are installed: the coin for life, and the label of some."""
        marked = int(rng.binomial(round(mean), SHARE))
        drawn = rng.multinomial(marked, self.chances[place])
        return np.append(drawn, round(mean) - marked)


@dataclass(frozen=True)
class Measured:
    """The retention after some weeks: how often it was stated and held, and its half width.

    `half` is the mean half width in points; `ratio` is it in multiples of 1.96 standard deviations of the
    error, over redrawn coins, labels and weeks.
    """

    stated: float
    covered: float
    half: float
    ratio: float


def measure(cell: Cell, repetitions: int, seed: int = 1) -> list[Measured | None]:
    """Measure a cell for each of `AFTER`; None if fewer than a tenth of the repetitions state a retention."""
    simulated, rng = Simulated(cell), np.random.default_rng(seed)
    found: list[list[tuple[float, float]]] = [[] for _ in AFTER]  # errors and half widths
    for _ in range(repetitions):
        counts, truth = simulated.run(rng)
        rows = {row["after"]: row for row in dt.retention(counts).rows}
        for some, after in zip(found, AFTER, strict=True):
            if after in rows:
                row = rows[after]
                some.append((row["value"] - truth[after], (row["high"] - row["low"]) / 2))
    measured: list[Measured | None] = []
    for some in found:
        errors, halves = np.array(some).reshape(-1, 2).T
        if 10 * len(some) < repetitions:
            measured.append(None)
            continue
        share, half = float(np.mean(abs(errors) <= halves)), float(np.mean(halves))
        spread = 1.96 * float(np.sqrt(np.mean(errors**2)))
        measured.append(Measured(len(some) / repetitions, share, 100 * half, half / spread))
    return measured


CELLS: Final = [Cell(*parts) for parts in product(PATTERNS, SIZES, EPSILONS)]


def recorded() -> dict[str, list[Measured | None]]:
    """Return what was measured, by the names of the cells."""
    if not RECORDED.exists():
        return {}
    data = json.loads(RECORDED.read_text("utf-8"))
    return {name: [part and Measured(*part) for part in parts] for name, parts in data.items()}


def record(sizes: list[int]) -> None:
    """Measure the cells of some sizes that are not recorded, and write them as they come."""
    kept = recorded()
    for cell in CELLS:
        if cell.size in sizes and cell.name not in kept:
            kept[cell.name] = measure(cell, REPETITIONS)
            print(cell.name, *kept[cell.name], flush=True)
            lines = [
                f"{json.dumps(name)}: {json.dumps([part and rounded(part) for part in parts])}"
                for name, parts in sorted(kept.items())
            ]
            RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def rounded(part: Measured) -> list[float]:
    return [float(f"{value:.4g}") for value in (part.stated, part.covered, part.half, part.ratio)]


def table() -> str:
    """Return the table in Markdown, from the record: held, half width, that in multiples of the spread."""
    kept = recorded()
    lines = [f"| use | weekly actives | after | {' | '.join(f'ε = {e:g}' for e in EPSILONS)} |"]
    lines.append("|---" * (3 + len(EPSILONS)) + "|")
    for pattern, size, index in product(PATTERNS, SIZES, range(len(AFTER))):
        parts = [_words(kept[Cell(pattern, size, epsilon).name][index]) for epsilon in EPSILONS]
        weeks = "1 week" if AFTER[index] == 1 else f"{AFTER[index]} weeks"
        lines.append(f"| {pattern} | {size:_} | {weeks} | {' | '.join(parts)} |".replace("_", " "))
    return "\n".join(lines)


def _words(part: Measured | None) -> str:
    if part is None:
        return "not stated"
    often = "" if part.stated >= 0.99 else f", stated in {100 * part.stated:.0f} %"
    return f"{100 * part.covered:.1f} %, ± {part.half:.2g}, {part.ratio:.2f}{often}"


if __name__ == "__main__":
    chosen = [int(text) for text in sys.argv[1:] if text.isdigit()]
    if sys.argv[1:] != ["page"]:
        record(chosen or list(SIZES))
    if not chosen:
        write(PAGE, table(), "presence")
