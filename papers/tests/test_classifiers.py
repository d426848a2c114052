"""Chapter 7's classifiers, trained by the authors' recipe, give the utilities that were measured."""

from __future__ import annotations

import math

import pytest

from dither_papers import Setting
from tests.support.repository import DATA

pytest.importorskip("sklearn")
if not (DATA / "qcu_stroke_normalized.csv.gz").exists():
    pytest.skip("the papers' data are not here", allow_module_level=True)

from dither.extensions.classifiers import concentration, utility
from dither_papers.classifiers.data import KINDS, PM, WAVE, Person, person, trained
from dither_papers.classifiers.people import PLANES

SETTING = Setting(quick=True, data=DATA)
BUDGETS = (1.0, 2.0, 4.0, 8.0)

# Exact, by an independent program; the published trials of 2 000 reports agree within 0.005.
FORESTS = [
    (Person.STROKE, PM, (0.6222, 0.7645, 0.9071, 0.9850)),
    (Person.BANK, PM, (0.8828, 0.9277, 0.9728, 0.9962)),
    (Person.FIRST, WAVE, (0.553, 0.698, 0.800, 0.884)),
]
REGRESSIONS = [
    (Person.STROKE, PM, (0.5756, 0.7655, 0.9138, 0.9883)),
    (Person.FIRST, WAVE, (0.427, 0.486, 0.690, 0.918)),
    (Person.BANK, PM, (0.8482, 0.9079, 0.9661, 0.9954)),
]


@pytest.mark.some("Person.[SF]*")
@pytest.mark.parametrize(("who", "name", "wanted"), FORESTS, ids=str)
def test_the_forests(who: Person, name: str, wanted: tuple[float, ...]) -> None:
    known = person(SETTING, who)
    assert known is not None
    for epsilon, value in zip(BUDGETS[::3], wanted[::3], strict=True):
        assert known.forest_utility(KINDS[name](epsilon)) == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize(("who", "name", "wanted"), REGRESSIONS, ids=str)
def test_the_regressions(who: Person, name: str, wanted: tuple[float, ...]) -> None:
    for epsilon, value in zip(BUDGETS, wanted, strict=True):
        found = utility(PLANES[who], who.values, KINDS[name](epsilon)).estimate
        assert found == pytest.approx(value, abs=6e-4)


@pytest.mark.some("*STROKE*")
@pytest.mark.parametrize("who", list(Person))
def test_the_planes_are_those_of_the_regressions(who: Person) -> None:
    own = trained(SETTING, who.data).linear
    record = own.row(who.value[1], who.values)
    weights, plane = own.model.coef_[0], PLANES[who]
    first, second = own.columns
    rest = [index for index in range(len(own.names)) if index not in (first, second)]
    offset = own.model.intercept_[0] + math.fsum(weights[rest] * record[rest])
    size = abs(weights[first])
    sign = 1 if who.data == "stroke" else -1
    assert plane.weights[0] * sign == pytest.approx([weights[first] / size, weights[second] / size], abs=1e-5)
    assert plane.bias[0] * sign == pytest.approx(offset / size, abs=1e-5)


@pytest.mark.parametrize("linear", [True, False])
def test_a_proven_box_is_a_lower_bound(linear: bool) -> None:
    known = person(SETTING, Person.FIRST)
    assert known is not None
    box = known.proven_box(linear)
    mechanism = KINDS[WAVE](2.0)
    exact = 0.486 if linear else 0.698
    assert 0.0 < concentration(mechanism, box, Person.FIRST.values) <= exact + 1e-3
