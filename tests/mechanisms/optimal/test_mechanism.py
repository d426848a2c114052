"""A solved mechanism is a mechanism like any other: exact, private at every start, unbiased if it says so."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.window.start_table import COIN
from dither.errors import InvalidParameter
from dither.privacy.exact import exp_below
from tests.support.cases.optimal import KINDS, optimal
from tests.support.repository import ROOT
from tests.support.travel import changed, narrower

WIDE = dt.Interval(-3, 7)


@pytest.mark.some(every=5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
def test_probabilities_are_exact_and_private(kind: str, epsilon: float) -> None:
    mechanism = optimal(kind, epsilon, WIDE)
    laws = [mechanism.probabilities(x) for x in (-3.0, 0.123456789, 2.0, 7.0)]
    bound = exp_below(Fraction(epsilon))
    for law in laws:
        assert _total(law) == 1
        assert len(law) == mechanism.cells
    for one in laws:
        for other in laws:
            pairs = {
                (id(first), id(second)): (first, second) for first, second in zip(one, other, strict=True)
            }
            assert max(first / second for first, second in pairs.values()) <= bound
    finding = dt.audit(mechanism)
    assert finding.ok
    assert epsilon - 2e-5 <= finding.realised <= epsilon


def _total(law: list[Fraction]) -> Fraction:
    """Add up a long law of few different probabilities."""
    often = Counter(map(id, law))
    return sum((often[id(p)] * p for p in {id(p): p for p in law}.values()), Fraction(0))


@pytest.mark.parametrize("kind", KINDS)
def test_any_start_is_private(kind: str) -> None:
    """The proof does not look at the table of starts: whatever it says, the two weights are the same."""
    kernel = optimal(kind, 2.0).question.kernel.window
    total = kernel.width * kernel.inside + (kernel.cells - kernel.width) * kernel.outside
    assert total == kernel.total == kernel.cells << kernel.bits
    assert Fraction(kernel.inside, kernel.outside) <= exp_below(Fraction(2))
    starts = optimal(kind, 2.0).question.kernel.start.entries
    assert int(starts.max()) >> (COIN if KINDS[kind].get("unbiased") else 0) <= kernel.cells - kernel.width


@pytest.mark.some(every=4)
@pytest.mark.parametrize("criterion", ["worst", "average"])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0, 6.0])
def test_unbiased_in_fractions(criterion: object, epsilon: float) -> None:
    """The mean of the very integers and codebook, in exact arithmetic, is the value: to 1e-9 of a length."""
    mechanism = dt.Optimal(WIDE, epsilon=epsilon, unbiased=True, criterion=criterion)
    values = [Fraction(value) for value in mechanism.question.decode(np.arange(mechanism.cells)).tolist()]
    sums = [Fraction(0)]
    for value in values:
        sums.append(sums[-1] + value)
    kernel, start_rule = mechanism.question.kernel.window, mechanism.question.kernel.start
    low = Fraction(kernel.outside, kernel.total)
    lift = Fraction(kernel.inside - kernel.outside, kernel.total)
    rng = np.random.default_rng(3)
    for x in [-3.0, 7.0, 2.0, *rng.uniform(-3, 7, 40).tolist(), *(-3 + 10 * rng.random(10) ** 9).tolist()]:
        mean = low * sums[-1] + lift * sum(
            weight * (sums[start + kernel.width] - sums[start]) for start, weight in start_rule.starts(x)
        )
        assert abs(mean - Fraction(x)) <= Fraction(1, 10**9) * 10


@pytest.mark.some(every=3)
@pytest.mark.parametrize("kind", KINDS)
def test_few_values_and_many_have_the_same_law(kind: str) -> None:
    """Plain integers and blocks, against the exact probabilities of groups of cells; 1e-6 false alarms."""
    mechanism = optimal(kind, 2.0, WIDE)
    x, n = 1.2345, 60_000
    law = np.array([float(p) for p in mechanism.probabilities(x)])
    groups = np.unique(np.linspace(0, mechanism.cells, min(mechanism.cells, 16) + 1).astype(int))
    expected = n * np.add.reduceat(law, groups[:-1])
    many = mechanism.perturb(np.full(n, x), source=dt.Seeded(5)).cells
    source = dt.Seeded(6)
    few = np.concatenate([mechanism.perturb(np.full(20, x), source=source).cells for _ in range(n // 20)])
    limit = _chi_square_limit(expected.size - 1)
    for cells in (many, few):
        counts = np.histogram(cells, groups)[0]
        assert ((counts - expected) ** 2 / expected).sum() < limit
    # The broken twin: a window 2 % of the cells off its place.
    moved = np.roll(law, max(mechanism.cells // 50, 1))
    wrong = n * np.add.reduceat(moved, groups[:-1])
    if mechanism.cells > 16:
        counts = np.histogram(many, groups)[0]
        assert ((counts - wrong) ** 2 / wrong).sum() > limit


def _chi_square_limit(degrees: int) -> float:
    """Wilson and Hilferty's approximation of the quantile at 1 − 1e-6, a little above it."""
    spread = 2.0 / (9.0 * max(degrees, 1))
    return float(max(degrees, 1) * (1.0 - spread + 4.9 * spread**0.5) ** 3)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("kind", KINDS)
def test_sampled_moments_are_those_of_the_probabilities(kind: str) -> None:
    mechanism = optimal(kind, 1.0, WIDE)
    values = mechanism.question.decode(np.arange(mechanism.cells))
    for x in (-3.0, -0.7, 2.0, 6.99999):
        law = np.array([float(p) for p in mechanism.probabilities(x)])
        assert mechanism.sampled.mean(x) == pytest.approx(float(law @ values), abs=1e-9)
        square = float(law @ (values - x) ** 2)
        assert mechanism.sampled.error("squared", x) == pytest.approx(square, rel=1e-9)
        places, masses = mechanism.atoms(x)
        assert masses.sum() == pytest.approx(1.0, abs=1e-9)
        assert masses @ places == pytest.approx(mechanism.mean(x), abs=1e-8)
        assert mechanism.cdf(2.0, x) == pytest.approx(masses[places <= 2.0].sum(), abs=1e-9)


@pytest.mark.some(every=3)
@pytest.mark.parametrize("kind", KINDS)
def test_reports_travel(kind: str) -> None:
    mechanism = optimal(kind, 1.0, WIDE)
    reports = mechanism.perturb(np.linspace(-3, 7, 500), source=dt.Seeded(1))
    again = dt.from_bytes(reports.to_bytes())
    assert again == reports
    assert again.question == mechanism.question
    assert again.question.design() == mechanism
    assert again.question.fingerprint == mechanism.fingerprint
    assert np.array_equal(again.values, reports.values)
    assert again.question.probabilities(0.5) == mechanism.probabilities(0.5)


def test_a_codebook_that_was_changed_on_the_way_is_refused() -> None:
    """Numbers out of order, too few, or not numbers: what reports stand for must be a codebook."""

    def out_of_order(data: dict[str, Any]) -> None:
        data["codebook"]["values"][0] += 1.0

    def too_few(data: dict[str, Any]) -> None:
        data["codebook"]["values"].pop()

    def shorter(data: dict[str, Any]) -> None:
        data["codebook"]["runs"][0] -= 1

    for change in (out_of_order, too_few, shorter):
        with pytest.raises(dt.errors.MalformedReport):
            dt.from_json(changed(optimal("worst absolute", 1.0), whole=change))


@pytest.mark.parametrize("criterion", ["worst", "average"])
def test_the_mean_of_many_is_right(criterion: object) -> None:
    mechanism = dt.Optimal(WIDE, epsilon=1, unbiased=True, criterion=criterion)
    truth = np.random.default_rng(0).beta(2, 5, 200_000) * 10 - 3
    reports = mechanism.perturb(truth, source=dt.Seeded(9))
    error = abs(reports.values.mean() - truth.mean())
    variance = np.asarray(mechanism.variance(truth[:2000])).mean()
    assert error < 4.9 * np.sqrt(1.1 * variance / truth.size)
    assert mechanism.question.unbiased_reading() is not None
    assert optimal("worst absolute", 1.0).question.unbiased_reading() is None


def test_wrong_input_is_refused() -> None:
    for wrong in (
        {"loss": lambda gap: -np.abs(gap)},
        {"loss": lambda gap: gap},
        {"loss": lambda gap: np.where(np.abs(gap) < 0.3, np.abs(gap), 0.1)},
        {"loss": lambda gap: np.full(3, 1.0)},
        {"loss": np.zeros_like},
        {"loss": lambda gap: np.full_like(gap, np.nan)},
        {"loss": "absolut"},
        {"criterion": "worse"},
        {"unbiased": True, "loss": "absolute"},
        {"unbiased": 1},
        {"epsilon": 0.049},
        {"epsilon": 8.001},
        {"epsilon": float("nan")},
    ):
        with pytest.raises(dt.errors.InvalidParameter):
            dt.Optimal(dt.Interval(0, 1), **{"epsilon": 1.0, **wrong})
    with pytest.raises(dt.errors.InvalidParameter):
        dt.Optimal(dt.Circle(360), epsilon=1, unbiased=True)
    with pytest.raises(dt.errors.InvalidParameter):
        dt.Optimal(dt.Categories(3), epsilon=1)
    with pytest.raises(dt.errors.InvalidParameter):
        optimal("worst absolute", 1.0).compressed()
    with pytest.raises(dt.errors.OutsideDomain):
        optimal("worst absolute", 1.0).perturb([1.5])


@pytest.mark.parametrize("domain", [dt.Interval(-3, 7), dt.Circle(360)], ids=str)
def test_a_function_stays_at_home_and_its_mechanism_travels(domain: dt.Interval | dt.Circle) -> None:
    pytest.importorskip("scipy")
    made = dt.Optimal(domain, epsilon=1, loss=lambda gap: np.minimum(np.abs(gap), 3.0))
    again = dt.from_json(made.to_json())
    assert again == made.question
    assert again.fingerprint == made.fingerprint
    assert again.probabilities(1.25) == made.probabilities(1.25)
    assert dt.audit(again).ok
    reports = made.perturb(np.linspace(0, 5, 100), source=dt.Seeded(1))
    assert dt.from_bytes(reports.to_bytes()) == reports
    assert dt.from_json(again.to_json()).fingerprint == made.fingerprint  # and on to a third machine
    with pytest.raises(dt.errors.InvalidParameter, match="another machine"):
        again.design()
    with pytest.raises(dt.errors.InvalidParameter, match="another machine"):
        again.at(2.0)


def test_on_a_circle_the_integers_travel_too() -> None:
    best = dt.Optimal(dt.Circle(360), epsilon=1)
    other = dt.from_json(changed(best, narrower(7)))  # of another version, perhaps; private all the same
    assert other.kernel.window.width == best.question.kernel.window.width - 7
    steeper = f"{best.question.kernel.window.step + (1 << 60):x}"
    with pytest.raises(dt.errors.MalformedReport):
        dt.from_json(changed(best, lambda device: device.update(step=steeper)))


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("outputs", [2, 64, 256])
def test_few_outputs_cost_what_is_stated(outputs: int, unbiased: bool) -> None:
    """The certificate is that of the cells that are sampled, against the best of all mechanisms."""
    free = dt.Optimal(dt.Interval(0, 10), epsilon=2, unbiased=unbiased)
    few = dt.Optimal(dt.Interval(0, 10), epsilon=2, unbiased=unbiased, outputs=outputs)
    assert few.question.kernel.window.cells == outputs
    assert few.certificate.bound == free.certificate.bound
    assert few.certificate.error >= 0.999 * free.certificate.error
    assert dt.audit(few).ok
    assert dt.from_json(few.to_json()) == few.question
    values = np.linspace(0, 10, 201)
    measured = few.sampled.variance(values) if unbiased else few.sampled.error("absolute", values)
    assert measured.max() <= few.certificate.error * (1 + 1e-9)
    assert measured.max() >= 0.97 * few.certificate.error  # the stated one is not far above any value's
    if unbiased:
        assert np.abs(few.sampled.mean(values) - values).max() < 10 * 3e-5 / outputs  # as the page says
    if outputs >= 64:
        assert few.certificate.error <= 1.01 * free.certificate.error
        assert few.report_bytes == 1


def test_few_outputs_on_a_circle() -> None:
    few, free = (dt.Optimal(dt.Circle(360), epsilon=2, outputs=outputs) for outputs in (64, None))
    assert free.certificate.error < few.certificate.error < 1.01 * free.certificate.error
    assert few.report_bytes == 1
    assert dt.audit(few).ok


@pytest.mark.parametrize("outputs", [3, 0, -2, True, 2.0, "64", 1 << 17])
def test_outputs_are_an_even_number(outputs: object) -> None:
    with pytest.raises(InvalidParameter, match="even number"):
        dt.Optimal(dt.Interval(0, 1), epsilon=1, outputs=outputs)


@pytest.mark.parametrize("epsilon", [0.5, pytest.param(2, marks=pytest.mark.slow), 4, 8])
def test_the_page_says_what_few_outputs_cost(epsilon: float) -> None:
    page = (ROOT / "docs" / "optimal.md").read_text(encoding="utf-8")
    table = page.partition("| ε | 16 outputs |")[2]
    (row,) = re.findall(rf"^\| {epsilon:g} \|(.*)\|$", table.partition("\n\n")[0], re.MULTILINE)
    free = dt.Optimal(dt.Interval(0, 1), epsilon=epsilon).certificate.error
    for outputs, told in zip((16, 32, 64, 128, 256), row.split("|"), strict=True):
        few = dt.Optimal(dt.Interval(0, 1), epsilon=epsilon, outputs=outputs).certificate.error
        stated = float(told.replace("%", ""))
        assert 100 * (few / free - 1) == pytest.approx(stated, abs=0.051 if stated < 10 else 0.51)
