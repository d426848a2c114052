"""The law of every protocol, listed in fractions: a law, private, and with the p and q that it states."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import dither as dt
from dither.privacy.exact import exp_below, log_above
from tests.support.broken import frequency as twins
from tests.support.cases.frequency import KINDS, LISTED, names

BUDGETS = [1e-6, 0.5, 1.0, 4.0, 20.0, 50.0]


def _laws(mechanism, k):
    return [mechanism.probabilities(x) for x in range(k)]


def _largest_ratio(laws) -> Fraction:
    return max(
        one / two
        for first, second in permutations(laws, 2)
        for one, two in zip(first, second, strict=True)
        if one or two
    )


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("kind", LISTED, ids=names(LISTED))
def test_the_law_sums_to_one_and_is_private(kind, k, epsilon):
    mechanism = kind(dt.Categories(k), epsilon=epsilon)
    laws = _laws(mechanism, k)
    assert all(sum(law) == 1 for law in laws)
    ratio = _largest_ratio(laws)
    assert ratio <= exp_below(Fraction(epsilon))
    assert mechanism.guarantee.epsilon == log_above(ratio)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("kind", LISTED, ids=names(LISTED))
def test_p_and_q_are_those_of_the_law(kind, k, epsilon):
    """Supports are counted over every single report, by the decoder that estimates use."""
    mechanism = kind(dt.Categories(k), epsilon=epsilon)
    laws = _laws(mechanism, k)
    everything = np.arange(len(laws[0]))
    cells = everything.astype(np.uint8)[:, None] if mechanism.question.layout.shape else everything
    decoded = mechanism.question.decode(cells)
    supported = decoded if decoded.ndim == 2 else decoded[:, None] == np.arange(k)
    own, other = mechanism.rates
    for x, law in enumerate(laws):
        for y in range(k):
            mass = sum(p for p, holds in zip(law, supported[:, y], strict=True) if holds)
            assert mass == (own if x == y else other)
    assert mechanism.p - mechanism.q == pytest.approx(mechanism.gap, abs=1e-15)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("kind", [dt.OLH, dt.rivals.BLH], ids=["OLH", "BLH"])
def test_hashing_is_private_whatever_the_seed(kind, epsilon):
    mechanism = kind(dt.Categories(6), epsilon=epsilon)
    if mechanism.question.kernel.window.cells > 1000:
        assert mechanism.guarantee.epsilon <= epsilon
        return
    for seed in (0, 1, 2**47 - 1):
        laws = [mechanism.probabilities(x, seed=seed) for x in range(6)]
        assert all(sum(law) == 1 for law in laws)
        assert _largest_ratio(laws) <= exp_below(Fraction(epsilon))


@pytest.mark.parametrize("epsilon", [*BUDGETS, 30.0, 44.0])
@pytest.mark.parametrize("kind", KINDS, ids=names(KINDS))
@pytest.mark.some(every=2)
def test_the_budget_is_kept_and_used(kind, epsilon):
    finding = dt.audit(kind(dt.Categories(40), epsilon=epsilon))
    assert finding.ok
    assert finding.realised > epsilon * (1 - 1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("k", [2, 3, 16, 100])
def test_closed_forms(k, epsilon):
    """The table of the literature, in doubles."""
    domain, E = dt.Categories(k), np.exp(epsilon)
    g = round(E) + 1
    w = max(1, round(k / (E + 1)))
    expected = {
        dt.KRR: (E / (E + k - 1), 1 / (E + k - 1)),
        dt.rivals.SUE: (np.exp(epsilon / 2) / (np.exp(epsilon / 2) + 1), 1 / (np.exp(epsilon / 2) + 1)),
        dt.OUE: (0.5, 1 / (E + 1)),
        dt.OLH: (E / (E + g - 1), 1 / g),
        dt.rivals.BLH: (E / (E + 1), 0.5),
        dt.SubsetSelection: (
            w * E / (w * E + k - w),
            (w * E * (w - 1) + (k - w) * w) / ((k - 1) * (w * E + k - w)),
        ),
        dt.HadamardResponse: (E / (E + 1), 0.5),
    }
    for kind, rates in expected.items():
        mechanism = kind(domain, epsilon=epsilon)
        assert (mechanism.p, mechanism.q) == pytest.approx(rates, rel=1e-9)
        p, q = rates
        theory = (0.3 * p * (1 - p) + 0.7 * q * (1 - q)) / (p - q) ** 2
        assert mechanism.variance(0.3) == pytest.approx(theory, rel=1e-8)


def test_sizes_of_reports_do_not_depend_on_the_answer():
    for kind in KINDS:
        mechanism = kind(dt.Categories(11), epsilon=1)
        shapes = {
            (reports.cells.shape, reports.cells.dtype)
            for reports in (mechanism.perturb(np.full(3, x), source=dt.Seeded(1)) for x in range(11))
        }
        assert len(shapes) == 1
        assert mechanism.report_bytes == mechanism.perturb([4]).cells.nbytes


@pytest.mark.parametrize("twin", [twins.OffByOneBit, twins.WithoutFactor, twins.RoundedDown])
def test_the_audit_rejects_broken_twins(twin):
    mechanism = twin(dt.Categories(6), epsilon=1.0)
    assert not _largest_ratio(_laws(mechanism, 6)) <= exp_below(Fraction(1))
    assert not dt.audit(mechanism).ok
