"""`dt.ask` chooses as questionnaires and the terminal do, without a solver, what every client draws."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import dither as dt
from dither.advice import ask as asking
from dither.core.registry import draw_of
from dither.errors import InvalidParameter
from dither.mechanisms.optimal import store
from tests.conformance.draws import PYTHON_ONLY
from tests.support.terminal import run

HOURS, ANSWERS = dt.Interval(0, 180), ["train", "bus", "bicycle", "none"]
BUDGETS = (0.5, 0.8, 1.0, 2.0, 3.0, 5.0, 8.0)
# A domain, the lines of a questionnaire, and the options of the terminal.
DOMAINS: dict[str, tuple[dt.Domain, str, tuple[object, ...]]] = {
    "interval": (HOURS, "interval = [0, 180]", ("--interval", 0, 180)),
    "circle": (dt.Circle(360), "circle = 360", ("--circle", 360)),
    "two": (dt.Categories(["no", "yes"]), 'categories = ["no", "yes"]', ("--categories", "no,yes")),
    "list": (
        dt.Categories(ANSWERS),
        f"categories = {json.dumps(ANSWERS)}",
        ("--categories", ",".join(ANSWERS)),
    ),
    "long list": (dt.Categories(60), "categories = 60", ("--categories", 60)),
    "longest list": (dt.Categories(70_000), "categories = 70000", ("--categories", 70_000)),
    "sets": (
        dt.Several(ANSWERS, most=2),
        f"several = {json.dumps(ANSWERS)}\nmost = 2",
        ("--several", ",".join(ANSWERS), "--most", 2),
    ),
    "number or none": (
        dt.Nullable(HOURS),
        "interval = [0, 180]\noptional = true",
        ("--interval", 0, 180, "--optional"),
    ),
    "angle or none": (
        dt.Nullable(dt.Circle(1)),
        "circle = 1\noptional = true",
        ("--circle", 1, "--optional"),
    ),
    "answer or none": (
        dt.Nullable(dt.Categories(ANSWERS)),
        f"categories = {json.dumps(ANSWERS)}\noptional = true",
        ("--categories", ",".join(ANSWERS), "--optional"),
    ),
}
GOALS = [
    None,
    dt.goals.Mean(),
    dt.goals.Frequencies(),
    dt.goals.Distribution(),
    dt.goals.Quantile(),
    dt.goals.SingleValues(),
]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody was warned before, and nothing is solved."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a solver runs")

    monkeypatch.setattr(asking, "_warned", [])
    monkeypatch.setattr("dither.mechanisms.optimal.solver.solve_design.solve_design", refuse)
    monkeypatch.setattr("scipy.optimize.linprog", refuse)
    monkeypatch.setattr("scipy.optimize.milp", refuse)


def choose(domain: dt.Domain, epsilon: float, goal: Any = None) -> Any:
    """Return what `dt.ask` chooses; a warning about a large ε is another test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", asking.LittleProtection)
        return dt.ask(domain, epsilon=epsilon, goal=goal)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.some(every=3)
def test_a_questionnaire_without_a_mechanism_chooses_the_same(
    name: str, epsilon: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))  # nothing was solved before
    domain, lines, _ = DOMAINS[name]
    chosen = choose(domain, epsilon)
    text = f"[questions.q]\n{lines}\nepsilon = {epsilon}\n"
    assert dt.Questionnaire.from_toml(text).questions["q"].to_json() == chosen.to_json()
    assert draw_of(chosen.device()) not in PYTHON_ONLY


@pytest.mark.parametrize("epsilon", [1, 8])
@pytest.mark.parametrize("name", DOMAINS)
def test_the_terminal_chooses_the_same(name: str, epsilon: float, tmp_path: Path) -> None:
    domain, _, words = DOMAINS[name]
    cell = {"two": "yes", "list": "bus", "sets": "bus;train", "answer or none": "bus"}.get(name, "1")
    (tmp_path / "in.csv").write_text(f"q\n{cell}\n")
    out = tmp_path / "out.csv"
    done = run("perturb", tmp_path / "in.csv", "--column", "q", *words, "--epsilon", epsilon, "-o", out)
    assert done.exit_code == 0, done.output
    assert (
        dt.data.read(out).campaign.questions["q"].fingerprint == choose(domain, epsilon).question.fingerprint
    )


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: type(goal).__name__)
@pytest.mark.parametrize("name", DOMAINS)
def test_every_goal_has_a_choice_or_a_sentence(name: str, goal: Any) -> None:
    domain = DOMAINS[name][0]
    suited = {"Mean": domain.line is not None, "Frequencies": domain.line is None}
    if goal is not None and not suited.get(type(goal).__name__, name in ("interval", "circle")):
        with pytest.raises(InvalidParameter, match=r"dt\.recommend ranks all"):
            choose(domain, 1.0, goal)
        return
    chosen = choose(domain, 1.0, goal)
    assert draw_of(chosen.device()) not in PYTHON_ONLY
    assert repr(chosen) == f"{chosen.question.name} on {chosen.domain}, ε = 1: {chosen.why}"
    assert "smallest" in chosen.why or "unbiased" in chosen.why
    assert chosen.describe().endswith(f"It was chosen because {chosen.why}.")


def test_a_choice_is_used_like_its_mechanism() -> None:
    chosen = dt.ask(HOURS, epsilon=1)
    assert isinstance(chosen.mechanism, dt.Optimal)
    assert repr(chosen).startswith("Optimal on [0, 180], ε = 1: the smallest error of a mean")
    reports = chosen.perturb([20.0] * 400, source=dt.Seeded(1))
    assert dt.mean(reports).n == 400
    assert dt.from_json(chosen.to_json()) == chosen.question
    assert dt.Questionnaire({"hours": chosen}).questions["hours"] == chosen.question
    assert chosen.at(2).epsilon == 2
    assert chosen.guarantee == chosen.mechanism.guarantee


def test_a_large_budget_is_warned_about_once() -> None:
    dt.ask(HOURS, epsilon=4.9)  # a warning would be an error
    with pytest.warns(asking.LittleProtection, match="given once") as said:
        dt.ask(dt.Categories(3), epsilon=5.5)
    assert [warning.filename for warning in said] == [__file__]
    dt.ask(HOURS, epsilon=8)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: dt.ask((18, 100), epsilon=1), r"expected a domain, such as dt\.Interval\(18, 100\)"),  # type: ignore[arg-type]
        (lambda: dt.ask(HOURS, 1), r"by name: ask\(domain, epsilon=…\)"),  # type: ignore[misc]
        (lambda: dt.ask(HOURS, epsilon=-1), "got -1"),
        (lambda: dt.ask(HOURS, epsilon=1, goal="mean"), r"such as dt\.goals\.Mean\(\), got 'mean'"),  # type: ignore[arg-type]
        (lambda: dt.ask(HOURS, epsilon=1, goal=dt.goals.Ranges()), "got Ranges"),
        (lambda: dt.ask(dt.Text(8), epsilon=1), "name a mechanism"),
    ],
)
def test_what_cannot_be_chosen_gets_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter, match=sentence):
        call()
