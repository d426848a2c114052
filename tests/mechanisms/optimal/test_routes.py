"""Complete paths under one ε: the codebook, its size, its errors, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.errors import InvalidParameter
from dither.foundation.arrays import Floats
from dither.mechanisms.optimal.routes import AmongRoutes, best_between, chosen_half

SQUARE = dt.Rectangle(dt.Interval(0, 1), dt.Interval(0, 1))
ROUTES = dt.Routes(SQUARE, points=4)


def walks(n: int, seed: int) -> list[Floats]:
    """Return paths of several lengths between five corners of a city."""
    random = np.random.default_rng(seed)
    spots = np.array([[0.1, 0.1], [0.9, 0.2], [0.8, 0.9], [0.2, 0.8], [0.5, 0.5]])
    made = []
    for _ in range(n):
        first, last = random.choice(5, 2, p=[0.4, 0.3, 0.1, 0.1, 0.1])
        along = np.linspace(0.0, 1.0, random.integers(2, 12))[:, None]
        path = spots[first] + along * (spots[last] - spots[first])
        made.append(np.clip(path + random.normal(0.0, 0.02, path.shape), 0.0, 1.0))
    return made


PUBLIC = walks(120, 1)


def design(epsilon: float, **more: Any) -> AmongRoutes:
    made = dt.Optimal(dt.Routes(SQUARE, **{"points": 4, **more}), epsilon=epsilon, prior=(PUBLIC, "walks"))
    assert isinstance(made, AmongRoutes)
    return made


def test_the_error_is_that_of_the_reports_and_far_below_a_divided_budget() -> None:
    made, people = design(4.0), walks(4_000, 2)
    reports = made.perturb(people, source=dt.Seeded(3))
    true = made.domain.resample(people)
    apart = np.hypot(*np.moveaxis(reports.values - true, -1, 0)).mean(axis=1)
    assert float(made.error(people).mean()) == pytest.approx(float(apart.mean()), rel=0.03)
    assert float(apart.mean()) < 1.25 * made.held_out_error
    divided = dt.TraCSC(SQUARE, epsilon=4.0, unit="trajectory").perturb(true, source=dt.Seeded(4))
    assert apart.mean() < 0.5 * dt.maps.average_error(true, divided)
    assert apart.mean() < 0.6 * made.unasked_error
    assert made.worst_error() >= made.average_error() > 0
    assert "for the complete path" in str(made)
    assert "(walks)" in str(made)


def test_medians_of_those_who_may_have_sent_a_number_have_a_smaller_error() -> None:
    made, people = design(2.0), walks(3_000, 5)
    reports, true = made.perturb(people, source=dt.Seeded(6)), made.domain.resample(people)
    read = reports.read_by(made.read_for())
    assert read.values.shape == true.shape
    assert np.abs(read.values - true).mean() < np.abs(reports.values - true).mean()
    again = dt.from_json(made.read_for((PUBLIC[:50], "fewer walks")).to_json())
    assert again.fingerprint == made.fingerprint


@pytest.mark.parametrize("distance", ["warped", "frechet"])
def test_other_distances_have_codebooks_of_their_own(distance: Any) -> None:
    made = design(3.0, distance=distance)
    assert made.routes.routes.distance == distance
    assert made.average_error() < 0.8 * made.unasked_error
    detour = [[0.1, 0.1]] * 9 + [[0.5, 0.15], [0.9, 0.2]]  # stays long at the first place
    mean, warped = design(3.0, by="order"), design(3.0, distance="warped", by="order")
    straight = [[0.1, 0.1], [0.9, 0.2]]
    assert (warped.error(detour) / warped.error(straight))[0] < (mean.error(detour) / mean.error(straight))[0]


def test_the_gap_is_that_of_a_linear_program_between_the_public_paths() -> None:
    far = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    shares = np.array([0.2, 0.5, 0.3])
    best = best_between(shares, far, 1.0)
    grid = np.linspace(0.0, 1.0, 21)  # of all mechanisms with g = (a, b, c): the nearest allowed are likelier
    tried = []
    for a in grid:
        for b in grid[grid <= 1.0 - a]:
            g = np.array([a, b, 1.0 - a - b])
            for mass in np.linspace(1.0 / np.e, 1.0, 21):
                left, error = 1.0 - mass, 0.0
                for i in range(3):
                    room = left
                    error += shares[i] * float(mass * g @ far[i])
                    for j in np.argsort(far[i]):
                        more = min(room, (np.e - 1.0) * mass * g[j])
                        error, room = error + shares[i] * more * far[i, j], room - more
                    error = error if room < 1e-9 else np.inf
                tried.append(error)
    assert best == pytest.approx(min(tried), rel=0.02)
    assert best <= min(tried) + 1e-9
    assert 0.0 <= design(2.0).gap < 0.2
    count = design(2.0).routes.window.cells
    assert f" % above the best mechanism between these {count} paths" in str(design(2.0))


def test_many_public_paths_are_thinned_and_the_text_says_so() -> None:
    many = np.random.default_rng(7).random((5_000, 2, 2))
    made = dt.Optimal(dt.Routes(SQUARE, points=2), epsilon=1, prior=(many, "lines"))
    assert len(made.public) == 1_667  # every third
    assert "of 1667 public paths, thinned" in str(made)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        (None, "public source"),
        (PUBLIC, "public source"),
        ((PUBLIC, ""), "public source"),
        ((PUBLIC, None), "public source"),
        ((PUBLIC[:7], "walks"), "8 public paths or more"),
        (([[(0.3, 0.3)]] * 20, "a place"), "two or more places"),
        (([[(at / 20, 0.3)] for at in range(20)], "places"), "two or more places"),
        (([[(0.3, 0.3), (0.5, 0.5)]] * 20, "a path"), "differ after resampling"),
        (([[(7.0, 0.3), (7.5, 0.1)]] * 20, "another city"), "must lie in"),
        (([[]] * 20, "none"), "expected paths"),
        ((7, "a number"), "expected paths"),
    ],
)
def test_what_is_no_prior_is_refused(prior: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dt.Optimal(ROUTES, epsilon=1, prior=prior)


def test_a_path_that_no_public_path_resembles_is_drawn_like_any_other() -> None:
    made = design(4.0)
    odd = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    law = [float(chance) for chance in made.probabilities(odd)]
    assert sum(law) == pytest.approx(1.0)
    assert max(law) / min(law) == pytest.approx(np.exp(4.0))
    assert float(made.error(odd)[0]) > 3 * made.average_error()


def test_a_design_is_remade_with_another_epsilon_but_not_from_json() -> None:
    made = design(2.0)
    assert made.at(4.0).guarantee.bound == design(4.0).guarantee.bound
    question = dt.from_json(made.to_json())
    assert question.perturb(PUBLIC[:3]).cells.shape == (3,)
    with pytest.raises(InvalidParameter):
        question.design()


def test_it_is_ranked_beside_mechanisms_for_each_place_with_the_unit_of_the_promise() -> None:
    goal = dt.goals.CompletePaths((PUBLIC, "walks"))
    ranking = dt.recommend(ROUTES, goal, epsilon=4)
    design = dt.Optimal(ROUTES, epsilon=4, prior=(PUBLIC, "walks"))
    assert ranking[0]["error"] == pytest.approx(design.held_out_error)
    units = [row["promise"] for row in ranking.rows]
    assert units == ["one trajectory"] * 4 + ["one location"] * 3
    names = [row["mechanism"] for row in ranking.rows]
    divided = [f"{kind}(area, unit='trajectory')" for kind in ("Optimal", "TraCSC", "TraCSD")]
    weaker = [name.replace("trajectory", "location") for name in divided]
    assert (names[0], sorted(names[1:4]), sorted(names[4:])) == ("Optimal(…, prior=…)", divided, weaker)
    shown = [line for line in repr(ranking).splitlines() if line[:1].isdigit()]
    assert [unit for line in shown for unit in sorted(set(units)) if f"  {unit}  " in line] == units
    errors = [row["error"] for row in ranking.rows]
    assert errors[:4] == sorted(errors[:4])
    public = np.array([ROUTES.resample(line) for line in PUBLIC])
    own = public[~chosen_half(len(public))]
    noisy = dt.TraCSC(SQUARE, epsilon=4, unit="trajectory").perturb(own, source=dt.Seeded(1)).values
    expected = np.hypot(*np.moveaxis(SQUARE.clip(noisy) - own, -1, 0)).mean()
    assert ranking["TraCSC(area, unit='trajectory')"]["error"] == pytest.approx(expected, rel=1e-3)
    for wrong in (lambda: dt.recommend(SQUARE, goal, epsilon=4), lambda: dt.goals.CompletePaths(PUBLIC)):  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter):
            wrong()
    with pytest.raises(InvalidParameter, match="depends on the number of people"):
        dt.people_for(ROUTES, goal, 0.1, epsilon=1)
    with pytest.raises(InvalidParameter, match="CompletePaths"):
        dt.compare(ROUTES, epsilon=4)


@pytest.mark.slow
def test_they_are_compared_without_a_bound() -> None:
    goal = dt.goals.CompletePaths((PUBLIC, "walks"))
    table, ranking = dt.compare(ROUTES, epsilon=4, goal=goal), dt.recommend(ROUTES, goal, epsilon=4)
    assert [row["error"] for row in table.rows] == [row["error"] for row in ranking.rows]
    assert "bound" not in table.title


def test_people_and_officers_read_that_it_is_one_promise_for_the_complete_path() -> None:
    asked = dt.Questionnaire({"trip": dt.Optimal(ROUTES, epsilon=4, prior=(PUBLIC, "walks"))})
    count = asked.questions["trip"].outcomes
    text = asked.explain()
    assert f"one of {count} published paths" in text.person
    assert "This holds for the complete path, with all of its locations." in text.person
    assert f"trip: a complete path in {SQUARE}, Optimal, ε ≤ 4 for one trajectory." in text.officer
    assert "A path that none of them resembles is reported as one of them." in text.officer
    german = asked.explain(language="de")
    assert f"einer von {count} veröffentlichten Wegen" in german.person
    assert f"ein ganzer Weg in {SQUARE}" in german.officer
    card = asked.card(asker="city.example", contact="data@city.example", purpose="Where people go.")
    assert card["questions"][0]["promise"]["unit"] == "one trajectory"
    assert f"one of {count} published paths" in card["for the person"]


@pytest.mark.slow
def test_of_many_public_paths_every_kth_is_taken() -> None:
    random = np.random.default_rng(1)
    many = np.clip(0.5 + np.cumsum(random.normal(0, 0.1, (100_000, 2, 2)), axis=1), 0, 1)
    design = dt.Optimal(ROUTES, epsilon=1, prior=(list(many), "published trips"))
    assert (ROUTES.check(list(many[::50])) == design.public).all()
    assert "of 2000 public paths, thinned (published trips)" in str(design)
