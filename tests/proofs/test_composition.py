"""Composition: the joint law of two releases is enumerated, and the composed guarantee covers it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

import dither as dt
from dither.privacy.exact import exp_above
from dither.privacy.guarantee import Approximate, Guarantee, Pure

Law = dict[object, Fraction]

LABELS = ["a", "b", "c"]
DOMAIN = dt.Categories(LABELS)
FIRST, SECOND = dt.KRR(DOMAIN, epsilon=0.7), dt.KRR(DOMAIN, epsilon=1.3)


def table(mechanism: dt.Mechanism) -> list[Law]:
    return [dict(enumerate(mechanism.question.kernel.probabilities(code))) for code in range(len(LABELS))]


def joint(first: list[Law], second: dict[object, list[Law]]) -> list[Law]:
    """Return the law of (first report, second report) by input; the second may depend on the first report."""
    return [
        {
            (one, two): chance * other
            for one, chance in first[value].items()
            for two, other in second[one][value].items()
        }
        for value in range(len(first))
    ]


def worst(laws: list[Law]) -> Fraction:
    return max(one[report] / two[report] for one, two in product(laws, laws) for report in one)


def covers(epsilon: float, ratio: Fraction) -> bool:
    return ratio <= exp_above(Fraction(epsilon))


def test_two_independent_reports_compose() -> None:
    found = worst(joint(table(FIRST), {report: table(SECOND) for report in range(3)}))
    composed = FIRST.guarantee.compose(SECOND.guarantee)
    assert covers(composed.epsilon, found)
    assert not covers(composed.epsilon * (1 - 1e-6), found)  # and no less would do
    assert not covers(max(FIRST.guarantee.epsilon, SECOND.guarantee.epsilon), found)


def test_a_second_question_chosen_by_the_first_report_composes() -> None:
    """Adaptive: whoever reports "a" is asked again with ε = 1.3, others with 0.1."""
    gentle = dt.KRR(DOMAIN, epsilon=0.1)
    found = worst(joint(table(FIRST), {0: table(SECOND), 1: table(gentle), 2: table(gentle)}))
    composed = FIRST.guarantee.compose(SECOND.guarantee.either(gentle.guarantee))
    assert covers(composed.epsilon, found)
    assert not covers(FIRST.guarantee.compose(gentle.guarantee).epsilon, found)


def test_repetition_is_composition() -> None:
    laws = table(FIRST)
    for times in (2, 3):
        chained = laws
        for _ in range(times - 1):
            chained = joint(chained, {report: table(FIRST) for report in chained[0]})
        assert covers(FIRST.guarantee.repeated(times).epsilon, worst(chained))
        assert not covers(FIRST.guarantee.repeated(times - 1).epsilon, worst(chained))


def test_either_is_a_public_coin() -> None:
    """The coin is shown with the report, so the loss is the larger of the two."""
    mixed = [
        {("first", report): chance / 2 for report, chance in one.items()}
        | {("second", report): chance / 2 for report, chance in two.items()}
        for one, two in zip(table(FIRST), table(SECOND), strict=True)
    ]
    either = FIRST.guarantee.either(SECOND.guarantee)
    assert covers(either.epsilon, worst(mixed))
    assert not covers(either.epsilon * (1 - 1e-6), worst(mixed))


def leaking(ratio: int, delta: Fraction) -> list[Law]:
    """Return an (ln ratio, delta) response over two values: it tells the truth with probability delta."""
    told = (1 - delta) * Fraction(ratio, ratio + 1)
    return [
        {0: told, 1: 1 - delta - told, "it is 0": delta, "it is 1": Fraction(0)},
        {0: 1 - delta - told, 1: told, "it is 0": Fraction(0), "it is 1": delta},
    ]


def excess(laws: list[Law], ratio: int) -> Fraction:
    """Return the least δ for ln ratio: the largest P(S) − ratio·Q(S) over all sets S of reports."""
    return max(
        sum((max(one[report] - ratio * two[report], Fraction(0)) for report in one), Fraction(0))
        for one, two in product(laws, laws)
    )


@pytest.mark.parametrize("deltas", [(Fraction(1, 10), Fraction(1, 7)), (Fraction(1, 1000), Fraction(1, 3))])
def test_deltas_compose(deltas: tuple[Fraction, Fraction]) -> None:
    first, second = leaking(3, deltas[0]), leaking(2, deltas[1])
    assert [excess(first, 3), excess(second, 2)] == list(deltas)
    both = joint(first, dict.fromkeys(first[0], second))
    composed = Guarantee(Approximate(math.log(3), float(deltas[0]))).compose(
        Guarantee(Approximate(math.log(2), float(deltas[1])))
    )
    assert composed.epsilon >= math.log(6) * (1 - 1e-15)
    assert excess(both, 6) <= Fraction(composed.delta)
    assert excess(both, 6) > max(deltas)  # one of the two deltas would not do


def test_a_whole_assumes_what_its_parts_assume() -> None:
    one, two = (Guarantee(Pure(1.0), assumes=lines) for lines in (("the sky is up", "a"), ("a", "b")))
    assert one.compose(two).assumes == ("the sky is up", "a", "b")
    assert one.either(two).assumes == ("the sky is up", "a", "b")
    assert not one.compose(two).implies(Guarantee(Pure(2.0), assumes=("a", "b")))
    assert one.compose(two).implies(Guarantee(Pure(2.0), assumes=("b", "the sky is up", "a")))


def test_an_assumption_that_fails_takes_the_bound_with_it() -> None:
    """A permanent answer promises ε for all answers, assuming that the value does not change.

    The joint law of two permanent answers: equal if the value stayed, independent if it changed.
    """
    memoised = dt.Memoised(FIRST, dt.Memoised.new_key(), name="browser")
    laws = table(FIRST)
    kept: list[Law] = [{(report, report): chance for report, chance in one.items()} for one in laws]
    assert covers(memoised.guarantee.epsilon, worst(kept))
    assert memoised.guarantee.assumes
    # Somebody whose value changed from 0 to 1, against somebody whose value changed from 1 to 0.
    changed: list[Law] = [
        {(i, j): laws[before][i] * laws[after][j] for i, j in product(range(3), range(3))}
        for before, after in ((0, 1), (1, 0))
    ]
    assert not covers(memoised.guarantee.epsilon, worst(changed))
    assert covers(FIRST.guarantee.repeated(2).epsilon, worst(changed))
