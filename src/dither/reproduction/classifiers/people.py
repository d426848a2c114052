"""Paper 002, Figures 7.5, 7.6 and E.1: one person's answer, stated by a box and computed exactly."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dither.classifiers import Box, LinearClassifier, concentration, utility
from dither.reproduction.classifiers.data import Person, person
from dither.reproduction.classifiers.kinds import (
    KINDS,
    NOTE_CLAMP,
    NOTE_MODELS,
    PM,
    UNCLAMPED,
    WAVE,
    budgets,
    figure,
)
from dither.reproduction.figure import Setting
from dither.reproduction.version import CODED, PUBLISHED, RIGHT

Rows = list[dict[str, Any]]

LOGISTIC: Final = "logistic regression"
FOREST: Final = "forest"

# Boxes that the thesis prints, and the boundaries of the logistic regressions for each person's other
# features, to four digits: with them the regressions need no data.
_BOXES: Final = {
    (Person.STROKE, LOGISTIC): Box([0.63, 0.0], [1.0, 1.0]),
    (Person.STROKE, FOREST): Box([0.5, 0.0], [1.0, 0.62]),
    (Person.BANK, LOGISTIC): Box([0.0, 0.0], [0.72, 1.0]),
}
PLANES: Final = {
    Person.STROKE: LinearClassifier(np.array([[1.0, -0.02693]]), np.array([-0.62419])),
    Person.FIRST: LinearClassifier(np.array([[1.0, -0.02693]]), np.array([-0.63436])),
    Person.BANK: LinearClassifier(np.array([[-1.0, -0.02561]]), np.array([0.76263])),
}


def _compared(setting: Setting, who: Person, kinds: tuple[str, ...]) -> Rows:
    """Return for each classifier the exact utility, and the probability of the box about the person.

    The box is the printed one (as published) if there is one. Otherwise it is our own, in which the answer is
    proven to stay.
    """
    rows: Rows = []
    known = person(setting, who)
    for model in (LOGISTIC, FOREST):
        panel = f"{who.data}, {model}"
        printed = _BOXES.get((who, model))
        proven = None if printed is not None or known is None else known.proven_box(model == LOGISTIC)
        for epsilon in budgets(setting):
            for name in kinds:
                mechanism = KINDS[name](epsilon)
                row = {"panel": panel, "ε": epsilon, "mechanism": name}
                if printed is not None:
                    stated = concentration(mechanism, printed, who.values)
                    rows.append({"version": PUBLISHED, **row, "utility": stated})
                    if name in UNCLAMPED:
                        stated = concentration(UNCLAMPED[name](epsilon), printed, who.values)
                        rows.append({"version": CODED, **row, "utility": stated})
                if proven is not None:
                    inside = {**row, "mechanism": f"{name}, in the proven box"}
                    rows.append(
                        {"version": RIGHT, **inside, "utility": concentration(mechanism, proven, who.values)}
                    )
                if model == LOGISTIC:
                    kept = utility(PLANES[who], who.values, mechanism).estimate
                    rows.append({"version": RIGHT, **row, "utility": kept})
                elif known is not None:
                    rows.append({"version": RIGHT, **row, "utility": known.forest_utility(mechanism)})
    return rows


def figure_7_5(setting: Setting) -> Rows:
    """Return the utility for a person of the stroke data, of the printed boxes and exactly."""
    return _compared(setting, Person.STROKE, (PM, "Exponential", "Laplace"))


def figure_7_6(setting: Setting) -> Rows:
    """Return the utility for a person of the bank data, of boxes and exactly, without the indicator."""
    return _compared(setting, Person.BANK, (PM, "Exponential", "Laplace", "Gaussian"))


def figure_e_1(setting: Setting) -> Rows:
    """Return the utility for the first person of the stroke data under SW and k-RR."""
    return _compared(setting, Person.FIRST, (WAVE, "k-RR"))


_NOTE_BOX: Final = (
    "As published is the probability of the printed box. It is called a lower bound, but the box is tested "
    "with uniform points, and reports are not uniform. For the logistic regression on the stroke data it is "
    "above the exact utility."
)
_NOTE_PROVEN: Final = (
    "Where no box is printed, the probability of a box of our own is shown, in which the answer is proven to "
    "stay: a lower bound that holds."
)

FIGURES: Final = (
    figure(
        "figure 7.5",
        "Stroke data: age 79, body mass 24",
        figure_7_5,
        notes=(_NOTE_BOX, NOTE_CLAMP, NOTE_MODELS),
    ),
    figure(
        "figure 7.6",
        "Bank data: age 22, salary 101 348",
        figure_7_6,
        notes=(
            _NOTE_BOX,
            _NOTE_PROVEN,
            NOTE_CLAMP,
            NOTE_MODELS,
            "Nobody of this age is in the data: it is the first row, whose age is 42.",
            "Without the indicator of δ = 0.1, which would send every tenth record as it is.",
            "The Exponential mechanism has Δ = 1 here; the authors' table of the bank data has Δ = 0.5.",
        ),
    ),
    figure(
        "figure E.1",
        "Stroke data, the first record: age 67, body mass 36.6; SW and k-RR",
        figure_e_1,
        notes=(
            _NOTE_PROVEN,
            NOTE_MODELS,
            "The authors' table has SW and k-RR for the person of Figure 7.5. For the first record, about "
            "whom the text is, k-RR overtakes SW between ε = 6 and 7 with both classifiers, as the text "
            "says.",
        ),
    ),
)
