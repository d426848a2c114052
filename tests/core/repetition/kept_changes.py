"""The loss of `dt.KeptChange` over sequences: all sequences, coins and reports of few days, in fractions."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np

import dither as dt
from tests.support.sources import Scripted

YES_NO = dt.Categories(["no", "yes"])
SMOKES = dt.KRR(YES_NO, epsilon=1)
CERTAIN = dt.KRR(YES_NO, epsilon=50)  # its report is what it is asked about, but for a probability of 2e-22

Values = tuple[int, ...]
Row = tuple[int | None, ...]  # what the reports of the intervals are about; None if no report is sent
Told = Callable[[dt.KeptChange, Values, int, int], dict[Row, Fraction]]  # its law, by group and place


def real(change: dt.KeptChange, values: Values, group: int, place: int) -> dict[Row, Fraction]:
    """Return the law of what the reports are about, by the code that draws them, for all coins."""
    due = range(change.intervals(group))
    coins = np.array(list(itertools.product((0, 1), repeat=len(due) if group else 0)), dtype=np.uint64)
    people = len(coins)
    certain = dt.KeptChange(CERTAIN, days=change.days, changes=change.changes)
    source = Scripted(coins, then=dt.Seeded(0))
    told, _ = certain.answers(np.array([values] * people), group, np.full(people, place), due, source)
    counted = Counter(map(tuple, told.tolist()))
    return {row: Fraction(count, people) for row, count in counted.items()}


def pattern_law(change: dt.KeptChange, values: Values, group: int) -> np.ndarray:
    """Return the law of the reports of a group, by the code that draws them, for all patterns and coins."""
    pattern, size = change.pattern(group), change.intervals(group)
    near, far = pattern.coin.probability / pattern.inside, (1 - pattern.coin.probability) / pattern.outside
    flips = list(itertools.product((False, True), repeat=pattern.size))
    coins = list(itertools.product((0, 1), repeat=size))
    every = [(row, coin) for row in flips for coin in coins]
    source = Scripted(np.array([coin for _, coin in every], dtype=np.uint64), then=dt.Seeded(0))
    people, unused = np.array([values] * len(every)), np.zeros(len(every), dtype=np.int64)
    patterns = np.array([row for row, _ in every])
    told, _ = change.flip_answers(people, group, patterns, unused, range(size), source)
    law = np.zeros((2,) * size, dtype=object)
    for (row, _), reported in zip(every, told.tolist(), strict=True):
        law[tuple(reported)] += (near if sum(row) <= pattern.radius else far) / len(coins)
    return law.ravel()


def seen(change: dt.KeptChange, told: Told, values: Values) -> list[np.ndarray]:
    """Return the law of group and reports of a person with these values: exact, an array for each group."""
    no, yes = (SMOKES.probabilities(label) for label in YES_NO.labels)
    channel = np.array([[*no, 0], [*yes, 0], [0, 0, 1]], dtype=object)  # the third is: nothing is sent
    laws = []
    for group in range(change.groups):
        size = change.intervals(group)
        if told is real and group and change.changes > 1:
            laws.append(pattern_law(change, values, group) / change.groups)
            continue
        law = np.zeros((3,) * size, dtype=object)
        for place in range(1, change.changes + 1):
            for row, chance in told(change, values, group, place).items():
                law[tuple(2 if one is None else one for one in row)] += chance
        told_only = law[(slice(2),) * size]
        law = told_only if told_only.sum() == change.changes else law  # two symbols are faster
        for _ in range(size):  # the first axis goes to the end: after all of them the order is as before
            law = np.tensordot(law, channel[: len(law), : len(law)], axes=(0, 0))
        laws.append(law.ravel() / change.groups / change.changes)
    return laws


def loss(change: dt.KeptChange, told: Told) -> Fraction | None:
    """Return the largest ratio of probabilities over all pairs of sequences; None if it is infinite."""
    every = [seen(change, told, values) for values in itertools.product((0, 1), repeat=change.days)]
    assert all(sum(part.sum() for part in laws) == 1 for laws in every)
    worst = Fraction(1)
    for group in range(change.groups):
        if len({laws[group].size for laws in every}) > 1:
            return None  # some sequences have silent intervals, and others have none
        law = np.stack([laws[group] for laws in every])
        most, least = law.max(axis=0), law.min(axis=0)
        if (least[most > 0] == 0).any():
            return None
        worst = max(worst, *(most[most > 0] / least[most > 0]))
    return worst
