"""The page and the command that writes it."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import dither as dt
from dither.extensions.classifiers import LinearClassifier
from tests.extensions.classifiers.settings import UNIT, black_box

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
joblib = pytest.importorskip("joblib")

from sklearn.linear_model import LogisticRegression

from tests.support import terminal

STEEP = LinearClassifier([[10.0, 1.0]], [-6.0])
NAMES = ["age", "bmi", "income"]


def pictures(page: str) -> int:
    """How many drawings a page has; each must be well formed."""
    found = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page)
    for picture in found:
        ElementTree.fromstring(b64decode(picture))
    return len(found)


def test_a_page_shows_everything() -> None:
    candidates = {
        "OGPM": dt.OGPM(UNIT, epsilon=1),
        "<Laplace>": dt.Laplace(UNIT, epsilon=1, cells=1 << 12).truncated(),
    }
    page = dt.classifiers.report(STEEP, [0.8, 0.5], candidates, epsilons=[0.5, 1, 2, 4])
    for text in ("OGPM", "&lt;Laplace&gt;", "exact", "feature 1", "randomised on [0, 1]", "ε ≤ 4", "proven"):
        assert text in page
    assert "<Laplace>" not in page
    assert pictures(page) == 2
    assert "Keep it where the record may be" in page
    assert "each side by itself" in page
    assert "radius 0.2273" in page


def test_a_page_does_not_say_that_more_is_always_better() -> None:
    """On a thin slice about the record utility falls before it rises."""

    def comb(rows: np.ndarray) -> Any:
        return (np.abs(rows[:, 0] - 0.5) < 0.004) | (np.abs(rows[:, 0] - 0.5) > 0.1)

    page = dt.classifiers.report(
        comb, [0.5], {"OGPM": dt.OGPM(UNIT, epsilon=1)}, epsilons=[0.5, 2, 6], at_least=0.6, queries=2000
    )
    assert "not at every larger one" in page
    assert "<code>comb</code>" in page


def test_a_page_about_a_black_box_and_one_feature() -> None:
    page = dt.classifiers.report(
        black_box(STEEP),
        {"age": 0.8, "bmi": 0.5},
        {"OGPM": dt.Each(bmi=dt.OGPM(UNIT, epsilon=1))},
        epsilons=[1, 2],
        queries=500,
        source=dt.Seeded(1),
    )
    assert "importance sampling" in page
    assert "as it is" in page
    assert pictures(page) == 1
    with pytest.raises(dt.errors.InvalidParameter):
        dt.classifiers.report(STEEP, [0.8, 0.5], {})
    with pytest.raises(dt.errors.InvalidParameter, match="same features"):
        dt.classifiers.report(
            STEEP,
            [0.8, 0.5],
            {"one": dt.OGPM(UNIT, epsilon=1), "two": dt.Each(a=dt.OGPM(UNIT, epsilon=1))},
        )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    generator = np.random.default_rng(1)
    people = np.stack(
        [generator.uniform(18, 90, 8), generator.uniform(15, 45, 8), generator.uniform(0, 9, 8)], axis=-1
    )
    model = LogisticRegression(max_iter=1000).fit(people, people[:, 0] + people[:, 1] > 80)
    joblib.dump(model, tmp_path / "model.joblib")
    (tmp_path / "module_of_models.py").write_text("def rule(rows):\n    return rows[:, 0] > 50\n")
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in people.tolist())]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Any:
    features = ["--feature", "age", "0", "100", "--feature", "bmi", "10", "60"]
    return terminal.run(
        "classify", *arguments, "people.csv", *features, "--budgets", "6", "-o", "report.html"
    )


@pytest.mark.slow
def test_the_command_takes_categories_of_a_model_that_encodes_text(folder: Path) -> None:
    compose, encoders = pytest.importorskip("sklearn.compose"), pytest.importorskip("sklearn.preprocessing")
    pandas, pipeline = pytest.importorskip("pandas"), pytest.importorskip("sklearn.pipeline")
    random = np.random.default_rng(1)
    table = pandas.DataFrame({"age": random.integers(18, 90, 60), "team": ["red", "blue", "red"] * 20})
    encoded = compose.make_column_transformer((encoders.OneHotEncoder(), ["team"]), remainder="passthrough")
    model = pipeline.make_pipeline(encoded, LogisticRegression(max_iter=1000))
    joblib.dump(model.fit(table, table["team"] == "red"), folder / "text.joblib")
    table.to_csv(folder / "teams.csv", index=False)
    more = ["--budgets", "3", "-o", "teams.html", "--json"]
    team = ["--category", "team", "red,blue"]
    done = terminal.run("classify", "text.joblib", "teams.csv", *team, "--epsilon", "2", *more)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.output)["mechanisms"]["krr"]
    assert answer["method"] == "exact"
    assert answer["lower"] == pytest.approx(np.exp(2) / (np.exp(2) + 1))
    assert "randomised on 2 categories" in (folder / "teams.html").read_text()
    age = ["--feature", "age", "18", "90"]
    done = terminal.run("classify", "text.joblib", "teams.csv", *team, *age, "--queries", "500", *more)
    assert json.loads(done.output)["mechanisms"]["ogpm"]["method"] == "Monte Carlo"
    for wrong, says in (
        (["--category", "team", "red,green"], "labels it was trained with"),
        ([], "--category NAME A,B"),
        ([*team, "--feature", "team", "0", "1"], "each feature once"),
        (["--feature", "team", "0", "1"], "not a number; give categories"),
    ):
        done = terminal.run("classify", "text.joblib", "teams.csv", *wrong, *more)
        assert done.exit_code == 2, done.output
        assert says in done.output


@pytest.mark.slow
def test_the_command(folder: Path) -> None:
    done = run(
        "model.joblib", "--row", "3", "--mechanism", "ogpm", "--mechanism", "sw", "--json", "--average"
    )
    assert done.exit_code == 0, done.output
    answer = json.loads(done.output)["mechanisms"]
    assert set(answer) == {"ogpm", "sw"}
    people = np.loadtxt(folder / "people.csv", delimiter=",", skiprows=1)
    each = dt.Each.split(
        2, age=dt.OGPM(dt.Interval(0, 100), epsilon=1), bmi=dt.OGPM(dt.Interval(10, 60), epsilon=1)
    )
    model = joblib.load(folder / "model.joblib")
    wanted = dt.classifiers.utility(model, people[2], each, names=NAMES)
    assert answer["ogpm"]["lower"] == pytest.approx(wanted.lower)
    assert answer["ogpm"]["method"] == "exact"
    assert answer["ogpm"]["worst"] <= answer["ogpm"]["average"] <= 1
    page = (folder / "report.html").read_text()
    assert pictures(page) == 2
    assert "LogisticRegression" in page
    shown = run("module_of_models:rule", "--queries", "500")
    assert shown.exit_code == 0, shown.output
    assert "it contains the values of the record" in shown.output
    page = (folder / "report.html").read_text()
    assert all(f"<td>{line.split()[5]}" in page for line in shown.output.splitlines() if "≥" in line)
    assert "Monte Carlo" in shown.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.joblib"], "file not found"),
        (["no_such_module:thing"], "expected a model that can be imported"),
        (["just-a-word"], "package.module:name"),
        (["model.joblib", "--row", "9"], "--row from 1 to 8"),
        (["model.joblib", "--mechanism", "nonsense"], "no mechanism"),
        (["model.joblib", "--feature", "height", "0", "1"], "feature 'height'"),
        (["model.joblib", "--feature", "income", "0", "0.001"], "[0, 0.001]"),
        (["model.joblib", "--columns", "age,bmi"], "3 features"),
    ],
)
def test_the_command_refuses_in_words(folder: Path, arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.output
    assert not (folder / "report.html").exists()
