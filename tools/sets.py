"""Compare ways to ask for sets of items: n·variance of a rare item, by formula and measured.

    python -m tools.sets [--people 100000]

Rows are k items, at most m of a person, and ε. All pad with m dummies, so that an empty set is private too.

- SetResponse: this library's, in at most 16 bytes; `measured` is its mean squared error for items that nobody
  has, from people with 0 … m items.
- PrivSet [Wang18]: one common element is enough, d without a limit on the length of a report.
- wheel: one position of a circle on which each element has an arc of length 1/(2m − 1 + m·e^ε), with the
  larger density on the person's arcs [doi 10.1109/tmc.2023.3342056]; collisions of arcs are not counted.
- one of k: a yes-or-no question about one item at random, by randomized response.
- pad and sample: one of the m elements at random, by the best mechanism for one answer.
- bound: no mechanism has a smaller variance, on average over the items, if all sets of m are alike; `ratio`
  is that of SetResponse to it, in the same case.
"""

from __future__ import annotations

import argparse
import math
from typing import Final

import numpy as np

import dither as dt
from dither.mechanisms.frequency.several import SetResponse, free_variance

CASES: Final = (
    (20, 3, 1.0),
    (100, 10, 1.0),
    (1000, 20, 1.0),
    (100, 10, 2.0),
    (1000, 20, 4.0),
    (1000, 10, 0.5),
)
COLUMNS: Final = (
    "SetResponse",
    "measured",
    "PrivSet",
    "wheel",
    "one of k",
    "pad and sample",
    "bound",
    "ratio",
)


def wheel(most: int, epsilon: float) -> float:
    """Return n·variance of a rare item by the wheel mechanism."""
    ratio = math.exp(epsilon)
    arc = 1.0 / (2.0 * most - 1.0 + most * ratio)
    own = arc * ratio / (most * arc * ratio + 1.0 - most * arc)
    return arc * (1.0 - arc) / (own - arc) ** 2


def pad_and_sample(items: int, most: int, epsilon: float) -> float:
    """Return n·variance of a rare item if one of the padded elements is told by subset selection."""
    answer = dt.SubsetSelection(dt.Categories(items + most), epsilon=epsilon)
    return most**2 * answer.variance(0.0)


def measure(asked: SetResponse, people: int, seed: int) -> float:
    """Return n times the mean squared error of items that nobody has, from seeded reports."""
    random = np.random.default_rng(seed)
    items, most = len(asked.domain), asked.domain.most
    rare = items // 2
    have = random.integers(0, most + 1, people)
    order = random.random((people, items - rare)).argpartition(most - 1, axis=1)[:, :most]
    table = np.zeros((people, items), dtype=np.bool_)
    person = np.repeat(np.arange(people), most)
    kept = np.tile(np.arange(most), people) < np.repeat(have, most)
    table[person[kept], order.reshape(-1)[kept]] = True
    found = dt.frequencies(asked.perturb(table, source=dt.Seeded(seed)))
    return float(people * np.mean(np.square(np.asarray(found.value)[-rare:])))


def row(items: int, most: int, epsilon: float, people: int) -> list[float]:
    """Return the numbers of one case, in the order of `COLUMNS`."""
    asked = dt.SetResponse(dt.Several(items, most=most), epsilon=epsilon)
    noise = math.exp(epsilon) / math.expm1(epsilon) ** 2
    return [
        asked.variance(),
        measure(asked, people, seed=1),
        free_variance(epsilon, items, most),
        wheel(most, epsilon),
        items * noise,
        pad_and_sample(items, most, epsilon),
        asked.bound,
        asked.variance(most / items) / asked.bound,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Compare ways to ask for sets of items.")
    parser.add_argument("--people", type=int, default=20_000)
    people = parser.parse_args().people
    print("| k, m, ε | " + " | ".join(COLUMNS) + " |")
    print("|---" * (1 + len(COLUMNS)) + "|")
    for items, most, epsilon in CASES:
        numbers = " | ".join(f"{number:.3g}" for number in row(items, most, epsilon, people))
        print(f"| {items}, {most}, {epsilon:g} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
