"""A campaign in words: computed numbers and short texts.

The promise of a mixed batch: the numbers of `dt.shuffled`, enumerated guesses, clear refusals.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import subprocess
from fractions import Fraction
from importlib import resources
from pathlib import Path
from string import Formatter

import pytest

import dither as dt
from dither.advice.explain import (
    batch_promise,
    caution,
    explain,
    guessed_right,
    officer_page,
    sentences,
)
from dither.errors import InvalidParameter
from dither.privacy import Approximate, Guarantee, Nothing, Pure
from dither.privacy.guarantee import largest_posterior
from tests.support.repository import ROOT
from tests.support.terminal import run

AGE = {"age": dt.Podium(dt.Interval(18, 100), epsilon=1)}
TOML = """
[questions.minutes]
interval = [0, 180]
epsilon = 0.5
[questions.heading]
circle = 360
epsilon = 0.25
[questions.browser]
categories = ["firefox", "chrome", "other"]
epsilon = 0.25
"""


@pytest.mark.parametrize("prior", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_odds_are_reached_by_randomized_response_and_never_exceeded(prior: float, epsilon: float) -> None:
    """Bayes' rule with the exact probabilities of the report that speaks most for a value."""
    coin = dt.KRR(dt.Categories(["no", "yes"]), epsilon=epsilon)
    (yes, no) = (Fraction(coin.p), 1 - Fraction(coin.p))
    after = prior * yes / (prior * yes + (1 - prior) * no)
    assert float(after) <= largest_posterior(epsilon, prior) + 1e-12
    assert float(after) == pytest.approx(largest_posterior(epsilon, prior), rel=1e-6)


def test_the_text_for_the_person_is_short_and_computed() -> None:
    many = {f"a question about something long {number}": AGE["age"] for number in range(40)}
    for questions in (AGE, many):
        text = explain(questions, spent=Guarantee(Pure(2.0))).person
        assert len(text.split()) <= 120
    assert "at most 74 % sure" in explain(AGE).person
    assert "at most 89 % sure" in explain({"age": AGE["age"].at(2)}).person
    assert "96 %" in explain(AGE, spent=Guarantee(Pure(2.0))).person  # e³/(1 + e³)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.99, 4.0, 4.61, 5.3, 7.0, 9.0, 12.0, 20.0])
def test_at_most_is_never_below_the_bound(epsilon: float) -> None:
    told = explain({"age": AGE["age"].at(epsilon)})
    for text, priors in ((told.person, [0.5]), (told.officer, [0.01, 0.1, 0.5, 0.9])):
        stated = [float(one) for one in re.findall(r"(?:at most|→) ([\d.]+) %", text)]
        assert len(stated) == len(priors)
        for percent, prior in zip(stated, priors, strict=True):
            bound = 100 * largest_posterior(AGE["age"].at(epsilon).guarantee.epsilon, prior)
            assert bound <= percent <= max(bound + 1, 100.0 if bound > 99.99 else 0.0)


def test_what_is_said_changes_with_epsilon() -> None:
    """Nobody is told at ε = 20 that an answer can be denied."""
    for epsilon, said, unsaid in (
        (1, "you can deny it", "weak"),
        (4, "does not prove", "deny"),
        (5, "weak protection", "prove"),
        (9.9, "weak protection", "nothing certain"),
        (20, "protects you little", "deny"),
    ):
        text = explain({"age": AGE["age"].at(epsilon)}).person
        assert said in text
        assert unsaid not in text
    assert caution(Guarantee(Pure(4.99))) is None
    assert "weak" in str(caution(Guarantee(Pure(5.0))))
    assert "little" in str(caution(Guarantee(Pure(10.0))))
    assert "no privacy guarantee" in str(caution(Guarantee(Nothing("noise is shared"))))


def test_who_randomises_and_what_stays_as_it_is() -> None:
    assert "Your device changes" in explain(AGE).person
    told = explain(AGE, randomiser="holder", keep=["department", "sex", "date"], weights=["size"])
    assert "Your device" not in str(told)
    for text in (told.person, told.officer):
        assert "department, sex, date" in text
        assert "size" in text
    assert "holder knows the true ones" in told.person
    with pytest.raises(InvalidParameter, match="holder"):
        explain(AGE, randomiser="somebody")  # type: ignore[arg-type]


def test_questions_that_are_asked_again_or_drawn() -> None:
    coin = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)
    year = explain({"smokes": dt.Once(coin, days=365), "age": AGE["age"]})
    assert "once in 365 days, on a day drawn at random (smokes)" in year.person
    assert "ε ≤ 2" in year.officer
    assert "5 times in 365 days" in explain({"smokes": dt.Once(coin, days=365, every=73)}).person
    assert "at most one change" in explain({"smokes": dt.KeptChange(coin, days=365)}).person
    drawn = explain(dt.Sampled(smokes=coin, age=AGE["age"]))
    assert "only that answer is sent" in drawn.person
    assert "at most 74 % sure after reading your answer." in drawn.person  # one of ε = 1, not both
    each = explain(dt.Each(smokes=coin, age=AGE["age"]), minimum_batch=1000)
    assert "at most 89 % sure after reading all your answers" in each.person
    assert "no bound for smokes" in explain({"smokes": dt.Once(coin)}, minimum_batch=1000).officer
    assert "same report is sent again" in explain(AGE, repeat="same").person
    assert "reveals as much again" in explain(AGE, repeat="fresh").person
    with pytest.raises(InvalidParameter, match="explain it by itself"):
        explain({"both": dt.Each(smokes=coin)})


def test_numbers_have_no_exponent() -> None:
    income = dt.Podium(dt.Interval(0, 10_000), epsilon=0.5)
    assert re.search(r"standard error of \d\d0 for 1 000 people", explain({"income": income}).officer)
    tiny = dt.Podium(dt.Interval(0, 1e-6), epsilon=0.5)
    for officer in (explain({"x": income}).officer, explain({"x": tiny}).officer):
        assert not re.search(r"standard error.*\de[+-]?\d", officer)


def places(text: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


def test_another_language_is_one_file() -> None:
    """Every file has the names and the places of the English one."""
    english = sentences("en")
    files = [
        name
        for one in resources.files("dither.advice").iterdir()
        if (name := one.name).startswith("explain.")
    ]
    for name in files:
        if not name.endswith(".toml"):
            continue
        other = sentences(name.split(".")[1])
        assert other.keys() == english.keys()
        for part, table in english.items():
            assert other[part].keys() == table.keys()
            for key, text in table.items():
                assert places(other[part][key]) == places(text), key
    with pytest.raises(InvalidParameter, match="there are"):
        explain(AGE, language="xx")


def test_the_officer_sees_errors_and_assumptions() -> None:
    near = dt.BoundedLaplace(dt.Interval(0, 1), epsilon=1, sensitivity=0.1)
    text = explain({"x": near}).officer
    assert near.guarantee.assumes[0] in text
    error = dt.goals.Mean(n=1000).error(AGE["age"])
    assert f"{error:.2g} for 1 000 people" in explain(AGE).officer
    assert "no assumptions" in explain(AGE).officer


def test_at_the_terminal(tmp_path: Path) -> None:
    campaign, raw, reports = (tmp_path / name for name in ("survey.toml", "in.jsonl", "reports.csv"))
    campaign.write_text(TOML)
    result = run("explain", campaign)
    assert result.exit_code == 0, result.output
    assert "For the officer" in result.output
    assert f"{math.ceil(100 * math.e / (1 + math.e))} % sure" in " ".join(result.output.split())
    assert max(map(len, result.output.splitlines())) <= 80
    assert "officer" not in run("explain", campaign, "--person").output
    raw.write_text('{"minutes": 5, "heading": 3, "browser": "chrome"}\n')
    assert run("perturb", raw, "--campaign", campaign, "-o", reports).exit_code == 0
    told = json.loads(run("explain", reports, "--json").stdout)
    assert "holder knows the true ones" in told["person"]  # somebody had the raw file
    asked = json.loads(run("explain", campaign, "--json", "--randomiser", "holder").stdout)
    assert told == asked
    for verb in ("audit", "describe"):
        for file in (campaign, reports):
            result = run(verb, file)
            assert result.exit_code == 0, result.output
            assert all(name in result.output for name in ("minutes", "heading", "browser"))
    assert json.loads(run("audit", reports, "--json").output)["minutes"]["ok"] is True
    near = dt.Questionnaire({"x": dt.BoundedLaplace(dt.Interval(0, 1), epsilon=1, sensitivity=0.1)})
    forged = tmp_path / "near.json"
    forged.write_text(near.to_json())
    assert run("explain", forged).exit_code == 0
    for verb in ("explain", "audit", "describe", "card"):
        more = ("--asker", "A", "--contact", "b") if verb == "card" else ()
        for bad in (raw, tmp_path / "none.toml"):
            refused = run(verb, bad, *more)
            assert refused.exit_code == 2, (verb, bad, refused.output)
            assert bad.name in refused.output


def test_what_was_given_before_is_what_the_account_charged(tmp_path: Path) -> None:
    """Not its budget: a person who gave 0.5 of 2 has given 0.5."""
    campaign, path = tmp_path / "survey.toml", tmp_path / "me.account"
    campaign.write_text(TOML, encoding="utf-8")
    with dt.Account.create(path, epsilon=2) as account:
        account.answer(dt.Inquiry("age", AGE["age"].at(0.5), asker="clinic.example"), 41)
    told = run("explain", campaign, "--officer", "--account", path).output
    assert "Spent before: ε ≤ 0.5" in told
    assert "Together: ε ≤ 1.5" in " ".join(told.split())


COIN = dt.KRR(dt.Categories(["no", "yes"]), epsilon=2)
TWO = {"coin": COIN, "age": dt.Podium(dt.Interval(18, 100), epsilon=1)}


@pytest.mark.slow
def test_the_promise_is_that_of_shuffled_reports() -> None:
    single = batch_promise({"coin": COIN}, minimum_batch=1000, delta=1e-8)
    assert single.guarantee == dt.shuffled(COIN, n=1000, delta=1e-8)
    both = batch_promise(TWO, minimum_batch=1000).guarantee
    assert both is not None
    general = dt.shuffled(3.0, n=1000, delta=1e-6).epsilon
    alone = max(dt.shuffled(one, n=1000, delta=1e-6).epsilon for one in TWO.values())
    assert alone < both.epsilon < 0.8 * general  # a record is not a report with the summed ε
    assert both.epsilon == dt.shuffled(dt.Each(TWO), n=1000, delta=1e-6).epsilon
    assert any("mixes" in line for line in both.assumes)


def test_assumptions_of_the_questions_stay() -> None:
    near = dt.BoundedLaplace(dt.Interval(0, 1), epsilon=1, sensitivity=0.1)
    promise = batch_promise({"near": near, "coin": COIN}, minimum_batch=1000)
    if promise.guarantee is not None:
        assert set(near.guarantee.assumes) <= set(promise.guarantee.assumes)


@pytest.mark.parametrize("people", [2, 3, 5])
def test_no_guess_from_a_batch_is_right_more_often(people: int) -> None:
    """All batches of coins are enumerated; the best guess knows the others' values."""
    p = Fraction(COIN.p)

    def law(value: int) -> list[Fraction]:  # of the number of "yes", with everybody else at "no"
        total = [Fraction(0)] * (people + 1)
        for told in itertools.product((0, 1), repeat=people):
            chance = Fraction(1)
            for place, one in enumerate(told):
                chance *= p if one == (value if place == 0 else 0) else 1 - p
            total[sum(told)] += chance
        return total

    right = sum(max(a, b) for a, b in zip(law(0), law(1), strict=True)) / 2
    promise = batch_promise({"coin": COIN}, minimum_batch=people, delta=1e-3).guarantee
    assert promise is not None
    assert float(right) <= guessed_right(promise)


def test_guesses_of_an_approximate_bound() -> None:
    """The extreme pair with (ε, δ): reveals with probability δ, else randomized response."""
    epsilon, delta = 0.7, 0.01
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    exact = delta + (1 - delta) * share
    assert guessed_right(Guarantee(Approximate(epsilon, delta))) == pytest.approx(exact, rel=1e-12)


def test_paths_are_not_credited() -> None:
    city = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    promise = batch_promise({"trip": dt.TraCSD(city, epsilon=2)}, minimum_batch=1000)
    assert promise.guarantee is None
    assert promise.person == ""
    assert "no bound for trip" in promise.officer


@pytest.mark.parametrize("wrong", [1, 0, -3, 2.5, True, "1000", 10**11])
def test_wrong_batches_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidParameter, match="minimum batch"):
        batch_promise({"coin": COIN}, minimum_batch=wrong)  # type: ignore[arg-type]


def test_explained_at_the_terminal(tmp_path: Path) -> None:
    campaign = tmp_path / "survey.toml"
    campaign.write_text('[questions.smokes]\ncategories = ["yes", "no"]\nepsilon = 1\nmechanism = "RR"\n')
    told = json.loads(run("explain", campaign, "--minimum-batch", 10_000, "--json").output)
    question = dt.KRR(dt.Categories(["yes", "no"]), epsilon=1)
    share = guessed_right(dt.shuffled(question, n=10_000, delta=1e-6))
    assert f"at most {math.ceil(1000 * share) / 10:g} %" in told["person"]
    assert "10 000 people" in told["person"]
    assert any("0.03575" in line for line in told["officer"])
    assert len(told["person"].split()) <= 120
    assert "batch" not in run("explain", campaign).output
    wrong = run("explain", campaign, "--minimum-batch", 1)
    assert wrong.exit_code != 0
    assert "minimum batch" in wrong.output


@pytest.mark.slow
def test_recommended_for_a_crowd() -> None:
    ask = ("recommend", "--categories", 3, "--goal", "frequencies", "--people", 100_000, "--json")
    alone = json.loads(run(*ask, "--epsilon", 0.05).output)
    among = json.loads(run(*ask, "--epsilon", 0.05, "--shuffled", 100_000).output)
    assert among[0]["error"] < alone[0]["error"] / 10
    found = json.loads(run(*ask, "--error", 0.005, "--shuffled", 100_000).output)["epsilon"]
    goal = dt.goals.Frequencies(n=100_000)
    assert found == dt.epsilon_for(dt.Categories(range(3)), goal, 0.005, shuffled=100_000)
    ask = ("recommend", "--categories", 3, "--goal", "frequencies", "--epsilon", 1, "--error", 0.1)
    assert run(*ask).exit_code == 0
    assert run(*ask, "--shuffled", 9).exit_code == 2


def test_german_has_german_numbers_and_promises() -> None:
    told = explain({"age": dt.Podium(dt.Interval(18, 100), epsilon=6.3)}, language="de")
    assert "höchstens zu 99,9 % sicher" in told.person
    assert "ε ≤ 6,3 für eine Angabe" in told.officer
    assert "for one" not in told.officer
    assert caution(dt.Podium(dt.Interval(0, 1), epsilon=5.5).guarantee, "de").startswith("ε = 5,5 für einen")
    assert "For the officer" in told._repr_html_()


def test_the_officers_page_is_in_the_docs_and_on_paper(tmp_path: Path) -> None:
    assert (ROOT / "docs" / "officer.md").read_text(encoding="utf-8") == officer_page()
    alone = run("explain", "--officer")
    assert alone.exit_code == 0
    assert alone.output.startswith("# For the privacy officer")
    (tmp_path / "survey.toml").write_text('[questions."a < b"]\ninterval = [0, 1]\nepsilon = 1\n')
    out = tmp_path / "page.html"
    made = run("explain", tmp_path / "survey.toml", "--officer", "--language", "de", "-o", out)
    assert made.exit_code == 0, made.output
    page = out.read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    assert page.count("<li>") >= 10
    assert "a &lt; b: eine Zahl" in page
    assert "<b>ε ist zu groß" in page
    assert "<td>nur das Gerät</td>" in page
    assert run("explain", "-o", out).exit_code == 2
    assert run("explain").exit_code == 2
    assert run("explain", tmp_path / "survey.toml", "--officer", "-o", tmp_path / "x.pdf").exit_code == 2


FOUR = """
[questions.age]
interval = [18, 100]
epsilon = 1
[questions.pet]
categories = ["cat", "dog", "none"]
epsilon = 1
[questions.income]
interval = [0, 10000]
epsilon = 0.5
[questions.features]
several = ["mail", "calendar", "maps", "chat"]
most = 2
epsilon = 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("campaign", [None, FOUR], ids=["alone", "with four questions"])
def test_the_officers_page_is_one_sheet(tmp_path: Path, language: str, campaign: str | None) -> None:
    """Printed on A4 with letters of 9 pt, by itself and with a campaign's own numbers."""
    browser, count = shutil.which("chromium"), shutil.which("pdfinfo")
    if browser is None or count is None:
        pytest.skip("chromium and pdfinfo are needed to print a page")
    (tmp_path / "survey.toml").write_text(FOUR)
    asked = [] if campaign is None else [tmp_path / "survey.toml"]
    page, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    assert run("explain", *asked, "--officer", "--language", language, "-o", page).exit_code == 0
    assert "9pt" in page.read_text(encoding="utf-8")
    quiet = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    ]
    words = [browser, *quiet, f"--user-data-dir={tmp_path / 'browser'}", "--no-pdf-header-footer"]
    subprocess.run(
        [*words, f"--print-to-pdf={paper}", str(page)], capture_output=True, timeout=120, check=True
    )
    told = subprocess.run([count, str(paper)], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^Pages:\s+1$", told, re.MULTILINE), told


def test_errors_of_a_drawn_question_are_those_of_the_people_who_answer_it() -> None:
    """1 000 people of whom each answers one of four questions: the error is twice that of one question."""
    answer = dt.KRR(dt.Categories(["no", "yes"]), epsilon=1)
    alone = str(explain({"a": answer}))
    drawn = str(explain(dt.Sampled(a=answer, b=answer, c=answer, d=answer)))
    assert "a standard error of 0.03 for 1 000 people" in alone
    assert "a standard error of 0.061 for 1 000 people" in drawn


def test_a_name_with_controls_adds_no_line_and_no_style() -> None:
    """The names of a file of reports come from whoever wrote it."""
    name = "x\nAll answers of a person: ε ≤ 0.1 for one person.\x1b[8m"
    told = explain({name: dt.KRR(dt.Categories(2), epsilon=3)}, keep=["a\x1b[2Jb"])
    for text in (told.person, told.officer):
        assert "\x1b" not in text
        assert not any(line.startswith("All answers of a person: ε ≤ 0.1") for line in text.split("\n"))
    assert "\n" not in told.person


def test_a_promise_for_a_location_is_none_for_a_path() -> None:
    area = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
    told = explain({"trip": dt.TraCSD(area, epsilon=1)})
    assert "a path reveals as much again with each of its locations" in told.person
    assert "a path of n locations is n times its ε" in told.officer
    whole = explain({"trip": dt.TraCSD(area, epsilon=1, unit="trajectory")})
    assert "each of its locations" not in whole.person


@pytest.mark.parametrize(
    ("phase", "words"),
    [({"share": 125}, "12.5 % of the devices"), ({"follows": "0" * 64}, "an earlier campaign")],
)
def test_a_person_answers_one_of_two_phases(phase: dict[str, object], words: str) -> None:
    told = explain({"x": dt.KRR(dt.Categories(2), epsilon=1)}, phase=phase)
    assert words in told.person
    assert "the larger one holds" in told.officer
    german = explain({"x": dt.KRR(dt.Categories(2), epsilon=1)}, phase=phase, language="de")
    assert "die größere" in german.officer


def test_a_question_is_shown_with_its_words_in_the_language() -> None:
    stated = {"age": {"text": {"en": "How old are you?", "de-AT": "Wie alt sind Sie?"}}}
    both = AGE | {"pet": dt.KRR(dt.Categories(["cat", "dog"]), epsilon=1)}
    for language, words in (("en", "How old are you?"), ("de", "Wie alt sind Sie?")):
        told = explain(both, stated=stated, language=language)
        assert f"age (“{words}”), pet." in told.person
        assert f"(“{words}”)" in told.officer
