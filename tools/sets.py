"""Compare ways to ask for sets of items: n·variance of a rare item, by formula and measured.

    python -m tools.sets

Rows are k items, at most m of a person, and ε. All pad with m dummies, so that an empty set is private too.

- SetResponse: this library's, with the report that it chooses; `measured` is its mean squared error for items
  that nobody has, from people with 0 … m items.
- PrivSet [Wang18]: one common element is enough, d without a limit on the length of a report.
- wheel: one position of a circle on which each element has an arc of length 1/(2m − 1 + m·e^ε), with the
  larger density on the person's arcs [doi 10.1109/tmc.2023.3342056]; collisions of arcs are not counted.
- CRIAD [arXiv 2504.17523]: one bit, at a random place among those of a category's items, of as many ones and
  of as many zeros. It is made for the sizes of categories; here a category is one item, drawn at random. The
  loss is ln(1 + 1/dummies), so that from ε = ln 2 on some of the budget is left.
- one of k: a yes-or-no question about one item at random, by randomized response.
- pad and sample: one of the m elements at random, by the best mechanism for one answer.
- bound: no mechanism has a smaller variance, on average over the items, if all sets of m are alike; `ratio`
  is that of SetResponse to it, in the same case.
"""

from __future__ import annotations

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
    "CRIAD",
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


def randomized_index(items: int, epsilon: float) -> float:
    """Return n·variance of a rare item by CRIAD, with the fewest dummies that keep ε."""
    dummies = math.ceil(1.0 / math.expm1(epsilon))
    return items * dummies * (dummies + 1.0)  # q(1 − q)/(p − q)² with q = dummies/(2·dummies + 1)


def pad_and_sample(items: int, most: int, epsilon: float) -> float:
    """Return n·variance of a rare item if one of the padded elements is told by subset selection."""
    answer = dt.SubsetSelection(dt.Categories(items + most), epsilon=epsilon)
    return most**2 * answer.variance(0.0)


def measure(asked: SetResponse, seed: int, people: int = 2000, numbers: int = 10_000) -> float:
    """Return n times the mean squared error of items that nobody has, from seeded collections.

    People have 0 … m items. At least so many numbers are averaged, an item of a collection each.
    """
    random = np.random.default_rng(seed)
    items, most = len(asked.domain), asked.domain.most
    rare, squares = items // 2, []
    for run in range(-(-numbers // rare)):
        have = random.integers(0, most + 1, people)
        order = random.random((people, items - rare)).argpartition(most - 1, axis=1)[:, :most]
        table = np.zeros((people, items), dtype=np.bool_)
        person = np.repeat(np.arange(people), most)
        kept = np.tile(np.arange(most), people) < np.repeat(have, most)
        table[person[kept], order.reshape(-1)[kept]] = True
        found = dt.frequencies(asked.perturb(table, source=dt.Seeded(1000 * seed + run)))
        squares.append(np.mean(np.square(np.asarray(found.value)[-rare:])))
    return float(people * np.mean(squares))


def row(items: int, most: int, epsilon: float) -> list[float]:
    """Return the numbers of one case, in the order of `COLUMNS`."""
    asked = dt.SetResponse(dt.Several(items, most=most), epsilon=epsilon)
    noise = math.exp(epsilon) / math.expm1(epsilon) ** 2
    return [
        asked.variance(),
        measure(asked, seed=1),
        free_variance(epsilon, items, most),
        wheel(most, epsilon),
        randomized_index(items, epsilon),
        items * noise,
        pad_and_sample(items, most, epsilon),
        asked.bound,
        asked.variance(most / items) / asked.bound,
    ]


def main() -> None:
    """Print the table."""
    print("| k, m, ε | " + " | ".join(COLUMNS) + " |")
    print("|---" * (1 + len(COLUMNS)) + "|")
    for items, most, epsilon in CASES:
        numbers = " | ".join(f"{number:.3g}" for number in row(items, most, epsilon))
        print(f"| {items}, {most}, {epsilon:g} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
