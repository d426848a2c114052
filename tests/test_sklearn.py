"""The scikit-learn transformer obeys scikit-learn's contract."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import dither as dt

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from dither.errors import InvalidParameter, OutsideDomain
from dither.privacy import Nothing
from dither.sklearn import NaiveBayes, NearestCentroid, Perturb
from tests.support.repository import DATA, ROOT

# These expect that two fits, or two calls, give the same: fresh noise at every call differs.
REPEATING = ("check_estimators_pickle", "check_fit_idempotent", "check_supervised_y_2d")
TWICE = (
    *("check_fit_idempotent", "check_supervised_y_2d"),
    *("check_classifier_data_not_an_array", "check_estimators_data_not_an_array"),
)


@parametrize_with_checks(
    [Perturb(), Perturb(dt.OGPM(dt.Interval(-5, 5), epsilon=2)), NearestCentroid(epsilon=4)],
    expected_failed_checks=lambda made: dict.fromkeys(
        REPEATING if isinstance(made, Perturb) else TWICE, "fresh noise at every call"
    ),
    xfail_strict=False,  # predictions of two fits may be the same by chance
)
@pytest.mark.some(every=3)
def test_estimator_checks(estimator, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def test_it_randomises_and_says_what_it_spends() -> None:
    table = np.random.default_rng(1).random((2000, 3))
    fitted = Perturb(epsilon=2.0).fit(table)
    out = fitted.transform(table)
    assert out.shape == table.shape
    assert not np.array_equal(out, fitted.transform(table))
    assert fitted.guarantee_.epsilon == pytest.approx(6.0)
    assert np.abs(out.mean(axis=0) - table.mean(axis=0)).max() < 0.1


def test_a_pickle_keeps_the_mechanism_and_the_promise() -> None:
    table = np.random.default_rng(1).random((20, 2))
    fitted = Perturb(epsilon=2.0).fit(table)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.mechanism_ == fitted.mechanism_
    assert again.guarantee_ == fitted.guarantee_
    assert not np.array_equal(again.transform(table), fitted.transform(table))


def test_it_stands_in_a_pipeline() -> None:
    rng = np.random.default_rng(2)
    table = rng.random((4000, 2))
    model = make_pipeline(Perturb(epsilon=8.0), LinearRegression()).fit(table, table @ [1.0, 2.0])
    assert model.score(table, table @ [1.0, 2.0]) > 0.9


def test_a_mechanism_on_something_else_is_refused() -> None:
    with pytest.raises(dt.errors.InvalidParameter):
        Perturb(dt.OUE(dt.Categories(3), epsilon=1)).fit([[0.5]])


def test_nobody_else_seeds_the_noise() -> None:
    """Ensembles set every parameter called random_state; there is none, and copies keep the promise."""
    assert "random_state" not in Perturb().get_params()
    table = np.random.default_rng(3).random((60, 2))
    labels = table[:, 0] > 0.5
    model = make_pipeline(Perturb(epsilon=1.0), LogisticRegression())
    bag = BaggingClassifier(model, n_estimators=4, random_state=0).fit(table, labels)
    steps = [one[0] for one in bag.estimators_]
    for step in steps:
        assert step.get_params()["source"] is None
        assert step.guarantee_.epsilon == pytest.approx(2.0)
        assert not np.array_equal(step.transform(table), step.transform(table))
    drawn = [step.transform(table).tobytes() for step in steps]
    again = BaggingClassifier(model, n_estimators=4, random_state=0).fit(table, labels)
    drawn += [one[0].transform(table).tobytes() for one in again.estimators_]
    assert len(set(drawn)) == 8


def test_a_seed_takes_the_promise_away() -> None:
    table = np.random.default_rng(4).random((50, 2))
    once = Perturb(source=dt.Seeded(7)).fit(table)
    assert isinstance(once.guarantee_.bound, Nothing)
    assert "seed" in str(once.guarantee_)
    assert np.array_equal(once.transform(table), Perturb(source=dt.Seeded(7)).fit(table).transform(table))
    keyed = Perturb(source=dt.randomness.Keyed(bytes(32), b"table")).fit(table)
    assert keyed.guarantee_.epsilon == pytest.approx(2.0)
    once.set_params(source=None)  # what is fitted keeps the source that its guarantee is about
    assert isinstance(once.guarantee_.bound, Nothing)
    assert np.array_equal(
        Perturb(source=dt.Seeded(9)).fit(table).transform(table),
        Perturb(source=dt.Seeded(9)).fit(table).set_params(source=None).transform(table),
    )
    for wrong in (0, 7, "Seeded", np.random.RandomState(0)):
        with pytest.raises(dt.errors.InvalidParameter, match="source"):
            Perturb(source=wrong).fit(table)  # type: ignore[arg-type]


def test_clones_share_the_source_and_its_guarantee() -> None:
    """A copied seed would repeat its noise in every clone."""
    table = np.random.default_rng(5).random((60, 2))
    seeded = Perturb(source=dt.Seeded(7))
    first, second = (clone(seeded).fit(table) for _ in range(2))
    assert not np.array_equal(first.transform(table), second.transform(table))
    for source in (None, dt.Seeded(1)):
        model = Pipeline([("noise", Perturb(source=source)), ("line", LinearRegression())])
        search = GridSearchCV(model, {"noise__epsilon": [1.0, 8.0]}, cv=2).fit(table, table[:, 0])
        best = search.best_estimator_["noise"]
        assert best.source is source
        assert isinstance(best.guarantee_.bound, Nothing) == (source is not None)


HOURS, TEAM = dt.Interval(0, 10), dt.Categories(["red", "green", "blue"])


def test_perturb_takes_one_mechanism_for_each_column() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"hours": [1.0, 12.0, 3.0] * 200, "team": ["red", "blue", "blue"] * 200})
    frame.index = frame.index + 7
    asked = dt.Each(hours=dt.SW(HOURS, epsilon=8), team=dt.KRR(TEAM, epsilon=8))
    fitted = Perturb(asked).fit(frame)
    out = fitted.transform(frame)
    assert list(out.columns) == list(fitted.get_feature_names_out()) == ["hours", "team"]
    assert (out.index == frame.index).all()
    assert (out["team"] == frame["team"]).mean() > 0.95
    assert fitted.guarantee_.epsilon == pytest.approx(16.0)
    rows = fitted.transform(frame.to_numpy(dtype=object))
    assert rows.shape == (600, 2)
    assert set(rows[:, 1]) <= set(TEAM.labels)
    assert clone(fitted).fit(frame).transform(frame).shape == (600, 2)
    with pytest.raises(dt.errors.InvalidParameter, match="columns hours, team, in this order"):
        Perturb(asked).fit(frame[["team", "hours"]])
    with pytest.raises(dt.errors.InvalidParameter, match="use KRR"):
        Perturb(dt.Each(hours=dt.SW(HOURS, epsilon=1), team=dt.OUE(TEAM, epsilon=1))).fit(frame)


def test_perturb_takes_categories() -> None:
    teams = np.array([["red", "blue"], ["green", "red"]] * 300)
    fitted = Perturb(dt.KRR(TEAM, epsilon=6)).fit(teams)
    assert (fitted.transform(teams) == teams).mean() > 0.95
    with pytest.raises(dt.errors.InvalidParameter):
        Perturb(dt.OUE(TEAM, epsilon=6)).fit(teams)


def _people(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(4)
    label = rng.random(n) < 0.4
    hours = np.clip(rng.normal(np.where(label, 6.5, 4.0), 1.5), 0, 10)
    team = np.where(rng.random(n) < np.where(label, 0.7, 0.2), "red", "blue")
    noise = rng.random(n) * 10
    return {"hours": hours, "team": team, "idle": noise}, np.where(label, "yes", "no")


QUESTIONS = {
    "hours": dt.Podium(HOURS, epsilon=4),
    "team": dt.KRR(TEAM, epsilon=4),
    "idle": dt.Podium(HOURS, epsilon=4),
}


@pytest.mark.parametrize("kind", [dt.Each, dt.Sampled])
@pytest.mark.parametrize("private", [False, True])
def test_naive_bayes_is_trained_on_reports(kind: type, private: bool) -> None:
    values, labels = _people(12_000)
    records = kind(**QUESTIONS).perturb(values, source=dt.Seeded(3))
    answer = dt.KRR(dt.Categories(["no", "yes"]), epsilon=3)
    given = answer.perturb(labels, source=dt.Seeded(4)) if private else labels
    model = NaiveBayes().fit(records, given)
    tested, truth = _people(3_000)
    assert model.score(tested, truth) > 0.8  # the best possible is 0.84
    assert model.score(np.array(list(tested.values()), dtype=object).T, truth) > 0.8
    chances = model.predict_proba(tested)
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(tested)).all()
    assert list(model.feature_names_in_) == list(QUESTIONS)
    spent = model.guarantee_.epsilon
    assert spent == pytest.approx((12 if kind is dt.Each else 4) + 3 * private, rel=1e-6)
    row = next(row for row in model.coefficients_ if row["feature"] == "hours" and row["class"] == "yes")
    mean = values["hours"][labels == "yes"].mean()
    assert row["low"] - 0.3 < mean < row["high"] + 0.3
    assert row["high"] - row["low"] < 1.5
    assert clone(model).get_params() == {"priors": None}
    assert pickle.loads(pickle.dumps(model)).predict(tested).shape == (3_000,)


def test_naive_bayes_beats_training_on_decoded_values() -> None:
    values, labels = _people(8_000)
    numbers = {"hours": values["hours"], "idle": values["idle"]}
    records = dt.Each(**{name: dt.Podium(HOURS, epsilon=0.5) for name in numbers}).perturb(
        numbers, source=dt.Seeded(9)
    )
    tested, truth = _people(4_000)
    table = np.column_stack([tested[name] for name in numbers])
    decoded = np.column_stack([reports.question.decode(reports.cells) for reports in records.values()])
    plain = LogisticRegression().fit(decoded, labels)
    model = NaiveBayes().fit(records, labels)
    assert model.score(table, truth) > plain.score(table, truth) + 0.05


def test_naive_bayes_says_what_it_needs() -> None:
    values, labels = _people(300)
    records = dt.Each(**QUESTIONS).perturb(values)
    for wrong, says in (
        (labels[:-1], "one label for each of 300"),
        (np.full(300, "yes"), "two classes"),
        (dt.KRR(TEAM, epsilon=1).perturb(["red"]), "for each of 300 people, got 1"),
    ):
        with pytest.raises(dt.errors.InvalidParameter, match=says):
            NaiveBayes().fit(records, wrong)
    with pytest.raises(dt.errors.InvalidParameter, match=r"dt\.Each or dt\.Sampled"):
        NaiveBayes().fit(np.ones((3, 2)), [0, 1, 0])  # type: ignore[arg-type]
    model = NaiveBayes(priors=[0.5, 0.5]).fit(records, labels)
    assert model.class_prior_.tolist() == [0.5, 0.5]
    with pytest.raises(dt.errors.InvalidParameter, match="expected the column 'team' of the fitted model"):
        model.predict({"hours": [1.0]})
    with pytest.raises(dt.errors.InvalidParameter, match="in the column 'team'; correct the other values"):
        model.predict({"hours": [1.0], "team": ["pink"], "idle": [1.0]})
    with pytest.raises(dt.errors.InvalidParameter, match="missing"):
        model.predict({"hours": [np.nan], "team": ["red"], "idle": [1.0]})
    with pytest.raises(dt.errors.InvalidParameter, match="priors"):
        NaiveBayes(priors=[1.0]).fit(records, labels)
    with pytest.raises(Exception, match="not fitted"):
        NaiveBayes().predict(values)


def test_naive_bayes_obeys_the_checks_that_need_no_table() -> None:
    """Most checks of scikit-learn fit a plain table, which is refused: reports are expected."""
    found = check_estimator(NaiveBayes(), on_fail=None, on_skip=None)
    passed = {check["check_name"] for check in found if check["status"] == "passed"}
    expected = (
        *("check_estimator_cloneable", "check_estimator_tags_renamed", "check_valid_tag_types"),
        *("check_estimator_repr", "check_no_attributes_set_in_init", "check_estimators_unfitted"),
        *("check_do_not_raise_errors_in_init_or_set_params", "check_mixin_order", "check_set_params"),
        *("check_parameters_default_constructible", "check_get_params_invariance"),
    )
    assert passed >= set(expected)
    refused = [check["exception"] for check in found if check["status"] == "failed"]
    assert sum("reports of dt.Each or dt.Sampled" in str(error) for error in refused) > 20


BANK = DATA / "qcu_bank_normalized.csv.gz"


@pytest.mark.slow
@pytest.mark.skipif(not BANK.is_file(), reason="needs the papers' data: DITHER_DATA=/folder")
def test_the_table_of_the_page() -> None:
    """Areas under the curve on the bank's table: docs/classifiers.md prints them."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(BANK)
    truth, table = frame["Exited"].astype(int).to_numpy(), frame.drop(columns="Exited").clip(0, 1)
    known = np.random.default_rng(0).random(len(frame)) < 0.8
    values = {name: table[name][known].to_numpy() for name in table}

    def ask(name: str, epsilon: float) -> Any:
        few = sorted(table[name].unique())
        if len(few) <= 11:
            return dt.KRR(dt.Categories(few), epsilon=epsilon)
        return dt.Podium(dt.Interval(0, 1), epsilon=epsilon)

    def area(model: Any) -> float:
        return float(roc_auc_score(truth[~known], model.predict_proba(table[~known])[:, 1]))

    line = LogisticRegression(max_iter=1_000)
    known_values = pandas.DataFrame(values)
    exact = dt.Sampled(**{name: ask(name, 40.0) for name in table}).perturb(values, source=dt.Seeded(1))
    found = {
        "no noise": [area(NaiveBayes().fit(exact, truth[known])), area(line.fit(known_values, truth[known]))]
    }
    for epsilon in (1, 2, 4):
        areas = []
        for seed in range(10):
            records = dt.Sampled(**{name: ask(name, epsilon) for name in table}).perturb(
                values, source=dt.Seeded(seed)
            )
            label = dt.KRR(dt.Categories([0, 1]), epsilon=epsilon)
            private = label.perturb(truth[known], source=dt.Seeded(100 + seed))
            share = epsilon / len(values)
            each = dt.Each(**{name: dt.Podium(dt.Interval(0, 1), epsilon=share) for name in values})
            told = each.perturb(values, source=dt.Seeded(200 + seed))
            decoded = np.column_stack([part.question.decode(part.cells) for part in told.values()])
            plain = line.fit(pandas.DataFrame(decoded, columns=table.columns), truth[known])
            areas.append(
                (
                    area(NaiveBayes().fit(records, truth[known])),
                    area(NaiveBayes().fit(records, private)),
                    area(plain),
                )
            )
        found[f"ε = {epsilon}"] = np.mean(areas, axis=0).tolist()
        print(f"ε = {epsilon}:", *(f"{one:.3f}" for one in found[f"ε = {epsilon}"]))
    print("no noise:", *(f"{one:.3f}" for one in found["no noise"]))
    page = (ROOT / "docs/classifiers.md").read_text(encoding="utf-8")
    begin = page.index("| | ε = 1 | ε = 2 | ε = 4 | no noise |")
    head, _, *rows = [line.split("|")[1:-1] for line in page[begin:].split("\n\n")[0].splitlines()]
    printed = {
        cell.strip(): [float(row[at]) for row in rows if row[at].strip()]
        for at, cell in enumerate(head)
        if at
    }
    assert printed.keys() == found.keys()
    for name, numbers in printed.items():
        assert numbers == pytest.approx(found[name], abs=0.011), name
    assert all(public > attenuated + 0.05 for public, _, attenuated in list(found.values())[1:])


def unit(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_class_means_from_one_report_on_label_and_features() -> None:
    rng = np.random.default_rng(3)
    means = unit(rng.standard_normal((4, 40)))
    codes = rng.integers(4, size=4_000)
    rows = means[codes] + 0.1 * rng.standard_normal((4_000, 40))
    labels = np.array(["d", "a", "c", "b"])  # not in alphabetical order
    model = NearestCentroid(labels.tolist(), epsilon=4, source=dt.Seeded(2))
    reports = model.perturb(rows[:3_000], labels[codes[:3_000]])
    assert reports.question.domain == dt.Vectors(160, exact=True)
    fitted = model.fit(reports)
    assert fitted.score(rows[3_000:], labels[codes[3_000:]]) > 0.95
    assert fitted.guarantee_.epsilon <= 4
    assert np.abs((unit(fitted.centroids_) * means).sum(axis=1)).min() > 0.8
    again = clone(model).fit(rows[:3_000], labels[codes[:3_000]])
    assert again.score(rows[3_000:], labels[codes[3_000:]]) > 0.95
    assert again.classes_.tolist() == labels.tolist()
    zero = NearestCentroid([0, 1], centre=[1.0, 1.0], epsilon=1).perturb([[1.0, 1.0], [2.0, 1.0]], [0, 1])
    assert len(zero) == 2  # a row at the centre has a direction, too
    wrong = dt.Podium(dt.Interval(0, 1), epsilon=1).perturb([0.5])
    for call, error in (
        (lambda: model.perturb(rows[:2], ["a", "x"]), OutsideDomain),
        (lambda: NearestCentroid().perturb(rows[:2], ["a", "b"]), InvalidParameter),
        (lambda: NearestCentroid().fit(reports), InvalidParameter),
        (lambda: model.fit(reports, labels), InvalidParameter),
        (lambda: NearestCentroid(list(range(7))).fit(reports), InvalidParameter),
        (lambda: model.fit(wrong), InvalidParameter),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "least"), [(2.0, 0.85), (4.0, 0.86)])
def test_digits_from_private_labels_and_pixels(epsilon: float, least: float) -> None:
    """100 000 people with one of half of the digits each; the other half is classified (plain: 0.89)."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, digits = load_digits(return_X_y=True)
    train, test, own, other = train_test_split(images, digits, test_size=0.5, random_state=0, stratify=digits)
    people = np.random.default_rng(1).integers(len(train), size=100_000)
    model = NearestCentroid(list(range(10)), epsilon=epsilon, source=dt.Seeded(3))
    assert model.fit(train[people], own[people]).score(test, other) >= least
