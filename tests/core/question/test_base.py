"""Questions: everything from integers and a codebook; a design only where its formulas are wanted."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.core.kernels.window.start import GLIDING
from dither.core.question import NumberQuestion, as_question, can_answer, read_question
from dither.core.wire import read_named
from dither.errors import InvalidParameter, MalformedReport, Mismatch
from dither.mechanisms.numeric.base import Shape, WindowMechanism
from tests.golden.devices import CASES
from tests.support.travel import changed, narrower

UNIT = dt.Interval(0, 1)


@dataclass(frozen=True)
class Halves(WindowMechanism):
    """A window of half the range: a design of another package."""

    def shape(self) -> Shape:
        return Shape.unbiased(0.5, GLIDING)


def renamed(mechanism: Any, name: str) -> str:
    return changed(mechanism, whole=lambda data: data.update(mechanism=name))


@pytest.mark.some(every=6)
@pytest.mark.parametrize(
    "name", [name for name in CASES if name not in ("Each", "Sampled", "Memoised", "Indicator")]
)
def test_a_text_alone_is_a_question(name: str) -> None:
    """What is read draws, counts, decodes and promises as the design does, and the design comes back."""
    design = CASES[name]()
    question = dt.from_json(design.to_json())
    assert question == design.question
    assert question.guarantee == design.guarantee
    assert question.describe() == design.question.describe()
    assert pickle.loads(pickle.dumps(question)) == question
    assert question.to_json() == design.to_json()
    if name == "Optimal, list of places":
        with pytest.raises(dt.errors.Mismatch, match="the distances between places"):
            question.design()
    elif "function" not in design.to_json():
        assert question.design().question == question


def test_a_design_that_nobody_knows_is_not_needed() -> None:
    text = renamed(dt.Podium(UNIT, epsilon=1), "SomebodysOwn")
    question = dt.from_json(text)
    reports = question.perturb(np.full(1000, 0.3), source=dt.Seeded(1))
    assert dt.mean(reports).value == dt.mean(dt.Podium(UNIT, epsilon=1).reports(reports.cells)).value
    assert dt.Counts.of(reports).n == 1000
    assert "SomebodysOwn on [0, 1]" in question.describe()
    assert dt.audit(question).ok
    for wanted in (question.design, lambda: question.at(2)):
        with pytest.raises(InvalidParameter, match="import the package that defines it"):
            wanted()


def test_a_design_of_another_package_is_found_once_it_is_imported() -> None:
    own = Halves(UNIT, epsilon=1)
    question = dt.from_json(own.to_json())
    assert isinstance(question, NumberQuestion)
    assert question.design() == own
    assert question.at(2) == own.at(2).question


def test_devices_insist_on_names_that_are_known() -> None:
    text = Halves(UNIT, epsilon=1).to_json()
    with pytest.raises(MalformedReport, match="Halves"):
        read_named(text)
    with pytest.raises(MalformedReport, match="Halves"):
        dt.from_json(text, policy=dt.privacy.Policy())
    assert read_named(dt.Podium(UNIT, epsilon=1).to_json()).name == "Podium"
    for wrong in (
        "KRR",
        "Questionnaire",
        "Interval",
    ):  # a name of dither's whose design draws otherwise, or none
        with pytest.raises(MalformedReport, match=wrong):
            dt.from_json(renamed(dt.Podium(UNIT, epsilon=1), wrong))


def test_integers_of_another_version_have_no_design_here() -> None:
    question = dt.from_json(changed(dt.PM(UNIT, epsilon=1), narrower(7)))
    assert dt.mean(question.perturb([0.2] * 10)).n == 10
    with pytest.raises(Mismatch, match="expected the integers"):
        question.design()


def test_the_reading_of_a_mixture_is_that_of_its_windows() -> None:
    """Hybrid's is computed from two windows and a coin; one window's alone is biased by the other's cells."""
    question: Any = dt.from_json(dt.Hybrid(UNIT, epsilon=2, cells=256).to_json())
    values = question.unbiased_reading().values
    for x in (0.0, 0.3, 1.0):
        assert float(question.chances(x) @ values) == pytest.approx(x, abs=1e-8)
    wrong = np.concatenate([values[:-2], values[-2:] + 0.01])
    assert abs(float(question.chances(0.3) @ wrong) - 0.3) > 1e-4


def test_decodings_change_the_codebook_alone() -> None:
    question: Any = dt.from_json(dt.SW(UNIT, epsilon=1).to_json())
    for other, design in (
        (question.truncated(), dt.SW(UNIT, epsilon=1).truncated()),
        (question.compressed(), dt.SW(UNIT, epsilon=1).compressed()),
    ):
        assert other.fingerprint == question.fingerprint
        assert json.loads(other.to_json())["parameters"] == json.loads(design.to_json())["parameters"]
        assert np.allclose(
            other.decode(np.arange(1 << 16)), design.question.decode(np.arange(1 << 16)), atol=1e-12
        )
    with pytest.raises(InvalidParameter, match="compressed"):
        dt.from_json(dt.Laplace(UNIT, epsilon=1).to_json()).compressed()  # type: ignore[attr-defined]


def test_a_question_is_valid_when_it_exists() -> None:
    question = dt.Podium(UNIT, epsilon=1).question
    with pytest.raises(InvalidParameter, match="for another domain"):
        replace(question, domain=dt.Interval(0, 2), made_by=None)
    with pytest.raises(InvalidParameter, match="ε"):
        replace(question, epsilon=0.99, made_by=None)
    device = question.device()
    for name in ("no name", "", "x" * 81):
        with pytest.raises(MalformedReport, match="name"):
            read_question(device, question.codebook(), name, question.parameters)


def test_what_is_asked_is_a_question_or_a_design() -> None:
    podium = dt.Podium(UNIT, epsilon=1)
    assert as_question(podium) is as_question(podium.question) is podium.question
    memoised = dt.Memoised(podium, bytes(32), name="age")
    assert can_answer(podium)
    assert can_answer(memoised)
    for wrong in (memoised, "Podium", dt.Podium, None):
        with pytest.raises(InvalidParameter, match="expected a question"):
            as_question(wrong)
    assert not can_answer(dt.Podium)


def test_reading_a_question_loads_no_design() -> None:
    """Not even the package: a device that is given a text draws without any formula of a paper."""
    text = dt.Podium(UNIT, epsilon=1).to_json()
    code = (
        "import sys\nfrom dither.core.wire import from_json\n"
        f"question = from_json({text!r})\nquestion.perturb([0.5])\n"
        "from dither.core.counts import Counts\nCounts.of(question.reports([1, 2]))\n"
        "rooms = ('dither.mechanisms', 'dither.mechanisms.optimal')\n"
        "loaded = [name for name in sys.modules if name.startswith(rooms)]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_one_value_is_asked_of_each_person() -> None:
    """The cells of a table would count as people."""
    frame = pytest.importorskip("pandas").DataFrame({"age": [20.0, 30.0], "name": ["Ann", "Bo"]})
    for asked, value in (
        (dt.Podium(dt.Interval(18, 100), epsilon=1), 20.0),
        (dt.Podium(dt.Nullable(dt.Interval(18, 100)), epsilon=1), 20.0),
        (dt.OGPM(dt.Circle(360), epsilon=1), 20.0),
        (dt.KRR(dt.Categories([20, 30, 40]), epsilon=1), 20),
    ):
        for table in (frame, frame[["age"]], np.full((2, 3), value), [[value], [value]], [np.full(2, value)]):
            with pytest.raises(InvalidParameter, match="expected one value per person, got"):
                asked.perturb(table)
        for column in (frame["age"], [value, value], (value,), np.full(2, value), value, []):
            assert asked.perturb(column).cells.ndim == np.ndim(column)
