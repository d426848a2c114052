"""The verb `recommend`: a margin is 1.96 standard errors."""

from __future__ import annotations

import json

import pytest

from tests.support.terminal import run

SHARES = ("recommend", "--categories", "yes,no", "--goal", "frequencies", "--epsilon", 1)


def test_a_margin_is_half_of_a_95_percent_interval() -> None:
    people = json.loads(run(*SHARES, "--margin", 0.05, "--json").output)["people"]
    assert people == json.loads(run(*SHARES, "--error", 0.05 / 1.959964, "--json").output)["people"]
    assert people > 2 * json.loads(run(*SHARES, "--error", 0.05, "--json").output)["people"]
    assert "are within ±0.05 of it" in run(*SHARES, "--margin", 0.05).output


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((*SHARES, "--margin", 0.05, "--error", 0.02), "--error, a standard error, or --margin"),
        ((*SHARES, "--margin", 0.05, "--bytes", 1), "leave out --error and --margin"),
        (
            ("recommend", "--interval", 0, 1, "--goal", "values", "--epsilon", 1, "--margin", 1),
            "expected --error",
        ),
    ],
)
def test_requests_with_a_margin_that_cannot_be_met(words: tuple[object, ...], hint: str) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert hint in refused.output.replace("\n", " ")


def test_several_numbers_are_options_of_their_own() -> None:
    both = ("--number", "age", 18, 100, "--number", "bmi", 10, 60)
    told = run("recommend", *both, "--goal", "covariance", "--people", 20_000, "--epsilon", 1)
    assert "1   JointMoments" in told.output
    assert "covariance of two numbers" in told.output
    told = run("recommend", "--interval", 0, 1, *both, "--goal", "covariance", "--people", 9, "--epsilon", 1)
    assert "leave one of them out" in told.output
    told = run("recommend", *both[:4], *both[:4], "--goal", "covariance", "--people", 9, "--epsilon", 1)
    assert "a different name for each --number" in told.output


PLANNED_ERROR = ("recommend", "--interval", 0, 100, "--epsilon", 2, "--error")


@pytest.mark.slow
def test_the_planned_error_of_a_quantile_is_said_in_a_sentence() -> None:
    shown = run(*PLANNED_ERROR, 5, "--goal", "quantile").output
    assert "the standard error of the quantile (with the sampling error) is at most 5" in shown
    assert "Noise and sampling are simulated together" in shown


def test_the_planned_error_is_said_in_a_sentence_with_its_parts() -> None:
    shown = run(*PLANNED_ERROR, 50, "--goal", "variance").output
    assert "the standard error of the variance is at most 50" in shown
    assert ", and sampling " in shown
