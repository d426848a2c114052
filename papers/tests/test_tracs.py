"""Chapter 6 reproduced: the numbers come out, the bugs make the published ones, data are optional."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dither as dt
from dither.estimation.maps import average_error
from dither.mechanisms.places.base import grid
from dither_papers import CODED, RIGHT, Setting, figures, run
from dither_papers.tracs import coded
from dither_papers.tracs.coded import CORNER, Flaws, LostPi, RawBeyondTen, SeldomLies
from dither_papers.tracs.measuring import SQUARE, city, programs, random_paths, repeated
from dither_papers.tracs.published import EPSILONS, PUBLISHED
from dither_papers.tracs.rivals import HALF, chosen, entries, in_degrees, points_of
from tests.support.repository import DATA

QUICK = Setting(quick=True)
FAST = ("Figure 6.2", "Figure D.1", "Figure D.2", "Figure D.4", "Figure D.6", "Figure 6.6")
ALL = [figure.name for figure in figures("tracs")]
NUMBERED = [figure.name for figure in figures("tracs") if not figure.why_not]  # the others are drawings


def data() -> Path:
    if not (DATA / "tracs_boxes.json").exists():
        pytest.skip("the papers' data are not here; set DITHER_DATA")
    return DATA


def test_every_figure_of_the_chapter_is_there() -> None:
    wanted = "6.1 6.2 6.3 6.4a 6.4b 6.5 6.6 6.7 6.8a 6.8b 6.9 6.10 D.1 D.2 D.3 D.4 D.5 D.6 D.7 D.8 D.2.9"
    others = {"Table 6.1", "Table 6.2", "Figure 6.9 extra", "Complete paths"}
    assert {f"Figure {name}" for name in wanted.split()} | others == set(ALL)
    assert set(ALL) - set(NUMBERED) == {"Figure 6.1", "Figure 6.3", "Table 6.1"}


@pytest.mark.some("Figure D.6", "Figure 6.2")
@pytest.mark.parametrize("name", FAST)
def test_quick_figures(name: str, tmp_path: Path) -> None:
    (outcome,) = run(figures("tracs", name), tmp_path, QUICK)
    assert outcome.rows
    assert [words for met, words in outcome.checks if not met] == []
    assert (tmp_path / f"{outcome.figure.slug}.png").stat().st_size > 5_000


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NUMBERED if name not in FAST])
def test_all_figures(name: str, tmp_path: Path) -> None:
    (figure,) = figures("tracs", name)
    setting = replace(QUICK, data=data() if figure.needs else None)
    (outcome,) = run([figure], tmp_path, setting)
    assert outcome.rows
    assert [words for met, words in outcome.checks if not met] == []


def test_without_data_figures_are_skipped(tmp_path: Path) -> None:
    (outcome,) = run(figures("tracs", "Figure 6.7"), tmp_path, Setting(quick=True, data=tmp_path))
    assert "tracs_tky" in outcome.skipped


def test_data_as_the_facts_say() -> None:
    setting = Setting(data=data())
    tokyo, chicago = city(setting, "tky"), city(setting, "chi")
    assert (len(tokyo.paths), len(tokyo.paths.points), len(tokyo.points)) == (100, 11_227, 7_798)
    assert (len(chicago.paths), len(chicago.points)) == (3_989, 1_000)
    assert chicago.chosen(100, 200).paths.lengths.mean() == pytest.approx(12.63)
    # The authors' paths are sorted by latitude; in the order of time they are not.
    assert all((np.diff(path[:, 0]) >= 0).all() for path in tokyo.paths)
    walked = city(setting, "tky", ordered=True)
    assert not all((np.diff(path[:, 0]) >= 0).all() for path in walked.paths)


# ---------------------------------------------------------------------------------------- the bugs


def test_the_bugs_make_the_published_numbers_and_without_them_all_is_right() -> None:
    paths = random_paths(SQUARE, 400, 100, dt.Seeded(1))
    for epsilon, published in zip(
        EPSILONS[::2], PUBLISHED["fig6.4a_unit_square"]["strawman"][::2], strict=True
    ):
        buggy = programs(SQUARE, Flaws())["strawman"](paths, epsilon, dt.Seeded(2))
        assert buggy == pytest.approx(published, rel=0.025)
        fixed = average_error(
            paths,
            dt.rivals.Strawman(SQUARE, epsilon=epsilon, start=CORNER).perturb(paths, source=dt.Seeded(3)),
        )
        assert abs(fixed - published) > 4 * abs(buggy - published) or epsilon == 10.0


def test_without_its_bugs_a_program_is_the_mechanism() -> None:
    """SeldomLies alone is wrong: its own references and an honest average do not help it."""
    paths = random_paths(SQUARE, 600, 50, dt.Seeded(1))
    clean = Flaws.none()
    for epsilon in (2.0, 6.0):
        wave = coded.redesigned(SQUARE, paths, epsilon, clean, dt.Seeded(4))
        right = dt.TraCSD(SQUARE, epsilon=epsilon, start=CORNER, direction=_wave, distance=_wave)
        measured = average_error(paths, right.perturb(paths, source=dt.Seeded(5)))
        assert average_error(paths, wave) == pytest.approx(measured, rel=0.02)
        flat = coded.laplace(SQUARE, paths, epsilon, clean, dt.Seeded(6))
        measured = average_error(
            paths, dt.PlanarLaplace(SQUARE, epsilon=epsilon).perturb(paths, source=dt.Seeded(7))
        )
        assert average_error(paths, flat) == pytest.approx(measured, rel=0.02)


def _wave(domain: dt.Interval | dt.Circle, **more: float) -> dt.SW:
    return dt.SW(domain, redesign=True, **more)  # type: ignore[arg-type]


def test_how_seldom_lies_are() -> None:
    circle, size = dt.Circle(), 400_000
    angles = np.full(size, 2.5 * math.pi / 3)  # in the third of six sectors
    noisy = SeldomLies(circle, epsilon=1.0).perturb(angles, source=dt.Seeded(1)).values
    sectors = np.bincount((noisy / (2 * math.pi) * 6).astype(int), minlength=6) / size
    lie = 1 / (5 + math.e)
    wanted = np.array([2, 1, 0, 1, 1, 1]) * lie / 6  # the phantom sixth sector is the first again
    wanted[2] = 1 - lie
    np.testing.assert_allclose(sectors, wanted, atol=5 * math.sqrt(0.25 / size))
    # the ratio that is called ε = 1: ln(k·(k − 2 + e^ε)) = 3.7
    assert math.log(sectors[2] / sectors[3]) == pytest.approx(math.log(6 * (4 + math.e)), abs=0.05)


def test_how_little_of_the_wave_is_left() -> None:
    noisy = LostPi(dt.Circle(), epsilon=1.0).perturb(np.full(200_000, 1.0), source=dt.Seeded(1)).values
    near = (
        dt.Circle().distance(noisy, np.float64(1.0))
        < math.pi * dt.SW(dt.Circle(), epsilon=1.0).question.kernel.window.share
    )
    assert near.mean() == pytest.approx(0.185, abs=0.005)  # 0.582 would be right


def test_raw_directions_beyond_ten() -> None:
    """The shortcut of the programs: the private direction itself, a little above ε = 10 but not below."""
    angles = np.random.default_rng(1).random(2_000) * 2 * math.pi
    gaps = [
        dt.Circle().distance(RawBeyondTen(dt.Circle(), epsilon=epsilon).perturb(angles).values, angles).max()
        for epsilon in (9.9, 10.1)
    ]
    assert gaps[0] > 0.1
    assert gaps[1] < 1e-4
    right = dt.OGPM(dt.Circle(), epsilon=10.1).perturb(angles, source=dt.Seeded(2)).values
    assert dt.Circle().distance(right, angles).max() > 0.1


@pytest.mark.slow
def test_rivals_take_much_longer(tmp_path: Path) -> None:
    """Table 6.2: only the order is a target."""
    (outcome,) = run(figures("tracs", "Table 6.2"), tmp_path, QUICK)
    each = {row["mechanism"]: row["perturbing"] for row in outcome.rows if row["version"] == RIGHT}
    assert each["ATP"] > each["NGram"] > each["TraCS-D"] > each["TraCS-C"]
    assert each["L-SRR"] > each["TraCS-D"]


def test_the_programs_metric_is_none() -> None:
    one, other = np.array([1.0]), np.array([2 * math.pi - 1.0])
    assert coded.direction_error(one, other, Flaws()) == pytest.approx(0.0)
    assert coded.direction_error(one, other, Flaws.none()) == pytest.approx(2.0)


def test_equal_spending() -> None:
    spent = {
        entry.name: entry.spent
        for entry in entries(grid(SQUARE, 11), 2.0, lambda locations: locations, heavy=False)
        if entry.version == RIGHT
    }
    assert spent["NGram"] == pytest.approx(2.0, rel=1e-5)
    assert spent[HALF] == pytest.approx(1.06, abs=0.01)


@pytest.mark.slow
def test_at_equal_budgets_ngram_is_better_in_tokyo_up_to_five() -> None:
    """Figure 6.9 with NGram's whole ε: the curves cross near 5.2, with the printed scale near 4."""
    setting = Setting(data=data())
    town = chosen(setting, "tky")
    points, paths = points_of(town), repeated(town.paths, 10)
    errors: dict[str, list[float]] = {"NGram": [], "TraCS-C": []}
    for epsilon in (4.0, 5.0, 6.0):
        for name, mechanism in (
            ("NGram", dt.rivals.NGram(SQUARE, points, epsilon=epsilon)),
            ("TraCS-C", dt.TraCSC(SQUARE, epsilon=epsilon, reading=dt.maps.Rounded(points))),
        ):
            reported = paths.like(mechanism.perturb(paths, source=dt.Seeded(1)).values)
            errors[name].append(in_degrees(town)(paths, reported)["error"])
    print({name: [round(error, 4) for error in found] for name, found in errors.items()})
    assert errors["NGram"] == pytest.approx([0.0802, 0.0752, 0.0702], rel=0.04)
    assert errors["TraCS-C"] == pytest.approx([0.0922, 0.0769, 0.0632], rel=0.04)
    assert errors["NGram"][0] < 0.95 * errors["TraCS-C"][0]
    assert errors["NGram"][2] > 1.05 * errors["TraCS-C"][2]


@pytest.mark.slow
def test_ratios_of_the_text(tmp_path: Path) -> None:
    """What the text says about Figure 6.4a, from the published table, and what is right."""
    (outcome,) = run(figures("tracs", "Figure 6.4a"), tmp_path, Setting())

    def mean(version: str, name: str) -> float:
        found = [
            row["error"] for row in outcome.rows if (row["version"], row["mechanism"]) == (version, name)
        ]
        return sum(found) / len(found)

    corner = "TraCS-D from the corner"
    assert mean(RIGHT, corner) / mean(RIGHT, "strawman") == pytest.approx(0.811, abs=0.01)
    assert mean(RIGHT, "TraCS-C") / mean(RIGHT, "strawman") == pytest.approx(0.66, abs=0.01)
    assert mean(CODED, "TraCS-D") / mean(CODED, "strawman") == pytest.approx(0.912, abs=0.01)
