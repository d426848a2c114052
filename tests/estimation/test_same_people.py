"""Estimates of the same people are not independent, by however many calls they were made."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter

ASKED = dt.KRR(dt.Categories(["yes", "no", "unsure"]), epsilon=3)
ANSWERS = ["yes"] * 450 + ["no"] * 400 + ["unsure"] * 150
NUMBER = dt.Podium(dt.Interval(0, 1), epsilon=4)


def told(seed: int = 1) -> dt.Reports:
    return ASKED.perturb(ANSWERS, source=dt.Seeded(seed))


def test_two_answers_by_two_calls_are_the_score_of_their_difference():
    reports = told()
    by_calls = dt.frequencies(reports)["yes"] - dt.frequencies(reports)["no"]
    score = dt.frequencies(reports).score({"yes": 1, "no": -1})
    assert by_calls.value == pytest.approx(score.value)
    assert by_calls.standard_error == pytest.approx(score.standard_error, rel=1e-2)
    assert by_calls.n == 1000
    one = dt.frequencies(reports)
    assert (one["yes"] - one["no"]).standard_error == pytest.approx(by_calls.standard_error)


def test_two_calls_without_the_reports_are_refused():
    counts = dt.Counts.of(told())
    with pytest.raises(InvalidParameter, match="same people"):
        dt.frequencies(counts)["yes"] - dt.frequencies(counts)["no"]
    numbers = NUMBER.perturb(np.linspace(0, 1, 500), source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match="same people"):
        dt.quantile(numbers, 0.9) - dt.quantile(numbers, 0.5)


def test_before_and_after_of_the_same_people_are_a_paired_difference():
    both = dt.Each(before=NUMBER, after=NUMBER)
    errors, misses, runs = [], 0, 60
    random = np.random.default_rng(3)
    for run in range(runs):
        before = random.beta(0.5, 0.5, 400)
        after = np.clip(before + 0.05, 0, 1)
        records = both.perturb({"before": before, "after": after}, source=dt.Seeded(run))
        change = dt.mean(records["after"]) - dt.mean(records["before"])
        misses += not change.covers(0.05 - float(np.maximum(before - 0.95, 0).mean()))
        errors.append(change.standard_error)
        apart = np.hypot(*(dt.mean(records[name]).standard_error for name in both.parts))
        assert change.standard_error < 0.85 * apart
        assert change.n == 400
        assert change.guarantee.epsilon == pytest.approx(8.0)
    assert misses <= 9  # of 60 at 5 %: more has a chance of 0.1 %


def test_slices_keep_who_they_are():
    numbers = NUMBER.perturb(np.tile([0.1, 0.6, 0.7, 0.2], 250), source=dt.Seeded(1))
    whole, half = dt.mean(numbers), dt.mean(numbers[:500])
    others = dt.mean(numbers[500:])
    assert (half - others).n == 1000
    assert (half - others).standard_error == pytest.approx(
        np.hypot(half.standard_error, others.standard_error)
    )
    # half − whole = (half − others)/2
    assert (half - whole).standard_error == pytest.approx((half - others).standard_error / 2, rel=1e-2)
    assert (half - whole).n == 1000
    chosen = numbers[np.arange(1000) % 2 == 0]
    assert (dt.mean(chosen) - dt.mean(numbers[np.arange(0, 1000, 2)])).standard_error == pytest.approx(0.0)
    groups = dt.estimate(numbers, by=["a", "b"] * 500)
    assert (groups["a"] - groups["b"]).n == 1000
    with pytest.raises(InvalidParameter, match="same people"):
        groups["a"] - whole


def test_ratios_of_the_same_people_know_it():
    reports = told()
    ratio = dt.frequencies(reports)["yes"] / dt.frequencies(reports).sum(["yes", "no"])
    apart = dt.frequencies(reports)["yes"] / dt.frequencies(told(2)).sum(["yes", "no"])
    assert ratio.standard_error < 0.92 * apart.standard_error
    # The ratio keeps it: once more the same people, of whom it is no new information.
    assert (ratio - ratio * 1.0).standard_error == pytest.approx(0.0, abs=1e-9)


def test_one_part_counts_once_in_a_combination(tmp_path: Path):
    reports = told()
    with pytest.raises(InvalidParameter, match="same reports"):
        dt.stats.combine([reports, reports])
    with pytest.raises(InvalidParameter, match="same reports"):
        dt.stats.combine([dt.frequencies(reports), dt.Counts.of(reports)])
    assert dt.stats.combine([reports, told(2)]).n == 2000
    back = [dt.from_bytes(reports.to_bytes()) for _ in range(2)]
    with pytest.raises(InvalidParameter, match="same reports"):
        dt.stats.combine(back)


def test_a_file_is_known_by_its_content_unless_it_holds_next_to_nothing(tmp_path: Path):
    source, first, few = tmp_path / "in.csv", tmp_path / "a.csv", tmp_path / "few.csv"
    source.write_text("answer\n" + "\n".join(ANSWERS) + "\n")
    dt.data.perturb_file(source, first, {"answer": ASKED})
    copy = tmp_path / "copy.csv"
    copy.write_bytes(first.read_bytes())
    one, two = dt.data.read(first)["answer"], dt.data.read(copy)["answer"]
    assert (dt.frequencies(one)["yes"] - dt.frequencies(two)["yes"]).standard_error == pytest.approx(0.0)
    with pytest.raises(InvalidParameter, match="counted twice"):
        dt.data.read(first, copy)
    source.write_text("answer\n" + "yes\n" * 5)
    dt.data.perturb_file(source, few, {"answer": ASKED.at(30)})
    twin = tmp_path / "twin.csv"
    twin.write_bytes(few.read_bytes())
    assert len(dt.data.read(few, twin)["answer"]) == 10  # five people who say yes are no others' copy
    assert dt.stats.combine([dt.data.read(few)["answer"], dt.data.read(twin)["answer"]]).n == 10


def test_who_they_are_is_never_sent_and_no_part_of_equality():
    reports = told()
    assert reports.people
    token = reports.people[0].token
    assert reports == ASKED.reports(reports.cells.copy())
    assert token not in reports.to_bytes()
    assert token.hex() not in repr(reports)
    assert dt.Counts.of(reports) == dt.Counts.of(ASKED.reports(reports.cells.copy()))
    assert reports.to_bytes() == ASKED.reports(reports.cells.copy()).to_bytes()
    small = [ASKED.reports([0, 1, 1]) for _ in range(2)]  # equal cells of different people
    assert dt.stats.combine(small, weights=[1, 1]).n == 6
    again = pickle.loads(pickle.dumps(reports))
    assert (dt.frequencies(again)["yes"] - dt.frequencies(reports)["yes"]).n == 1000


def test_waves_in_long_form_are_paired():
    """Rows of one id are one person's: before, the waves were taken for different people."""
    rng = np.random.default_rng(1)
    base, order = rng.beta(0.5, 0.5, 2000), rng.permutation(4000)
    ids, wave = order % 2000, np.where(order < 2000, "before", "after")
    asked = dt.Podium(dt.Interval(0, 1), epsilon=6)
    told = asked.perturb(0.9 * base[ids] + 0.1 * (order >= 2000), source=dt.Seeded(1))
    waves = dt.estimate(told, by={"wave": wave}, person=ids)
    gap = dt.stats.difference(waves)
    assert gap.title.endswith("; who is in both is paired")
    alone = dt.stats.difference(dt.estimate(told, by={"wave": wave}))["after", "before"]
    paired = gap["after", "before"]
    assert (paired.n, alone.n, float(paired)) == (2000, 4000, float(alone))
    assert paired.half_width() < 0.7 * alone.half_width()
    assert paired.covers(0.1, 1 - 1e-6)
    by_rows = {
        name: told[np.flatnonzero(wave == name)[np.argsort(ids[wave == name])]]
        for name in ("before", "after")
    }
    same = (asked.reports(by_rows[name].cells) for name in by_rows)
    before, after = (dt.mean(part) for part in same)
    moved = after.moved_by - before.moved_by  # the paired t-test of the decoded numbers
    assert paired.standard_error == pytest.approx(moved.std(ddof=1) / np.sqrt(2000), rel=0.02)
    heavy = dt.estimate(told, by={"wave": wave}, person=ids, weights=np.ones(4000))
    assert dt.stats.difference(heavy)["after", "before"].half_width() < 0.7 * alone.half_width()
    for wrong, words in (
        (lambda: dt.stats.equal_groups(waves), "some people are in several groups"),
        (
            lambda: dt.estimate(told, by={"wave": ["both"] * 4000}, person=ids),
            "group both has 2000 further rows",
        ),
        (lambda: dt.estimate(told, by=wave, person=ids[1:]), "4000 ids of persons"),
        (lambda: dt.estimate(told, by=wave, person=[None, *ids[1:]]), "got none in row 1"),
        (lambda: dt.estimate(told, by=wave, person="id"), "a public id for each report"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            wrong()


def test_a_test_of_different_people_refuses_the_same_ones():
    both = dt.Each(a=dt.KRR(dt.Categories(2), epsilon=2), b=dt.KRR(dt.Categories(2), epsilon=2))
    told = both.perturb({"a": [0, 1] * 100, "b": [0, 1] * 100}, source=dt.Seeded(1))
    with pytest.raises(InvalidParameter, match="some people are in both"):
        dt.stats.same_distribution(told["a"], told["b"])


def _answered(size: int = 300) -> dict[str, dt.Reports]:
    rng = np.random.default_rng(5)
    pet, home = rng.integers(0, 2, size), rng.integers(0, 3, size)
    pair = dt.Each(
        number=dt.SW(dt.Interval(0, 1), epsilon=4),
        other=NUMBER,
        pet=dt.KRR(dt.Categories(2), epsilon=4),
        home=dt.KRR(dt.Categories(3), epsilon=4),
    )
    value = rng.beta(2, 5, size)
    values = {"number": value, "other": value, "pet": pet, "home": home}
    return dict(pair.perturb(values, source=dt.Seeded(1)))


def _results() -> dict[str, tuple[dt.Reports, object]]:
    """Return reports with a function for one estimate from them, which other results compute."""
    shown = _answered()
    number, pet = shown["number"], shown["pet"]
    sets = dt.SetResponse(dt.Several(20, most=3), epsilon=1, pairs=True)
    items = sets.perturb([[0, 1], [0], [2]] * 100, source=dt.Seeded(1))
    steps = dt.optimal.Cumulative(dt.Interval(0, 1), epsilon=2, cells=4)
    below = steps.perturb(np.linspace(0, 1, 200), source=dt.Seeded(1))
    fields = dt.Marginals({"a": dt.Categories(2), "b": dt.Categories(3)}, epsilon=2)
    pairs = fields.perturb({"a": [0, 1] * 150, "b": [0, 1, 2] * 100}, source=dt.Seeded(1))
    maybe = dt.KRR(dt.Nullable(dt.Categories(["a", "b"])), epsilon=4)
    optional = maybe.perturb(["a", "b", None] * 100, source=dt.Seeded(1))
    column = np.linspace(0, 1, 300)
    return {
        "cdf": (number, lambda r: dt.distribution(r).cdf(0.3)),
        "tail": (number, lambda r: dt.distribution(r).tail(0.3)),
        "share": (number, lambda r: dt.distribution(r, method="as reported").share(0.1, 0.3)),
        "quantile": (number, lambda r: dt.distribution(r).quantile(0.3)),
        "mode": (number, lambda r: dt.distribution(r).mode()),
        "table": (pet, lambda r: dt.stats.crosstab(r, shown["home"])[0, 1]),
        "row": (pet, lambda r: dt.stats.crosstab(r, shown["home"]).within_rows()[0, 1]),
        "private": (pet, lambda r: dt.estimate(r, by=shown["home"])[1][0]),
        "covariance": (number, lambda r: dt.stats.covariance(r, shown["other"])),
        "correlation": (number, lambda r: dt.stats.correlation(r, shown["other"])),
        "slope": (number, lambda r: dt.stats.regression(r, shown["other"]).slope),
        "prediction": (number, lambda r: dt.stats.regression(r, shown["other"]).at(0.5)),
        "R²": (number, lambda r: dt.stats.regression(r, shown["other"]).r_squared),
        "log-odds": (pet, lambda r: dt.stats.regression(column, r).slope),
        "chance": (pet, lambda r: dt.stats.regression(column, r).at(0.5)),
        "odds": (pet, lambda r: dt.stats.regression({"x": column}, r).odds("x")),
        "size": (items, lambda r: dt.frequencies(r).sizes[1]),
        "both": (items, lambda r: dt.stats.joint_frequency(r, 0, 1)),
        "cumulative": (below, lambda r: dt.cumulative(r).cdf(0.4)),
        "marginals": (pairs, lambda r: dt.stats.tables(r)["a", "b"][0, 1]),
        "margin": (pairs, lambda r: dt.stats.tables(r)["a", "b"].within_columns()[0, 1]),
        "family": (number, lambda r: dt.stats.fit_family(r, "beta").parameters["alpha"]),
        "answered": (optional, lambda r: dt.frequencies(r).of_answered()["a"]),
        "rate": (optional, dt.stats.response_rate),
    }


def test_an_estimate_of_every_result_knows_the_people():
    """Two of them are refused, or their difference counts each person once; never taken as independent."""
    wrong = []
    for name, (reports, estimate) in _results().items():
        twice = [estimate(reports) for _ in range(2)]  # type: ignore[operator]
        try:
            gap = twice[0] - twice[1]
        except InvalidParameter as error:
            fits = "same people" in str(error)
        else:
            fits = gap.n == len(reports) and gap.standard_error < 1e-6
        if not (fits and twice[0].people):
            wrong.append(name)
    assert wrong == []


def test_rows_of_one_person_widen_the_interval_of_all_rows():
    """Intervals that take two equal answers of a person as independent held in 81 % of 300 runs."""
    rng, asked = np.random.default_rng(1), dt.Podium(dt.Interval(0, 1), epsilon=8)
    values, ids = rng.beta(0.5, 0.5, 1000), np.tile(np.arange(1000), 2)
    told = asked.perturb(np.tile(values, 2), source=dt.Seeded(1))
    plain, known = dt.mean(told), dt.estimate(told, person=ids)
    assert (known.n, float(known)) == (2000, float(plain))
    moved = plain.moved_by
    assert moved is not None
    person = moved[:1000] + moved[1000:]  # the error of the average of 1000 people
    assert known.standard_error == pytest.approx(person.std() / 2 / np.sqrt(1000), rel=0.01)
    assert known.half_width() == pytest.approx(
        float(plain.half_width()) * float(known.standard_error) / float(plain.standard_error)
    )
    assert str(known).endswith("(95 %, n = 2 000, of 1 000 people)")
    choice = dt.KRR(dt.Categories(["a", "b"]), epsilon=8)
    both = choice.perturb(np.tile(np.where(values > 0.5, "a", "b"), 2), source=dt.Seeded(1))
    shares = dt.estimate(both, person=ids)
    assert shares["a"].standard_error > 1.3 * dt.frequencies(both)["a"].standard_error
    heavy = dt.estimate(told, person=ids, weights=np.ones(2000))
    assert heavy.standard_error == pytest.approx(known.standard_error, rel=0.01)
    for wrong, words in (
        (lambda: dt.estimate(dt.Counts.of(told), person=ids), "one id each"),
        (lambda: dt.estimate(told, person=ids[1:]), "expected 2000 ids of persons"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            wrong()


def test_a_file_with_several_rows_of_a_person_does_not_compare_waves_without_their_ids(tmp_path: Path):
    lines = [f"{wave},{person},{answer}" for wave in "ab" for person, answer in enumerate(ANSWERS)]
    (tmp_path / "in.csv").write_text("wave,id,answer\n" + "\n".join(lines) + "\n")
    out, keep = tmp_path / "out.csv", ["wave", "id"]
    dt.data.perturb_file(tmp_path / "in.csv", out, {"answer": ASKED}, keep=keep, person="id", rows=2)
    waves = dt.data.read(out)
    answers, wave = waves["answer"], waves.labels("wave", "answer")
    assert ", if its rows are of different people)" in repr(dt.frequencies(answers))
    groups = dt.estimate(answers, by=wave)
    with pytest.raises(InvalidParameter, match="expected the ids of people"):
        dt.stats.difference(groups)
    known = dt.estimate(answers, by=wave, person=waves.labels("id", "answer"))
    assert dt.stats.difference(known)["a", "b", "yes"].n == 1000


def test_reports_are_not_added_to_themselves(tmp_path: Path):
    reports = told()
    for wrong in (
        lambda: dt.Counts.of(reports) + dt.Counts.of(reports[:10]),
        lambda: dt.Reports.concatenate([reports[:20], reports[10:]]),
    ):
        with pytest.raises(InvalidParameter, match="twice"):
            wrong()
    halves = dt.Counts.of(reports[:500]) + dt.Counts.of(reports[500:])
    assert halves == dt.Counts.of(reports)
    file = tmp_path / "out.csv"
    (tmp_path / "in.csv").write_text("answer\nyes\nno\n")
    dt.data.perturb_file(tmp_path / "in.csv", file, {"answer": ASKED})
    for count in (dt.data.summarise_file, lambda *files: dt.data.group_files(files, ["city"])):
        with pytest.raises(InvalidParameter, match="named twice"):
            count(file, tmp_path / "." / "out.csv")


def test_two_readings_of_a_frame_are_of_the_same_people():
    pandas = pytest.importorskip("pandas")
    frame = dt.data.perturb(pandas.DataFrame({"answer": ANSWERS}), {"answer": ASKED})
    first, second = (dt.frequencies(dt.data.reports(frame.copy())["answer"]) for _ in range(2))
    assert (first["yes"] - second["no"]).n == 1000


def test_two_calls_with_counts_from_bytes_are_of_the_same_people():
    counts = dt.Counts.from_bytes(dt.Counts.of(told()).to_bytes(), ASKED)
    with pytest.raises(InvalidParameter, match="same people"):
        dt.frequencies(counts)["yes"] - dt.frequencies(counts)["no"]


def test_days_that_share_reports_are_not_taken_as_independent():
    year = dt.Once(dt.KRR(dt.Categories(["yes", "no"]), epsilon=1), days=20)
    reports = year.perturb([["no"] * 10 + ["yes"] * 10] * 800, source=dt.Seeded(1))
    days = dt.by_day(reports, smoothing="auto")
    first, second = days[3], days[4]
    assert first is not None
    assert second is not None
    with pytest.raises(InvalidParameter, match="same people"):
        first["yes"] - second["yes"]


def test_groups_of_several_questions_name_them():
    records = dt.Each(a=NUMBER, b=NUMBER).perturb({"a": [0.1, 0.2], "b": [0.1, 0.2]}, source=dt.Seeded(1))
    for wrong in ({"by": ["x", "y"]}, {"person": [1, 2]}):
        with pytest.raises(InvalidParameter, match="got those of a, b"):
            dt.estimate(records, **wrong)  # type: ignore[call-overload]
