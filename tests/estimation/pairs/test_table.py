"""Contingency tables: unbiased for every protocol, and a test of independence that keeps its level."""

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.reports import Reports

PET, HOME = dt.Categories(["cat", "dog", "none"]), dt.Categories(["flat", "house"])
SHARES = np.array([[0.3, 0.1], [0.05, 0.25], [0.2, 0.1]])
KINDS = [dt.KRR, dt.OUE, dt.SUE, dt.OLH, dt.SubsetSelection, dt.HadamardResponse, dt.ProjectiveResponse]


def people(rng, n, shares=SHARES):
    pairs = rng.choice(shares.size, n, p=shares.reshape(-1))
    return np.array(PET.labels)[pairs // 2].tolist(), np.array(HOME.labels)[pairs % 2].tolist()


def told(kind, rng, source, n, shares=SHARES, epsilon=2.0):
    both = dt.Each(pet=kind(PET, epsilon=epsilon), home=kind(HOME, epsilon=epsilon))
    pets, homes = people(rng, n, shares)
    records = both.perturb({"pet": pets, "home": homes}, source=source)
    return records["pet"], records["home"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_table_is_unbiased_with_every_protocol(kind):
    table = dt.crosstab(*told(kind, np.random.default_rng(2), dt.Seeded(2), 20_000))
    gaps = (np.asarray(table.value) - SHARES) / np.asarray(table.standard_error)
    assert np.abs(gaps).max() < 5.2  # 1e-6 for six cells
    flipped = (np.asarray(table.value) - SHARES[::-1]) / np.asarray(table.standard_error)
    assert np.abs(flipped).max() > 5.2
    assert table["cat", "house"].value == np.asarray(table.value)[0, 1]
    assert table["cat", "house"].interval() == pytest.approx([end[0, 1] for end in table.interval()])
    assert table.guarantee.epsilon == pytest.approx(4.0, abs=1e-6)


def test_exact_channels_are_inverted_exactly():
    first = dt.KRR(PET, epsilon=2).reports([0, 1, 2, 2, 1, 0])
    second = dt.KRR(HOME, epsilon=1).reports([0, 1, 1, 0, 0, 1])
    channels = [
        np.array([[float(p) for p in kind.probabilities(label)] for label in kind.domain.labels])
        for kind in (first.question, second.question)
    ]
    counts = np.zeros((3, 2))
    np.add.at(counts, (first.cells, second.cells), 1 / 6)
    expected = np.linalg.inv(channels[0]).T @ counts @ np.linalg.inv(channels[1])
    assert np.asarray(dt.crosstab(first, second).value) == pytest.approx(expected)


def test_independence_keeps_its_level_and_finds_dependence():
    rng, source, runs = np.random.default_rng(3), dt.Seeded(3), 120
    free = np.outer([0.5, 0.3, 0.2], [0.6, 0.4])
    wrong = sum(
        dt.crosstab(*told(dt.OUE, rng, source, 400, free)).independence().p_value < 0.05 for _ in range(runs)
    )
    assert wrong <= stats.binom.isf(1e-6, runs, 0.06)
    naive = 0
    for _ in range(40):  # the twin: the textbook test reads the noisy labels as independent people
        found = dt.crosstab(*told(dt.OUE, rng, source, 3000)).independence()
        naive += found.p_value < 0.05
        assert found.freedom == 2
    assert naive >= 30


def test_the_order_of_categories_does_not_matter():
    first, second = told(dt.OUE, np.random.default_rng(5), dt.Seeded(5), 500)
    other = dt.OUE(dt.Categories(["none", "cat", "dog"]), epsilon=2)
    bits = np.unpackbits(first.cells, axis=1, count=3, bitorder="little")[:, [2, 0, 1]]
    turned = other.reports(np.packbits(bits, axis=1, bitorder="little"))
    p = dt.crosstab(first, second).independence().p_value
    assert dt.crosstab(turned, second).independence().p_value == pytest.approx(p)


def test_bad_pairs_are_refused():
    first, second = told(dt.KRR, np.random.default_rng(5), dt.Seeded(5), 50)
    with pytest.raises(InvalidParameter, match="lost the order"):
        dt.crosstab(dt.Summary.of(first), second)
    with pytest.raises(InvalidParameter, match="50 and 49"):
        dt.crosstab(first, second[:49])
    with pytest.raises(InvalidParameter, match="same reports twice"):
        dt.crosstab(first, first)
    with pytest.raises(InvalidParameter, match="same reports twice"):
        dt.crosstab(first, Reports(first.question, first.cells))
    with pytest.raises(NotIdentifiable, match="at least three"):
        dt.crosstab(first[:2], second[:2])
    with pytest.raises(InvalidParameter, match=r"dt\.correlation"):
        dt.crosstab(dt.PM(dt.Interval(0, 1), epsilon=1).perturb([0.5] * 50), second)
    with pytest.raises(InvalidParameter, match="mean cat"):
        dt.crosstab(first, second)["cats", "flat"]
    with pytest.raises(InvalidParameter, match="second question"):
        dt.crosstab(first, second)["cat"]
