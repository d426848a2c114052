"""Sets by polynomials: equal counts by enumeration, the law, draws, counting and hostile reports."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.counts import summarise
from dither.core.kernels.sets.field import MOST_PRODUCTS, Polynomials
from dither.core.kernels.sets.polynomial import PolynomialKernel
from dither.errors import InvalidParameter, MalformedReport
from dither.estimation.frequency import sizes_of_sets
from dither.privacy.exact import exp_below
from tests.support.chi_square import ALARM, p_of_counts

# items, most, prime, below, pairs
SMALL = [(4, 2, 7, 2, False), (3, 2, 5, 3, True), (5, 1, 7, 3, False), (2, 2, 5, 4, True)]


def every_set(items: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(items), size) for size in range(items + 1)))


def value(polynomial: tuple[int, ...], at: int, prime: int) -> int:
    return sum(term * at**power for power, term in enumerate(polynomial)) % prime


@pytest.mark.parametrize(("prime", "most", "below"), [(7, 2, 2), (5, 2, 1), (5, 3, 2), (7, 3, 4), (11, 2, 5)])
def test_every_set_is_met_by_as_many_polynomials(prime: int, most: int, below: int) -> None:
    """With one value at each of the own points, and with m − 1 coefficients not."""
    polynomials = list(product(range(prime), repeat=most))
    values = np.array([[value(one, at, prime) for at in range(prime)] for one in polynomials]) < below
    met = {int(values[:, list(own)].any(axis=1).sum()) for own in combinations(range(prime), most)}
    assert met == {prime**most - (prime - below) ** most}  # the further coefficients multiply them by p each
    fewer = np.array([[value(one, at, prime) for at in range(prime)] for one in polynomials])[
        : prime ** (most - 1)
    ]
    assert (
        most == 2
        or len(
            {int((fewer[:, list(own)] < below).any(axis=1).sum()) for own in combinations(range(prime), most)}
        )
        > 1
    )


def test_168_polynomials_meet_any_two_of_seven() -> None:
    kernel = PolynomialKernel.largest(1.0, 5, 2, 7, 2)
    assert kernel.meeting * kernel.outcomes == 168


@pytest.mark.parametrize(("items", "most", "prime", "below", "pairs"), SMALL)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_law(items: int, most: int, prime: int, below: int, pairs: bool, epsilon: float) -> None:
    kernel = PolynomialKernel.largest(epsilon, items, most, prime, below, pairs=pairs)
    laws = {one: kernel.probabilities(one) for one in every_set(items)}
    assert all(sum(law) == 1 for law in laws.values())
    ratio = max(max(column) / min(column) for column in zip(*laws.values(), strict=True))
    assert ratio == kernel.ratio <= exp_below(Fraction(epsilon))
    assert kernel.epsilon > epsilon - 1e-12
    assert sum(map(min, zip(*laws.values(), strict=True))) >= sum(kernel.blanket.masses) * (1 - 1e-12) > 0
    listed = [tuple(reversed(one)) for one in product(range(prime), repeat=kernel.terms)]
    has = [[value(one, at, prime) < below for one in listed] for at in range(items)]
    for own, law in laws.items():
        if len(own) > most:
            continue
        for item in range(items):
            told = sum(chance for chance, held in zip(law, has[item], strict=True) if held)
            assert told == kernel.rates[0 if item in own else 1]
        for pair in combinations(range(items), 2) if pairs else ():
            both = zip(law, has[pair[0]], has[pair[1]], strict=True)
            rate = sum(chance for chance, first, second in both if first and second)
            assert rate == kernel.pair_rates[len({*pair} & {*own})]
        row = np.array([*own, *[-1] * (most - len(own))])
        cells = np.array([list(kernel.polynomials.pack_one(one)) for one in listed], dtype=np.uint8)
        found = kernel.likelihoods(cells, np.tile(row, (len(cells), 1)))
        assert found == pytest.approx([float(chance) for chance in law])


@pytest.mark.parametrize("pairs", [False, True])
def test_draws_follow_the_law_and_too_few_coefficients_do_not(pairs: bool) -> None:
    kernel = PolynomialKernel.largest(1.0, 4, 2, 7, 2, pairs=pairs)
    for own in ([], [2], [0, 3], [0, 1, 2, 3]):
        row = np.array(own + [-1] * (4 - len(own)))
        law = np.array([float(chance) for chance in kernel.probabilities(row)])
        for people, drawn in (
            (30_000, kernel.draw(np.tile(row, (30_000, 1)), dt.Seeded(3))),
            (3_000, kernel.draw_singly([row] * 3_000, dt.Seeded(4))),
        ):
            counts = np.bincount(kernel.numbers(drawn), minlength=kernel.outcomes)
            assert p_of_counts(counts, people * law) > ALARM
    wrong = kernel.draw(np.tile(np.array([1, -1, -1, -1]), (30_000, 1)), dt.Seeded(3))
    assert p_of_counts(np.bincount(kernel.numbers(wrong), minlength=kernel.outcomes), 30_000 * law) < ALARM


@pytest.mark.parametrize(("prime", "terms"), [(2, 2), (7, 3), (1009, 11), (100_019, 11), (1_048_583, 102)])
def test_polynomials_are_packed_evaluated_and_interpolated_exactly(prime: int, terms: int) -> None:
    """Against Python integers, up to the largest prime and the longest report."""
    field, rng = Polynomials(prime, terms), np.random.default_rng(1)
    terms_of = rng.integers(0, prime, (terms, 60))
    terms_of[:, 0], terms_of[:, 1] = prime - 1, 0
    rows = np.zeros((60, field.length), dtype=np.uint8)
    field.pack([column.astype(float) for column in terms_of], rows)
    assert [row.tobytes() for row in rows] == [field.pack_one(one.tolist()) for one in terms_of.T]
    assert np.array_equal(np.stack(field.unpack(rows)), terms_of)
    assert np.array_equal(field.check(rows), rows)
    points = np.unique(np.append(rng.integers(0, prime, 6), prime - 1))
    right = [[value(tuple(one.tolist()), int(at), prime) for at in points] for one in terms_of.T]
    bound = prime // 3 + 1
    assert np.array_equal(field.below(rows, points, bound), np.array(right) < bound)
    assert np.array_equal(field.count_below(rows, points, bound), (np.array(right) < bound).sum(axis=0))
    own = min(terms - 1, prime)
    at = np.stack([rng.choice(prime, own, replace=False) for _ in range(60)], axis=1).astype(float)
    wanted, free = (
        rng.integers(0, prime, (own, 60)).astype(float),
        rng.integers(0, prime, (1, 60)).astype(float),
    )
    made = np.stack(field.interpolate(list(at), list(wanted), list(free)))
    for person in range(0, 60, 7):
        given = [[int(number) for number in rows_[:, person]] for rows_ in (at, wanted, free)]
        one = field.interpolate_one(*given)
        assert one == made[:, person].tolist()
        assert [value(tuple(one), point, prime) for point in given[0]] == given[1]


def test_reports_that_no_device_sends() -> None:
    asked = dt.SetResponse(dt.Several(1000, most=4), epsilon=1)
    size = 1009**5
    length = asked.report_bytes
    good = asked.reports([list((size - 1).to_bytes(length, "little"))])
    assert asked.question.counting.count(good.cells).sum() == good.values.sum() + np.count_nonzero(
        asked.question.kernel.support_of(good.cells, np.arange(1000, 1004))
    )
    for raw in (size, size + 1, (1 << 8 * length) - 1):
        with pytest.raises(MalformedReport, match=r"below 1009\^5"):
            asked.reports([list(raw.to_bytes(length, "little"))])
    for wrong in ([[0] * (length - 1)], [[0] * (length + 1)], [[256] + [0] * (length - 1)], [[-1] * length]):
        with pytest.raises(MalformedReport):
            asked.reports(wrong)
    for numbers in (
        (10, 4, 11, 0, 5),
        (10, 4, 15, 3, 5),
        (10, 4, 17, 17, 5),
        (10, 4, 17, 3, 4),
        (10, 4, 17, 3, 7),
    ):
        with pytest.raises(InvalidParameter):
            PolynomialKernel(*numbers, coin=asked.question.kernel.coin)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="bytes"):
        Polynomials(1_048_583, 1 << 40)


def test_counts_are_those_of_the_supports_and_items_on_demand() -> None:
    asked = dt.SetResponse(dt.Several(3000, most=4), epsilon=1)
    assert asked.report == "polynomial"
    people: Any = np.sort(np.random.default_rng(1).integers(0, 3000, (300, 3)), axis=1)
    reports = asked.perturb(people, source=dt.Seeded(1))
    counts = asked.question.counting.count(reports.cells)
    assert np.array_equal(counts[:3000], np.asarray(reports.values).sum(axis=0))
    every, some = dt.frequencies(reports), dt.frequencies(reports, items=[7, 2999])
    assert some.labels == (7, 2999)
    assert some[2999].value == every[2999].value
    assert some[2999].interval() == every[2999].interval()
    assert some.sizes[2].value == every.sizes[2].value
    assert dt.frequencies(summarise(reports), items=[7])[7].value == some[7].value
    assert dt.from_bytes(reports.to_bytes()) == reports
    for wrong in ([], [7, 7], [3000]):
        with pytest.raises((InvalidParameter, dt.errors.OutsideDomain)):
            dt.frequencies(reports, items=wrong)
    with pytest.raises(InvalidParameter, match="sets of items"):
        dt.frequencies(dt.KRR(dt.Categories(3), epsilon=1).perturb([1]), items=[1])


@pytest.mark.parametrize(("prime", "terms"), [(2, 3), (10_007, 6), (10_007, 40), (2, 500)])
def test_matrix_products_are_too_small_for_threads_and_count_the_same(prime: int, terms: int) -> None:
    field = Polynomials(prime, terms)
    rows = np.random.default_rng(1).integers(0, 256, (2100, field.length), dtype=np.uint8)
    rows[:, -1] = 0  # below p^terms
    points, bound = np.arange(min(prime, 90)), max(prime // 3, 1)
    seen = np.zeros((len(points), len(rows)), dtype=np.int64)
    for own, at, share in field._shares(rows, points):
        assert share.size * terms <= MOST_PRODUCTS
        seen[at, own] += 1
    assert (seen == 1).all()
    held = field.values([column[:, None] for column in field.unpack(rows)], points.astype(float)) < bound
    assert np.array_equal(field.below(rows, points, bound), held)
    assert np.array_equal(field.count_below(rows, points, bound), held.sum(axis=0))


def test_a_long_count_is_announced_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = dt.SetResponse(dt.Several(3000, most=4), epsilon=1)
    reports = asked.perturb([[1, 2]] * 40, source=dt.Seeded(1))
    monkeypatch.setattr("dither.estimation.frequency._LONG", 40 * 3004)
    with pytest.warns(UserWarning, match=r"40 reports are evaluated at 3 004 elements.* items=\[…\]") as seen:
        dt.frequencies(reports)
    assert seen[0].filename == __file__
    some: Any = dt.frequencies(reports, items=[1])  # says nothing, and neither do sizes: one item is enough
    assert sizes_of_sets(reports)["2 or more"].value == some.sizes.value[1]
