"""The promise of a mixed batch: the numbers of `dt.shuffled`, enumerated guesses, clear refusals."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import dither as dt
from dither.cli import main
from dither.deployments.batch import batch_promise, guessed_right
from dither.errors import InvalidParameter
from dither.privacy import Approximate, Guarantee

COIN = dt.RR(dt.Categories(["no", "yes"]), epsilon=2)
TWO = {"coin": COIN, "age": dt.Podium(dt.Interval(18, 100), epsilon=1)}


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_promise_is_that_of_shuffled_reports() -> None:
    single = batch_promise({"coin": COIN}, minimum_batch=1000, delta=1e-8)
    assert single.guarantee == dt.shuffled(COIN, n=1000, delta=1e-8)
    both = batch_promise(TWO, minimum_batch=1000).guarantee
    assert both is not None
    assert both.epsilon == pytest.approx(dt.shuffled(3.0, n=1000, delta=1e-6).epsilon)
    assert any("mixes" in line for line in both.assumes)


def test_assumptions_of_the_questions_stay() -> None:
    near = dt.BoundedLaplace(dt.Interval(0, 1), epsilon=1, sensitivity=0.1)
    promise = batch_promise({"near": near, "coin": COIN}, minimum_batch=1000)
    if promise.guarantee is not None:
        assert set(near.guarantee.assumes) <= set(promise.guarantee.assumes)


@pytest.mark.parametrize("people", [2, 3, 5])
def test_no_guess_from_a_batch_is_right_more_often(people: int) -> None:
    """All batches of coins are enumerated; the best guess knows the others' values."""
    p = Fraction(COIN.p)

    def law(value: int) -> list[Fraction]:  # of the number of "yes", with everybody else at "no"
        total = [Fraction(0)] * (people + 1)
        for told in itertools.product((0, 1), repeat=people):
            chance = Fraction(1)
            for place, one in enumerate(told):
                chance *= p if one == (value if place == 0 else 0) else 1 - p
            total[sum(told)] += chance
        return total

    right = sum(max(a, b) for a, b in zip(law(0), law(1), strict=True)) / 2
    promise = batch_promise({"coin": COIN}, minimum_batch=people, delta=1e-3).guarantee
    assert promise is not None
    assert float(right) <= guessed_right(promise)


def test_guesses_of_an_approximate_bound() -> None:
    """The extreme pair with (ε, δ): reveals with probability δ, else randomized response."""
    epsilon, delta = 0.7, 0.01
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    exact = delta + (1 - delta) * share
    assert guessed_right(Guarantee(Approximate(epsilon, delta))) == pytest.approx(exact, rel=1e-12)


def test_paths_are_not_credited() -> None:
    city = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    promise = batch_promise({"trip": dt.TraCSD(city, epsilon=2)}, minimum_batch=1000)
    assert promise.guarantee is None
    assert promise.person == ""
    assert "no bound for trip" in promise.officer


@pytest.mark.parametrize("wrong", [1, 0, -3, 2.5, True, "1000", 10**11])
def test_wrong_batches_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidParameter, match="minimum batch"):
        batch_promise({"coin": COIN}, minimum_batch=wrong)  # type: ignore[arg-type]


def test_explained_at_the_terminal(tmp_path: Path) -> None:
    campaign = tmp_path / "survey.toml"
    campaign.write_text('[questions.smokes]\ncategories = ["yes", "no"]\nepsilon = 1\nmechanism = "RR"\n')
    told = json.loads(run("explain", campaign, "--minimum-batch", 10_000, "--json").output)
    share = guessed_right(dt.shuffled(1.0, n=10_000, delta=1e-6))
    assert f"at most {math.ceil(1000 * share) / 10:g} %" in told["person"]
    assert "10 000 people" in told["person"]
    assert any("0.0432" in line for line in told["officer"])
    assert len(told["person"].split()) <= 120
    assert "batch" not in run("explain", campaign).output
    wrong = run("explain", campaign, "--minimum-batch", 1)
    assert wrong.exit_code != 0
    assert "minimum batch" in wrong.output


def test_recommended_for_a_crowd() -> None:
    ask = ("recommend", "--categories", 3, "--goal", "frequencies", "--people", 100_000, "--json")
    alone = json.loads(run(*ask, "--epsilon", 0.05).output)
    among = json.loads(run(*ask, "--epsilon", 0.05, "--shuffled", 100_000).output)
    assert among[0]["error"] < alone[0]["error"] / 10
    found = json.loads(run(*ask, "--error", 0.005, "--shuffled", 100_000).output)["epsilon"]
    goal = dt.goals.Frequencies(n=100_000)
    assert found == dt.epsilon_for(dt.Categories(range(3)), goal, 0.005, shuffled=100_000)
    ask = ("recommend", "--categories", 3, "--goal", "frequencies", "--epsilon", 1, "--error", 0.1)
    assert run(*ask).exit_code == 0
    assert run(*ask, "--shuffled", 9).exit_code == 2
