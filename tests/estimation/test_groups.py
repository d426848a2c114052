"""Groups: each is estimated as if it were alone, in one pass, and small ones are left out."""

import tracemalloc

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter, NotIdentifiable
from dither.estimation.groups import MOST_GROUPS, GroupCounts

AGE = dt.Podium(dt.Interval(0, 100), epsilon=2, cells=1 << 10)
PET = dt.KRR(dt.Categories(["cat", "dog", "none"]), epsilon=2)


def sample(n=900, mechanism=AGE, seed=3):
    rng = np.random.default_rng(seed)
    values = rng.uniform(0, 100, n) if mechanism is AGE else rng.choice(["cat", "dog", "none"], n)
    return mechanism.perturb(values, source=dt.Seeded(seed)), rng.choice(["Kyoto", "Nara", "Uji"], n)


def test_a_group_is_estimated_as_if_it_were_alone():
    reports, cities = sample()
    groups = dt.estimate(reports, by=cities)
    assert list(groups.estimates) == ["Kyoto", "Nara", "Uji"]
    for city, estimate in groups.items():
        alone = dt.mean(reports[cities == city])
        assert (estimate.value, estimate.interval(), estimate.n) == (alone.value, alone.interval(), alone.n)
    low, high = groups["Nara"].interval()
    row = groups.rows[1]
    assert dict(row) == {
        "group": "Nara", "value": groups["Nara"].value, "low": low, "high": high, "n": groups["Nara"].n
    }  # fmt: skip


def test_frequencies_have_a_row_for_each_answer_of_each_group():
    reports, cities = sample(mechanism=PET)
    days = np.arange(900) % 2
    groups = dt.estimate(reports, by={"city": cities, "day": days}, level=0.9)
    assert groups.columns == ["city", "day", "answer", "value", "low", "high", "n"]
    assert len(groups) == 3 * 2 * 3
    alone = dt.frequencies(reports[(cities == "Uji") & (days == 1)])
    assert groups["Uji", 1]["dog"].value == alone["dog"].value
    row = next(row for row in groups if (row["city"], row["day"], row["answer"]) == ("Uji", 1, "dog"))
    assert (row["low"], row["high"]) == alone["dog"].interval(0.9)


def test_small_groups_are_left_out_and_it_is_said():
    reports, cities = sample()
    cities[:40] = "Otsu"
    groups = dt.estimate(reports, by=cities, minimum=41)
    assert "Otsu" not in groups.estimates
    assert groups.left_out == 1
    assert "1 group with fewer than 41 reports left out" in repr(groups)
    assert "Otsu" in dt.estimate(reports, by=cities, minimum=40).estimates
    with pytest.raises(NotIdentifiable, match="at least one group with 800"):
        dt.estimate(reports, by=cities, minimum=800)


def test_another_quantity_can_be_asked_of_each_group():
    reports, cities = sample()
    groups = dt.estimate(reports, by=cities, quantity=dt.variance)
    assert groups["Uji"].value == dt.variance(reports[cities == "Uji"]).value
    with pytest.raises(InvalidParameter, match="an estimate"):
        dt.estimate(reports, by=cities, quantity=len)


def test_labels_may_be_missing_or_of_any_plain_type():
    reports, _ = sample()
    labels = ([float("nan"), None, 1, "1"] * 225)[:900]
    groups = dt.estimate(reports, by=labels)
    assert list(groups.estimates) == [1, "1", None]
    assert groups[None].n == 450
    assert groups.estimates[1].n == groups["1"].n == 225


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_reports():
    reports, cities = sample(9000)
    labels = [cities.tolist()]

    def peak(chunks):
        counts = GroupCounts(AGE, ["city"])
        tracemalloc.start()
        for _ in range(chunks):
            counts.add(labels, reports)
        assert sum(summary.n for _, summary in counts.summaries()) == chunks * 9000
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(20) < 1.3 * peak(4)


def test_bad_input_is_refused_in_words(monkeypatch):
    reports, cities = sample(300)
    with pytest.raises(InvalidParameter, match="300 reports and 299 labels"):
        dt.estimate(reports, by=cities[:299])
    with pytest.raises(InvalidParameter, match="has lost their order"):
        dt.estimate(dt.Counts.of(reports), by=cities)
    with pytest.raises(InvalidParameter, match="a label for each report"):
        dt.estimate(reports, by="city")
    with pytest.raises(InvalidParameter, match="text, a number"):
        dt.estimate(reports, by=[[]] * 300)
    for minimum in (1, 2.5, True):
        with pytest.raises(InvalidParameter, match="integer from 2"):
            dt.estimate(reports, by=cities, minimum=minimum)
    with pytest.raises(InvalidParameter, match=r"no group 'Nar'.*mean Nara"):
        dt.estimate(reports, by=cities, minimum=50)["Nar"]
    monkeypatch.setattr("dither.estimation.groups.MOST_GROUPS", 10)
    with pytest.raises(InvalidParameter, match="coarser labels"):
        dt.estimate(reports, by=range(300))
    assert MOST_GROUPS == 100_000


def test_correlated_reports_have_no_groups():
    joint = dt.JRR(dt.Categories(2), p=0.8, rho=-0.25, n=2)
    with pytest.raises(InvalidParameter, match="independent between people"):
        GroupCounts(joint, ["city"])


def test_a_private_group_says_what_n_is():
    reports, _ = sample()
    pets, _ = sample(mechanism=PET)
    groups = dt.estimate(reports, by=pets, minimum=2)
    assert "n counts all people, because who is in a group is private" in groups.title
    assert "(95 %, n = 900 in all groups)" in repr(groups["cat"])
    shares = dt.estimate(pets, by=sample(mechanism=PET, seed=4)[0], minimum=2)
    assert "n = 900 in all groups" in repr(shares["dog"])


def test_means_of_all_questions():
    both = dt.Each(age=AGE, pet=PET, pay=AGE)
    people = {"age": [20, 40] * 300, "pet": ["cat", "dog"] * 300, "pay": [50, 70] * 300}
    records = both.perturb(people, source=dt.Seeded(1))
    found = dt.mean(records)
    assert found.title == "means of 2 questions, 95 % intervals; no mean of pet"
    assert [row["question"] for row in found] == ["age", "pay"]
    assert found["age"].value == dt.mean(records["age"]).value
    gap = found["pay"] - found["age"]
    assert gap.n == 600  # the same people
    assert found.plot(title="survey").get_title().startswith("survey")
    weights = np.arange(1, 601)
    weighted = dt.mean(records, weights=weights)["age"]
    assert weighted.value == dt.mean(records["age"], weights=weights).value
    with pytest.raises(NotIdentifiable, match=r"a question with a mean, got none \(pet\)"):
        dt.mean({"pet": records["pet"]})
    with pytest.raises(
        InvalidParameter, match="expected reports of one question, got those of age, pet, pay"
    ):
        dt.estimate(records)
    with pytest.raises(InvalidParameter, match="one weight for each of 600 reports, got"):
        dt.mean(records, weights=[1.0])
