"""Every result has a data frame, a picture and a view in notebooks.

The classes are found from the annotations of what public functions return, so that a new one is not missed.
"""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.results import PresenceCounts
from tools import house

# What functions return that is no answer with numbers to draw, and why.
OTHERS = {
    "ChangeReports": "reports",
    "Choice": "a mechanism and its predicted error, one of a list",
    "Chosen": "a mechanism, and why it was chosen",
    "Collection": "a run of a protocol",
    "ColumnFit": "counts of the cells of one column; `dither check` prints them",
    "DatedReports": "reports",
    "Domain": "what may be answered",
    "Explanation": "two texts; it has an HTML view",
    "Group": "a design",
    "GroupCounts": "a counter; its estimates are the result",
    "Joint": "a design",
    "ReadReports": "reports",
    "Records": "reports",
    "RowCounts": "counts of the rows of a file that was written",
    "Tossed": "a run of a protocol",
}
PARTS = {"EstimatedAnswer", "Evidence", "Timing"}  # of other results, or only by methods

PET = dt.Categories(["cat", "dog", "none"])
UNIT = dt.Interval(0, 1)
STEEP = dt.classifiers.LinearClassifier([[10.0, 1.0]], [-6.0])
RECORD = [0.8, 0.5]


@cache
def numbers() -> Any:
    commute = dt.SW(dt.Interval(0, 180, unit="minutes"), epsilon=2, cells=1 << 10)
    return commute.perturb(180 * np.random.default_rng(1).beta(2, 5, 2000), source=dt.Seeded(1))


@cache
def pair() -> Any:
    both = dt.Each(pet=dt.KRR(PET, epsilon=3), home=dt.KRR(dt.Categories(["flat", "house"]), epsilon=3))
    people = {"pet": ["cat", "dog", "dog", "none"] * 300, "home": ["flat", "house"] * 600}
    return both.perturb(people, source=dt.Seeded(2))


@cache
def paths() -> Any:
    city = dt.Rectangle(dt.Interval(0, 4, unit="km"), dt.Interval(0, 3, unit="km"))
    drawn = np.random.default_rng(3).uniform([0.0, 0.0], [2.0, 2.0], (150, 2, 2))
    drawn[:, 1] += [2.0, 1.0]
    return dt.TraCSC(city, epsilon=8).perturb(
        [[tuple(p) for p in path] for path in drawn.tolist()], source=dt.Seeded(3)
    )


def days() -> Any:
    smokes = dt.Once(dt.KRR(dt.Categories(["yes", "no"]), epsilon=2), days=5)
    return dt.by_day(smokes.perturb([["no"] * 3 + ["yes"] * 2] * 2000, source=dt.Seeded(3)))


def tables() -> Any:
    profile = dt.Profile({"sex": dt.Categories(["f", "m"]), "age": dt.Categories(["young", "old"])})
    people = {"sex": ["f", "m"] * 500, "age": ["young", "young", "old", "old"] * 250}
    return dt.stats.tables(dt.Marginals(profile, epsilon=2).perturb(people, source=dt.Seeded(4)))


def rows() -> Any:
    survey = dt.Marginals(
        {"sex": dt.Categories(["f", "m"]), "age": dt.Categories(["young", "old"])}, epsilon=4
    )
    people = {"sex": ["f", "m"] * 500, "age": ["young", "old"] * 500}
    return dt.rows(survey.perturb(people, source=dt.Seeded(4)), 20, seed=1)


def joint() -> Any:
    box = dt.Box({"age": dt.Interval(18, 98, unit="years"), "bmi": dt.Interval(15, 45)})
    asked = dt.Optimal(box, epsilon=2, purpose="map")
    drawn = np.random.default_rng(5)
    return dt.maps.joint(
        asked.perturb(
            {"age": drawn.uniform(30, 60, 500), "bmi": drawn.uniform(20, 30, 500)}, source=dt.Seeded(1)
        )
    )


def retention() -> object:
    weeks = [datetime.date(2026, 5, 4) + datetime.timedelta(7 * place) for place in range(8)]
    labels = [day.isoformat() for day in weeks]
    asked = dt.KRR(dt.Categories(labels), epsilon=4)
    reports = [asked.perturb([label] * 400 + [labels[1]] * 200) for label in labels]
    rows = [np.bincount(some.cells, minlength=8) for some in reports]
    return dt.retention(PresenceCounts("week", weeks, [900] * 8, [300] * 8, {"1": [300] * 8}, asked, rows))


def scale() -> Any:
    agrees = dt.optimal.Cumulative(dt.Categories(["no", "rather no", "rather yes", "yes"]), epsilon=2)
    return dt.cumulative(agrees.perturb(["no", "yes", "yes", "rather yes"] * 300, source=dt.Seeded(6)))


@cache
def lines() -> dt.Reports:
    public = [[(0.1, a / 4), (0.9, b / 4)] for a in range(4) for b in range(4)]
    square = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    design = dt.Optimal(dt.Routes(square, points=4), epsilon=4, prior=(public, "a public map"))
    return design.perturb(public * 20, source=dt.Seeded(1))


@cache
def finding(sampled: bool) -> Any:
    if not sampled:
        return dt.audit(dt.Podium(UNIT, epsilon=1))
    asked = dt.KRR(PET, epsilon=1)
    return dt.audit_function(
        lambda values: asked.perturb(values).cells, epsilon=1, domain=PET, samples=4000, seed=1
    )


MAKERS: dict[str, Callable[[], Any]] = {
    "Answer": lambda: dt.central.count([1.0] * 40, epsilon=1, source=dt.Seeded(1)),
    "Bounds": lambda: dt.bounds(numbers()),
    "Comparison": lambda: dt.compare(PET, epsilon=1, goal=dt.goals.Frequencies(n=1000)),
    "Curve": lambda: dt.classifiers.utility_curve(STEEP, RECORD, dt.OGPM(UNIT, epsilon=1), [0.5, 1, 2]),
    "DatasetUtility": lambda: dt.classifiers.over_records(
        STEEP, np.array([RECORD, [0.2, 0.4], [0.6, 0.1]]), dt.OGPM(UNIT, epsilon=2)
    ),
    "DensityMap": lambda: dt.maps.density(paths(), 8, 6),
    "PathDensity": lambda: dt.maps.density(lines(), 4, 4),
    "Differences": lambda: dt.stats.difference(dt.estimate(numbers(), by=np.arange(2000) % 3)),
    "Estimate": lambda: dt.mean(numbers()),
    "EstimatedAnswer": lambda: scale().quantile(0.5),
    "EstimatedCumulative": scale,
    "EstimatedDays": days,
    "EstimatedDistribution": lambda: dt.distribution(numbers()),
    "EstimatedFrequencies": lambda: dt.frequencies(pair()["pet"]),
    "EstimatedQuantiles": lambda: dt.quantile(numbers(), [0.1, 0.5]),
    "EstimatedRegression": lambda: dt.stats.regression({"x": np.arange(2000.0) / 2000}, numbers()),
    "EstimatedTable": lambda: dt.stats.crosstab(pair()["pet"], pair()["home"]),
    "EstimatedTables": tables,
    "Retention": retention,
    "SyntheticRows": rows,
    "Evidence": lambda: finding(True).evidence,
    "Finding": lambda: finding(False),
    "FittedFamily": lambda: dt.stats.fit_family(numbers(), "beta"),
    "Flows": lambda: dt.maps.flows(paths(), 2, 2),
    "GroupedEstimates": lambda: dt.estimate(pair()["pet"], by={"town": ["a", "b"] * 600}),
    "JointDensity": joint,
    "OverTime": lambda: dt.over_time(dt.KRR(dt.Categories(["yes", "no"]), epsilon=1), days=7),
    "Ranking": lambda: dt.classifiers.best_mechanism(
        STEEP, RECORD, [dt.OGPM(UNIT, epsilon=1), dt.Laplace(UNIT, epsilon=1).truncated()], epsilon=2
    ),
    "Recommendation": lambda: dt.recommend(UNIT, dt.goals.Mean(n=1000), epsilon=1),
    "Robustness": lambda: dt.classifiers.radius(STEEP, RECORD, UNIT),
    "Significance": lambda: dt.stats.crosstab(pair()["pet"], pair()["home"]).independence(),
    "SufficientBudget": lambda: dt.classifiers.epsilon_for_utility(
        STEEP, RECORD, dt.OGPM(UNIT, epsilon=1), at_least=0.8, between=(0.5, 8.0), tolerance=0.1
    ),
    "Timing": lambda: finding(True).timing,
    "Utility": lambda: dt.classifiers.utility(STEEP, RECORD, dt.OGPM(UNIT, epsilon=1)),
    "Weights": lambda: dt.stats.rake({"sex": ["f", "m", "m"] * 50}, {"sex": {"f": 0.5, "m": 0.5}}),
}


def returned() -> set[str]:
    """Return the names of the classes of results that public functions say they return."""
    known = set(house.result_classes().values())
    return {
        kind.__name__
        for value in house.public_names().values()
        if inspect.isfunction(value)
        for kind in house.return_types(value) & known
    }


def test_every_class_of_results_is_tried() -> None:
    assert returned() - set(OTHERS) == set(MAKERS) - PARTS
    assert {address.rpartition(".")[2] for address in house.result_classes()} >= PARTS


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.some(every=3)
def test_a_result_has_a_frame_a_picture_and_a_view(name: str) -> None:
    result = MAKERS[name]()
    assert type(result).__name__ == name
    frame = result.to_frame()
    assert frame.size
    view = result._repr_html_()
    assert view.startswith("<")
    assert " at 0x" not in view
    assert "<td>" in view or name == "Weights"
    drawn = result.plot()
    for axes in [drawn] if hasattr(drawn, "get_title") else drawn:
        assert axes.get_title()
        assert axes.get_xlabel() or axes.get_xticklabels()
        assert axes.patches or axes.lines or axes.images or axes.collections


def test_pictures_and_views_name_the_question(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text("town,pet,age\n" + "Rome,cat,40\nNara,dog,52\nRome,dog,30\n" * 100)
    asked = {"pet": dt.KRR(PET, epsilon=3), "age": dt.Podium(dt.Interval(18, 100, unit="years"), epsilon=3)}
    dt.data.perturb_file(table, tmp_path / "out.csv", asked, keep=["town"], source=dt.Seeded(1))
    told = dt.data.read(tmp_path / "out.csv")
    counted = dt.data.summarise_file(tmp_path / "out.csv")
    by_town = dt.estimate(told["age"], by={"town": told.labels("town", "age")})
    grouped = dt.data.group_files([tmp_path / "out.csv"], ["town"])["age"].estimates(dt.mean, minimum=50)
    even = dict.fromkeys(PET.labels, 1 / 3)
    results = {
        "age": [
            *(
                ask(found["age"])
                for ask in (dt.mean, dt.distribution, dt.variance)
                for found in (told, counted)
            ),
            dt.quantile(told["age"], 0.5),
            dt.quantile(told["age"], [0.1, 0.5]),
            dt.estimate(told["age"], by=told["pet"]),
            dt.stats.fit_family(told["age"], "normal"),
            by_town,
            grouped,
            dt.stats.difference(by_town),
            dt.mean(told["age"]).over_looks(3),
        ],
        "pet": [dt.frequencies(told["pet"]), dt.stats.goodness_of_fit(told["pet"], even)],
        "pet: dog": [dt.estimate(counted["pet"])["dog"]],
        "pet × home": [dt.stats.crosstab(pair()["pet"], pair()["home"]).within_rows()],
    }
    for name, found in results.items():
        for result in found:
            assert result.about == name
            assert name in result._repr_html_()
            assert result.plot().get_title().split("\n")[0] == name
    assert dt.mean(told["age"]).plot(title="years").get_title().split("\n")[0] == "years"
    assert told["age"].question.device_text == asked["age"].question.device_text
    assert not dt.mean(numbers()).about


def test_a_mean_between_0_and_1_is_no_share() -> None:
    near = dt.Podium(UNIT, epsilon=2)
    mean = dt.mean(near.perturb([0.5] * 200, source=dt.Seeded(1)))
    assert not mean.plot().xaxis.get_major_formatter()(0.5).endswith("%")
    share = dt.frequencies(pair()["pet"])["dog"]
    assert share.plot().xaxis.get_major_formatter()(0.5).endswith("%")
    every = dt.Once(near, days=2)
    told = dt.by_day(every.perturb([[0.2, 0.4]] * 400, source=dt.Seeded(2)))
    assert told.plot().get_ylabel() == "estimate, 95 % intervals"


def test_what_cannot_be_negative_is_cut_where_it_is_shown_and_nowhere_else() -> None:
    few = dt.Podium(UNIT, epsilon=0.5).perturb([0.02] * 60, source=dt.Seeded(1))
    spread = dt.variance(few)
    assert spread.to_frame()["low"][0] == spread.interval()[0] < 0.0
    assert "‹0" in repr(spread)
    assert "‹0" in spread._repr_html_()
    assert spread.plot().get_xlim()[0] > spread.interval()[0]
    table = dt.stats.crosstab(pair()["pet"], pair()["home"])  # nobody has a cat in a house
    assert table.to_frame()["low"].min() < 0.0
    assert "(‹0 – " in table._repr_html_()
    gone = table["none", "flat"]
    assert gone.interval()[1] < 0.0  # so far out that both ends are beyond
    assert "(‹0 – ‹0)" in repr(gone)
