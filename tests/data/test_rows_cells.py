"""Campaigns keep what was answered, cell by cell; "no answer" may be an answer; one question alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.advice.explain import explain
from dither.errors import InvalidParameter, MalformedReport
from tests.support.terminal import run

ASKED = {
    "age": dt.Podium(dt.Interval(18, 100), epsilon=1),
    "mood": dt.KRR(dt.Categories(["good", "bad"]), epsilon=1),
    "uses": dt.OUE(dt.Categories(["a", "b", "c"]), epsilon=1),
}
ENDINGS = ["csv", "jsonl", "parquet", "arrow", "xlsx", "csv.gz"]


def survey(path: Path, n: int = 600) -> tuple[Path, dict[str, int]]:
    random = np.random.default_rng(1)
    there = {name: random.random(n) < share for name, share in (("age", 0.9), ("mood", 0.8), ("uses", 0.7))}
    cells = {
        "age": random.integers(18, 100, n).astype(str),
        "mood": random.choice(["good", "bad"], n),
        "uses": random.choice(["a", "b", "c"], n),
    }
    rows = [",".join(["id", *cells])]
    rows += [",".join([str(i), *(cells[k][i] if there[k][i] else "" for k in cells)]) for i in range(n)]
    path.write_text("\n".join(rows))
    answered = {name: int(some.sum()) for name, some in there.items()}
    return path, answered | {"any": int(np.logical_or.reduce(list(there.values())).sum())}


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_answer_is_kept(ending: str, tmp_path: Path) -> None:
    path, answered = survey(tmp_path / "in.csv")
    out = tmp_path / f"out.{ending}"
    counts = dt.data.perturb_file(path, out, ASKED, missing="skip", keep=["id"])
    assert counts.written == answered["any"]
    assert counts.missing == 3 * 600 - sum(answered[name] for name in ASKED)
    assert {name: total.n for name, total in dt.data.summarise_file(out).items()} == {
        name: answered[name] for name in ASKED
    }
    groups = dt.data.group_files([out], ["id"])
    assert sum(summary.n for _, summary in groups["mood"].summaries()) == answered["mood"]


def test_a_row_without_a_report_is_malformed(tmp_path: Path) -> None:
    path, _ = survey(tmp_path / "in.csv", 20)
    dt.data.perturb_file(path, tmp_path / "out.csv", ASKED, missing="skip")
    text = (tmp_path / "out.csv").read_text(encoding="utf-8")
    (tmp_path / "odd.csv").write_text(text + ",,\n", encoding="utf-8")
    with pytest.raises(MalformedReport, match="no report"):
        dt.data.summarise_file(tmp_path / "odd.csv")


def test_an_empty_cell_is_an_answer_where_that_is_asked(tmp_path: Path) -> None:
    path, answered = survey(tmp_path / "in.csv", 4000)
    asked = {
        "age": dt.Podium(dt.Nullable(dt.Interval(18, 100)), epsilon=4),
        "mood": dt.KRR(dt.Nullable(dt.Categories(["good", "bad"])), epsilon=4),
    }
    for ending in ("csv", "parquet"):
        out = tmp_path / f"out.{ending}"
        assert dt.data.perturb_file(path, out, asked).written == 4000
        for name, total in dt.data.summarise_file(out).items():
            assert total.n == 4000
            assert float(dt.stats.response_rate(total)) == pytest.approx(answered[name] / 4000, abs=0.05)
    assert all(fit.fit == 4000 for fit in dt.data.check_file(path, asked).values())


def test_one_question_alone_and_a_budget_for_all(tmp_path: Path) -> None:
    text = "[campaign]\nepsilon = 2\nsampled = true\n[questions.age]\ninterval = [18, 100]\n"
    text += '[questions.mood]\ncategories = ["good", "bad"]\noptional = true\n'
    campaign = dt.Questionnaire.from_toml(text)
    assert campaign.guarantee.epsilon == pytest.approx(2.0)
    assert [question.epsilon for question in campaign.questions.values()] == [2.0, 2.0]
    assert dt.Questionnaire.from_json(campaign.to_json()).sampled
    path, _ = survey(tmp_path / "in.csv", 2000)
    counts = dt.data.perturb_file(path, tmp_path / "out.csv", campaign, missing="skip", source=dt.Seeded(2))
    totals = dt.data.summarise_file(tmp_path / "out.csv")
    assert totals["age"].n + totals["mood"].n == counts.written
    assert abs(totals["mood"].n - 1000) < 150
    assert "One of these is drawn" in explain(campaign).person
    whole = dt.Questionnaire.from_toml(text.replace("sampled = true", ""))
    assert [question.epsilon for question in whole.questions.values()] == [1.0, 1.0]
    part = dt.Questionnaire.from_toml(text.replace("sampled = true", "") + "epsilon = 1.5\n")
    assert [question.epsilon for question in part.questions.values()] == [0.5, 1.5]
    for wrong in ("epsilon = 0", "epsilon = 1\nsampled = 1", 'epsilon = "2"'):
        with pytest.raises(InvalidParameter):
            dt.Questionnaire.from_toml(text.replace("epsilon = 2\nsampled = true", wrong))
    with pytest.raises(InvalidParameter, match="all questions together"):
        dt.Questionnaire.from_toml(text.replace("sampled = true", "") + "epsilon = 2\n")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidParameter, match="sampled"):
        dt.data.perturb(pandas.DataFrame({"age": [30.0], "mood": ["good"]}), campaign)


def test_frames_move_or_leave_out_what_is_outside() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    asked = {name: ASKED[name] for name in ("age", "mood")}
    for library in (pandas, polars):
        frame = library.DataFrame(
            {"age": [12.0, 30.0, None], "mood": ["good", "odd", None], "name": list("xyz")}
        )
        told = dt.data.perturb(frame, asked, outside="skip", missing="skip", keep=["name"])
        counts = dt.data.summarise(told, asked)
        assert {name: total.n for name, total in counts.items()} == {"age": 1, "mood": 1}
        assert list(told["name"]) == list("xyz")
        moved = dt.data.perturb(frame[["age"]], {"age": ASKED["age"]}, outside="clip", missing="skip")
        assert dt.data.summarise(moved, {"age": ASKED["age"]})["age"].n == 2


def test_a_campaign_is_begun_from_the_header_alone(tmp_path: Path) -> None:
    path, _ = survey(tmp_path / "in.csv", 5)
    made = run("init", path, "--column", "age", "--column", "mood", "--categories", "mood=good,bad")
    assert made.exit_code == 0, made.output
    assert "No value was read" in made.output
    text = (tmp_path / "in.toml").read_text(encoding="utf-8")
    assert dt.Questionnaire.from_toml(text).guarantee.epsilon == pytest.approx(1.0)
    blank = run("init", path, "-o", tmp_path / "blank.toml")
    assert "fill in the domains of id, mood, uses" in blank.output
    assert run("check", path, "--campaign", tmp_path / "blank.toml").exit_code == 2
    (tmp_path / "bare.csv").write_text("30,5\n41,6\n")
    refused = run("init", tmp_path / "bare.csv")
    assert "expected only names of columns" in refused.output
    assert not (tmp_path / "bare.toml").exists()
    assert run("init").exit_code == 2
