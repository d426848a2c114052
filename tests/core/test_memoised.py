"""Permanent answers: the same for the same value on the same device, fresh everywhere else."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

import dither as dt
from dither.errors import InvalidParameter, OutsideDomain
from dither.privacy import Pure
from tests.support.chi_square import ALARM

AGE = dt.Podium(dt.Interval(0, 100), epsilon=1, cells=64)
KEY = bytes(range(32))


def test_the_same_value_gives_the_same_report() -> None:
    device = dt.Memoised(AGE, KEY, name="age")
    first = device.perturb([30.0, 40.0, 30.0])
    assert first.cells[0] == first.cells[2]
    assert first == device.perturb([30, 40, 30])
    assert first[1:2] == device.perturb(np.array([40.0], dtype=np.float32))
    assert device.perturb([0.0]) == device.perturb([-0.0])
    assert device.perturb(np.array([[30.0], [40.0]])).cells.shape == (2, 1)
    assert device.perturb(30.0).cells.shape == ()
    assert first == pickle.loads(pickle.dumps(device)).perturb([30.0, 40.0, 30.0])


def test_devices_questions_and_values_are_independent() -> None:
    values = np.arange(64) + 0.5
    ours = dt.Memoised(AGE, KEY, name="age").perturb(values).cells
    others = [
        dt.Memoised(AGE, bytes(32), name="age").perturb(values).cells,
        dt.Memoised(AGE, KEY, name="years").perturb(values).cells,
        dt.Memoised(AGE.at(1.1), KEY, name="age").perturb(values).cells,
        dt.Memoised(dt.Podium(dt.Interval(0, 101), epsilon=1, cells=64), KEY, name="age")
        .perturb(values)
        .cells,
    ]
    assert all((ours == other).sum() < 20 for other in others)
    assert np.unique(ours).size > 10


def test_over_devices_the_law_is_the_mechanism_s() -> None:
    source = dt.Seeded(5)
    cells = np.array(
        [int(dt.Memoised(AGE, source.take(32), name="age").perturb(30.0).cells) for _ in range(1_500)]
    )
    expected = np.array([float(p) for p in AGE.probabilities(30.0)]) * cells.size
    assert stats.chisquare(np.bincount(cells, minlength=64), expected).pvalue > ALARM
    elsewhere = np.array([float(p) for p in AGE.probabilities(60.0)]) * cells.size
    assert stats.chisquare(np.bincount(cells, minlength=64), elsewhere).pvalue < ALARM


def test_answers_survive_a_release() -> None:
    """Golden cells: if these change, every device answers again, and spends its budget again."""
    device = dt.Memoised(dt.Podium(dt.Interval(0, 100), epsilon=1), KEY, name="age")
    assert device.perturb([0.0, 30.0, 99.5]).cells.tolist() == [57631, 29735, 46135]


def test_a_whole_turn_is_no_turn() -> None:
    device = dt.Memoised(dt.OGPM(dt.Circle(360), epsilon=1), KEY, name="age")
    assert device.perturb([0.0]) == device.perturb([360.0])


def test_the_promise_is_for_a_person_and_says_what_it_assumes() -> None:
    guarantee = dt.Memoised(AGE, KEY, name="age").guarantee
    assert guarantee.bound == AGE.guarantee.bound
    assert guarantee.unit == "person"
    assert "the value never changes" in guarantee.assumes
    assert not guarantee.implies(AGE.guarantee)


def test_the_key_is_never_shown() -> None:
    device = dt.Memoised(AGE, KEY, name="age")
    assert "key" not in repr(device)
    assert repr(KEY)[2:-1] not in repr(device) + device.describe()


def test_the_collector_needs_no_key() -> None:
    device = dt.Memoised(AGE, KEY, name="age")
    sent = device.perturb([30.0, 50.0])
    assert AGE.reports(sent.cells) == sent == device.reports(sent.cells)
    assert device.fingerprint == AGE.fingerprint
    assert len(device.perturb([])) == 0


def test_new_keys_are_new() -> None:
    assert len(dt.Memoised.new_key()) == 32
    assert dt.Memoised.new_key() != dt.Memoised.new_key()


@pytest.mark.parametrize("key", [b"", b"short", "k" * 32, None, 7])
def test_a_key_is_thirty_two_bytes(key: object) -> None:
    with pytest.raises(InvalidParameter):
        dt.Memoised(AGE, key, name="age")


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        dt.Memoised(dt.Each(age=AGE), KEY, name="age")
    with pytest.raises(InvalidParameter, match="correlates the coins"):
        dt.Memoised(dt.JRR(dt.Categories(2), p=0.6, rho=-0.1, n=4), KEY, name="coin")
    with pytest.raises(OutsideDomain):
        dt.Memoised(AGE, KEY, name="age").perturb([101.0])
    with pytest.raises(OutsideDomain):
        dt.Memoised(AGE, KEY, name="age").perturb([float("nan")])


def test_two_questions_of_one_mechanism_have_noise_of_their_own() -> None:
    """Equal answers to two questions must give different reports as often as fresh noise does."""
    coin = dt.KRR(dt.Categories(2), epsilon=1)
    source, differ = dt.Seeded(11), 0
    for _ in range(400):
        key = source.take(32)
        both = dt.Each(
            smokes=dt.Memoised(coin, key, name="smokes"), drinks=dt.Memoised(coin, key, name="drinks")
        ).perturb({"smokes": [0], "drinks": [0]})
        differ += int(both["smokes"].cells[0] != both["drinks"].cells[0])
    truth = float(coin.probabilities(0)[0])
    expected = 400 * 2 * truth * (1 - truth)
    assert abs(differ - expected) < 5 * np.sqrt(expected)


def test_attributes_with_one_key_and_one_name_are_refused() -> None:
    one, two = dt.Memoised(AGE, KEY, name="age"), dt.Memoised(AGE.at(2), KEY, name="age")
    for kind in (dt.Each, dt.Sampled):
        with pytest.raises(InvalidParameter, match="different keys or names of the attributes 'a' and 'b'"):
            kind(a=one, b=two)
    assert dt.Each(a=one, b=dt.Memoised(AGE, bytes(32), name="age")).guarantee.epsilon <= 2.0
    with pytest.raises(InvalidParameter, match="different keys or names"):
        dt.Each.split(2, a=one, b=one)


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_question_has_a_name(name: object) -> None:
    with pytest.raises(InvalidParameter, match="name"):
        dt.Memoised(AGE, KEY, name=name)


CITY = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))


def test_a_whole_path_is_one_value() -> None:
    trip = np.linspace(0.1, 0.9, 20).reshape(10, 2)
    device = dt.Memoised(dt.TraCSC(CITY, epsilon=4, unit="trajectory"), KEY, name="trip")
    sent = device.perturb(trip)
    assert sent == device.perturb(trip.tolist()) == device.perturb([tuple(place) for place in trip])
    assert sent.cells[:, 0].tolist() == [1] + [0] * 9  # one path: the budget is divided over its places
    assert not np.array_equal(sent.cells[0, 1:], device.perturb(trip[:1]).cells[0, 1:])
    twice = device.perturb([trip, trip[:3], trip])
    assert np.array_equal(twice.cells[:10], sent.cells)
    assert np.array_equal(twice.cells[13:], sent.cells)
    assert twice.cells[:, 0].sum() == 3
    assert device.perturb(np.stack([trip, trip])).cells.shape == (2, 10, 3)
    assert len(device.perturb([])) == 0


def test_a_place_of_a_long_path_is_drawn_with_its_share_of_the_budget() -> None:
    """At ε = 12 for the trajectory one place alone is told well, one of 48 badly."""
    mechanism = dt.TraCSC(CITY, epsilon=12, unit="trajectory")
    device = dt.Memoised(mechanism, KEY, name="trip")
    path = np.full((48, 2), 0.3)
    spread = np.abs(device.perturb(path).values - path).mean()
    fresh = np.abs(mechanism.perturb(path, source=dt.Seeded(1)).values - path).mean()
    assert spread > 0.5 * fresh > 0.1


def test_the_unit_of_a_permanent_path() -> None:
    for unit, kept in (("location", "location"), ("trajectory", "person")):
        mechanism = dt.TraCSD(CITY, epsilon=4, unit=unit)
        guarantee = dt.Memoised(mechanism, KEY, name="trip").guarantee
        assert guarantee.unit is kept
        assert set(mechanism.guarantee.assumes) < set(guarantee.assumes)


def test_texts_have_permanent_answers() -> None:
    words = dt.PEM(dt.Text(8), epsilon=1)
    device = dt.Memoised(words, KEY, name="word")
    sent = device.perturb(["ask", "tell", "ask"])
    assert sent.cells[0] == sent.cells[2] != sent.cells[1]
    assert device.perturb("ask").cells == sent.cells[0]
    assert len(device.perturb([])) == 0
    with pytest.raises(OutsideDomain):
        device.perturb(["a long sentence"])


def test_a_permanent_choice_of_the_attribute() -> None:
    """Asked 40 times, a device speaks about one attribute; over devices, each is as likely."""
    source, chosen = dt.Seeded(3), []
    for _ in range(200):
        key = source.take(32)
        device = dt.Sampled({name: dt.Memoised(AGE, key, name=name) for name in "abc"})
        asked = [device.perturb({"a": [3.0], "b": [5.0], "c": [7.0]}) for _ in range(4)]
        places = {int(records.chosen[0]) for records in asked if records.chosen is not None}
        assert len(places) == 1
        chosen.append(places.pop())
    assert stats.chisquare(np.bincount(chosen, minlength=3)).pvalue > ALARM
    assert device.guarantee.epsilon <= 1.0
    assert device.guarantee.unit == "person"


def test_a_fresh_choice_among_permanent_answers_is_refused() -> None:
    one = dt.Memoised(AGE, KEY, name="a")
    for other in (AGE, dt.Memoised(AGE, bytes(32), name="b")):
        with pytest.raises(InvalidParameter, match="all attributes or none"):
            dt.Sampled(a=one, b=other)


def test_a_fresh_coin_over_a_permanent_answer_is_refused() -> None:
    for inside in (dt.Memoised(AGE, KEY, name="a"), dt.Each(a=dt.Memoised(AGE, KEY, name="a"))):
        with pytest.raises(InvalidParameter, match=r"expected a mechanism without dt\.Memoised"):
            dt.classifiers.Indicator(inside, delta=0.1, allow_raw_release=True)


def test_nothing_is_promised_if_the_value_changes() -> None:
    """Enumerated in fractions: two permanent answers differ with probability (E² + 1)/(E + 1)²."""
    smokes = dt.KRR(dt.Categories(["yes", "no"]), epsilon=1)
    device = dt.Memoised(smokes, KEY, name="smokes")
    assert isinstance(device.guarantee.bound, Pure)
    assert isinstance(device.guarantee.if_changing, dt.privacy.Nothing)
    assert "dt.Once" in device.guarantee.if_changing.reason
    assert smokes.guarantee.if_changing == smokes.guarantee.bound
    both = dt.Each(fresh=smokes, kept=device)
    assert isinstance(both.guarantee.if_changing, dt.privacy.Nothing)

    before, after = smokes.probabilities("no"), smokes.probabilities("yes")
    seen = {(a, b): p * q for a, p in enumerate(before) for b, q in enumerate(after)}
    unchanged = {pair: p if pair[0] == pair[1] else 0 for pair, p in zip(seen, seen.values(), strict=True)}
    proved = sum(p for pair, p in seen.items() if unchanged[pair] == 0)
    assert device.change_proved("no", "yes") == pytest.approx(float(proved), abs=1e-15)
    assert device.change_proved("no", "yes") == pytest.approx((np.e**2 + 1) / (np.e + 1) ** 2, abs=1e-9)
    assert round(device.change_proved("no", "yes"), 3) == 0.607
    assert device.change_proved("no", "no") == 0.0
    assert dt.Memoised(AGE, KEY, name="age").change_proved(30, 31) > 0.9
    with pytest.raises(OutsideDomain):
        device.change_proved("no", "perhaps")
    page = dt.Memoised(dt.OLH(dt.Categories(range(100)), epsilon=1), KEY, name="page")
    with pytest.raises(InvalidParameter, match="different reports"):
        page.change_proved(3, 4)


def test_a_change_is_proved_as_often_as_is_computed() -> None:
    source, people = dt.Seeded(9), 2_000
    smokes = dt.KRR(dt.Categories(["yes", "no"]), epsilon=1)
    differ = 0
    for _ in range(people):
        device = dt.Memoised(smokes, source.take(32), name="smokes")
        first, second = device.perturb(["no", "yes"]).cells
        differ += int(first != second)
    assert stats.binomtest(differ, people, device.change_proved("no", "yes")).pvalue > ALARM
    assert stats.binomtest(differ, people, 0.5).pvalue < ALARM  # as if the permanent answers were fair coins
