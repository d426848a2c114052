"""Compare ways to ask for sets of items: n·variance of a rare item, by formula and measured.

    python -m tools.sets
    python -m tools.sets weights   searches reports with a larger shift of the shares than "at least one item"

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
import sys
from typing import Final

import numpy as np

import dither as dt
from dither.foundation.arrays import Floats, Integers
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


_CELLS, _LEVELS, _ASCENTS = 200, 1500, 40  # kinds of items, values of their weights, steps of a search


def shift_of_one(most: int, share: float) -> float:
    """Return the squared shift of the shares by the report "at least one of these items", for many items.

    `share` is the share of all sets of `most` items that have at least one of them.
    """
    part = 1.0 - (1.0 - share) ** (1.0 / most)
    return float(most * part * (1.0 - part) ** (2 * most - 1))


def shift_of_weights(weights: Floats, most: int, share: float) -> float:
    """Return the largest squared shift that a search finds, from the weights of kinds of items.

    A report has the larger density for the sets of `most` independent items with the largest sums of weights,
    a share `share` of all. The squared shift is the sum over items of Var(P(larger density | item)). The next
    weights are these probabilities, with which the shift cannot be smaller.
    """
    best = 0.0
    for _ in range(_ASCENTS):
        low, high = float(weights.min()), float(weights.max())
        values = np.rint((weights - low) / (high - low) * (_LEVELS - 1)).astype(np.int64)
        one = np.bincount(values, minlength=_LEVELS) / values.size
        size = most * _LEVELS
        rest, complete = (np.fft.irfft(np.fft.rfft(one, size) ** power, size) for power in (most - 1, most))
        above, rests = (np.cumsum(law[::-1])[::-1] for law in (complete, rest))
        edge = int(np.argmax(above <= share))
        coin = (share - above[edge]) / max(float(above[edge - 1] - above[edge]), 1e-12)

        def chance(at: Integers, rests: Floats = rests) -> Floats:
            return np.asarray(np.where(at < 0, 1.0, rests[np.clip(at, 0, rests.size - 1)]))

        upper = chance(edge - values)
        weights = upper + coin * (chance(edge - 1 - values) - upper)
        found = most * float(weights.var())
        if found <= best * (1.0 + 1e-7):
            break
        best = found
    return best


def gain_of_weights(most: int, epsilon: float, seeds: int = 6) -> float:
    """Return the largest variance of "at least one item" ÷ that of reports found by searches over weights."""
    lift, rng = math.expm1(epsilon), np.random.default_rng(1)
    shares = np.linspace(0.05, 0.6, 12)
    ours, others = [], []
    for share in shares:
        scale = (lift / (1.0 + lift * share)) ** 2
        ours.append(scale * shift_of_one(most, float(share)))
        for seed in range(seeds):
            weights = (rng.standard_normal(_CELLS), rng.standard_exponential(_CELLS), rng.pareto(1.5, _CELLS))
            others.append(scale * shift_of_weights(weights[seed % 3], most, float(share)))
    return float(max(others) / max(ours))


def main() -> None:
    """Print the table."""
    print("| k, m, ε | " + " | ".join(COLUMNS) + " |")
    print("|---" * (1 + len(COLUMNS)) + "|")
    for items, most, epsilon in CASES:
        numbers = " | ".join(f"{number:.3g}" for number in row(items, most, epsilon))
        print(f"| {items}, {most}, {epsilon:g} | {numbers} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["weights"]:
        for most in (2, 3, 5, 10):
            print(
                most,
                *(f"{gain_of_weights(most, epsilon):.4f}" for epsilon in (0.5, 1.0, 2.0, 4.0)),
                flush=True,
            )
    else:
        main()
