"""Calls as users write them. mypy checks this file with the package, so that what runs also type-checks."""

from __future__ import annotations

import numpy as np

import dither as dt

PODIUM = dt.Podium(dt.Interval(0, 1), epsilon=1)
COIN = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)


def test_a_mechanism_is_as_good_as_its_question() -> None:
    """Wherever a question is taken, a mechanism is."""
    assert dt.Inquiry("speed", PODIUM, asker="roads.example", repeat="same").question == PODIUM.question
    assert dt.Once(COIN, days=30).question == COIN.question
    assert dt.KeptChange(COIN, days=30).question == COIN.question
    assert dt.Memoised(PODIUM, dt.Memoised.new_key(), name="speed").question == PODIUM.question


def test_several_questions_take_mechanisms() -> None:
    """The parts of Each and Sampled."""
    for kind, epsilon in ((dt.Each, 2), (dt.Sampled, 1)):
        assert f"ε ≤ {epsilon}" in str(kind({"speed": PODIUM, "belt": COIN}).guarantee)


def test_estimates_have_types() -> None:
    """From values to numbers."""
    mean: float = float(dt.mean(PODIUM.perturb([0.25, 0.5], source=dt.Seeded(1))).value)
    shares = dt.frequencies(COIN.perturb(["no"], source=dt.Seeded(1))).value
    assert -1 < mean < 2
    assert abs(np.sum(shares) - 1) < 1e-9
