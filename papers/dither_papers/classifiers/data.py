"""Chapter 7's mechanisms, tables and images, and the classifiers that are trained on them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from dither.core.domains import Categories, Interval
from dither.errors import MissingExtra
from dither.extensions.classifiers import Network, concentration, hyperrectangle, over_records, utility
from dither.extensions.classifiers.boxes import AffineLayer, ReluLayer
from dither.extensions.classifiers.feature_law import feature_law
from dither.extensions.classifiers.models.network import convolution, pooling
from dither.foundation.arrays import Floats
from dither.foundation.randomness import Seeded
from dither.mechanisms.combined import Each
from dither.mechanisms.frequency.krr import KRR
from dither.mechanisms.numeric.exponential import Exponential
from dither.mechanisms.numeric.gaussian import Gaussian
from dither.mechanisms.numeric.laplace import Laplace
from dither.mechanisms.numeric.ogpm import OGPM
from dither.mechanisms.numeric.sw import SW
from dither.results import DatasetUtility, FeatureBox
from dither_papers.drawing import Lines, Rows
from dither_papers.figure import Figure, Setting, expected

UNIT: Final = Interval(0, 1)
PM: Final = "PM (= OGPM)"
WAVE: Final = "SW, redesigned"
_BINS: Final = (np.arange(100) / 100.0).tolist()  # bins of the programs
GRID: Final = (np.arange(101) / 100.0).tolist()  # grid of the text, with both ends

# What the thesis calls PM on [0, 1] is the density of OGPM, and its SW is the redesigned one. Laplace and
# Gaussian noise are clamped to [0, 1], as its Definition 13 has it.
KINDS: Final[dict[str, Callable[[float], Any]]] = {
    PM: lambda epsilon: OGPM(UNIT, epsilon=epsilon),
    WAVE: lambda epsilon: SW(UNIT, epsilon=epsilon).redesigned(),
    "k-RR": lambda epsilon: KRR(Categories(_BINS), epsilon=epsilon),
    "Exponential": lambda epsilon: Exponential(UNIT, GRID, epsilon=epsilon),
    "Laplace": lambda epsilon: Laplace(UNIT, epsilon=epsilon).truncated(),
    "Gaussian": lambda epsilon: Gaussian(UNIT, epsilon=epsilon, delta=0.052, calibration="pac").truncated(),
}
# The printed scale of the exponential mechanism, ε/2Δ with Δ = 1, spends half of ε on these points.
PRINTED: Final[dict[str, Callable[[float], Any]]] = {
    **KINDS,
    "Exponential": lambda epsilon: Exponential(UNIT, _BINS, epsilon=epsilon, as_published=True),
}
NOTE_SPENT: Final = (
    "The exponential mechanism of Definition 26 spends ε/2; the right curve has the scale that spends ε, as "
    "the other mechanisms do."
)
# Where code counts reports beyond [0, 1] as failures.
UNCLAMPED: Final[dict[str, Callable[[float], Any]]] = {
    "Laplace": lambda epsilon: Laplace(UNIT, epsilon=epsilon),
    "Gaussian": lambda epsilon: Gaussian(UNIT, epsilon=epsilon, delta=0.052, calibration="pac"),
}

UTILITY: Final = Lines("ε", "utility", "mechanism")
NOTE_CLAMP: Final = (
    "As coded, reports beyond [0, 1] count as failures; as defined, and right, they are clamped to it."
)
NOTE_MODELS: Final = (
    "The classifiers are trained by the authors' recipe: a stratified split of 80 % with seed 42, and for "
    "the forest 100 trees with seed 42 (for the bank on their table in which only age and salary are "
    "scaled)."
)


def budgets(setting: Setting) -> tuple[float, ...]:
    """Return ε = 1 to 8; four of them in a quick run."""
    return (1.0, 2.0, 4.0, 8.0) if setting.quick else tuple(float(complete) for complete in range(1, 9))


def figure(
    name: str,
    title: str,
    make: Callable[[Setting], Rows],
    draw: Any = UTILITY,
    needs: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    uses: tuple[str, ...] = (),
) -> Figure:
    """Return a figure of the chapter with its expected numbers."""
    found = expected("classifiers", name)
    return Figure("classifiers", name, title, make, draw, found, needs, uses, notes)


TABLES: Final = {  # for the regression, and for the forest if it has a different table
    "stroke": ("qcu_stroke_normalized.csv.gz",),
    "bank": ("qcu_bank_normalized.csv.gz", "qcu_bank_treescale.csv.gz"),
}
DIGIT_FILES: Final = ("qcu_cnn_mnist7x7_weights.npz", "qcu_mnist7x7_ten.npy")
_COLUMNS: Final = {  # the predicted column, and the two features that are randomised
    "stroke": ("stroke", ("age", "bmi")),
    "bank": ("Exited", ("Age", "EstimatedSalary")),
}
_UNIT: Final = Interval(0, 1)


class Person(Enum):
    """A person of the figures: data, row of the table, and the values of the two features."""

    STROKE = ("stroke", 4, (0.79, 0.48))  # Figure 7.5
    FIRST = ("stroke", 0, (0.67, 0.732))  # Figure E.1
    BANK = ("bank", 0, (0.22, 0.5067444))  # Figure 7.6: the first row, but for the age

    @property
    def data(self) -> str:
        """The name of the data set."""
        return self.value[0]

    @property
    def values(self) -> tuple[float, float]:
        """The values of the two features that are randomised."""
        return self.value[2]


@dataclass(frozen=True, eq=False)
class Classifier:
    """A trained classifier, with the table that it was trained on (only in part) and its column names."""

    names: list[str]
    chosen: tuple[str, str]
    table: Floats
    model: Any

    @property
    def columns(self) -> list[int]:
        """The column indices of the two randomised features."""
        return [self.names.index(name) for name in self.chosen]

    def rows(self, record: Floats, points: Floats) -> Floats:
        """Return the record with other values of the two features, one row for each point."""
        rows = np.repeat(record[None], len(points), axis=0)
        rows[:, self.columns] = points
        return rows

    def row(self, place: int, values: tuple[float, float]) -> Floats:
        """Return a row of the table with given values of the two features."""
        return np.asarray(self.rows(self.table[place], np.array([values]))[0])

    def first(self, count: int, highest: float = 1.0) -> Floats:
        """Return the first rows, the two features clipped to the domain: some body masses exceed 1."""
        rows = self.table[:count].copy()
        rows[:, self.columns] = np.clip(rows[:, self.columns], 0.0, highest)
        return rows

    def proven_box(self, record: Floats) -> FeatureBox:
        """Return a box of the two features in which the answer is proven to stay."""
        domain = dict.fromkeys(self.chosen, _UNIT)
        return hyperrectangle(self.model, record, domain, names=self.names).box

    def each(self, mechanism: Any) -> Each:
        """Return the mechanism for both features."""
        return Each(dict.fromkeys(self.chosen, mechanism))


@dataclass(frozen=True, eq=False)
class Trained:
    """The two classifiers of a data set."""

    linear: Classifier
    forest: Classifier

    def overall(self, linear: bool, mechanism: Any, count: int) -> DatasetUtility:
        """Return the exact utility over the first records of the table."""
        own = self.linear if linear else self.forest
        # k-RR has hundredths below 1: a value of 1 is moved to the last of them.
        rows = own.first(count, feature_law(mechanism).line.high)
        return over_records(own.model, rows, own.each(mechanism), names=own.names)

    def proven_boxes(self, linear: bool, count: int) -> list[FeatureBox]:
        """Return a box about each of the first records in which its answer is proven to stay."""
        own = self.linear if linear else self.forest
        return [own.proven_box(row) for row in own.first(count)]

    def in_boxes(self, linear: bool, mechanism: Any, boxes: Sequence[FeatureBox]) -> list[float]:
        """Return for each of the first records the probability of a report in its box."""
        own = self.linear if linear else self.forest
        rows = own.first(len(boxes), feature_law(mechanism).line.high)[:, own.columns]
        return [
            float(concentration(mechanism, box, tuple(values)))
            for box, values in zip(boxes, rows.tolist(), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class KnownPerson:
    """A person of the figures with the trained classifiers."""

    who: Person
    models: Trained

    def forest_utility(self, mechanism: Any) -> float:
        """Return the exact utility of the forest."""
        own = self.models.forest
        record = own.row(self.who.value[1], self.who.values)
        return utility(own.model, record, own.each(mechanism), names=own.names).estimate

    def proven_box(self, linear: bool) -> FeatureBox:
        """Return a box about the person in which the answer is proven to stay."""
        own = self.models.linear if linear else self.models.forest
        return own.proven_box(own.row(self.who.value[1], self.who.values))


def person(setting: Setting, who: Person) -> KnownPerson | None:
    """Return a person with trained classifiers; None if the data do not exist."""
    if any(setting.file(name) is None for name in TABLES[who.data]):
        return None
    return KnownPerson(who, trained(setting, who.data))


def trained(setting: Setting, data: str) -> Trained:
    """Train on a table of the data folder; raise InvalidParameter if it does not exist."""
    files = TABLES[data]
    linear = _classifier(setting.needed(files[0]), data, linear=True)
    own = setting.file(files[-1])
    return Trained(linear, linear if own is None else _classifier(own, data, linear=False))


@lru_cache(maxsize=8)
def _classifier(path: Path, data: str, *, linear: bool) -> Classifier:
    """Train by the authors' recipe: on four fifths of the rows, chosen by class with seed 42."""
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import train_test_split
    except ImportError:
        raise MissingExtra("training classifiers", "classifiers") from None
    label, chosen = _COLUMNS[data]
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        header, *body = csv.reader(stream)
    numbers = np.array(body, dtype=np.float64)
    names = [name for name in header if name != label]
    table = numbers[:, [header.index(name) for name in names]]
    answers = numbers[:, header.index(label)].astype(np.int64)
    rows, _, right, _ = train_test_split(table, answers, test_size=0.2, random_state=42, stratify=answers)
    model = LogisticRegression(max_iter=1000) if linear else RandomForestClassifier(100, random_state=42)
    return Classifier(names, chosen, table, model.fit(rows, right))


@dataclass(frozen=True, eq=False)
class Digits:
    """The authors' network for digits of 7 × 7 pixels, and ten images."""

    network: Network
    images: Floats

    def kept(self, place: int, mechanism: Any, runs: int, seed: int) -> float:
        """Return the share of trials in which an image keeps its digit when every pixel is randomised."""
        found = utility(
            self.network,
            self.images[place],
            mechanism,
            method="Monte Carlo",
            queries=runs,
            source=Seeded(seed),
        )
        return found.estimate


def digits(setting: Setting) -> Digits:
    """Read the network and the images from the data folder."""
    weights, images = (setting.needed(name) for name in DIGIT_FILES)
    return _digits(weights, images)


@lru_cache(maxsize=1)
def _digits(weights: Path, images: Path) -> Digits:
    with np.load(weights) as arrays:
        layers = [array.astype(np.float64) for array in arrays.values()]
    network = Network(
        (
            convolution(layers[0], layers[1], (1, 7, 7), padding=1),
            ReluLayer(),
            pooling((16, 7, 7), 2),
            convolution(layers[2], layers[3], (16, 3, 3), padding=1),
            ReluLayer(),
            AffineLayer(layers[4], layers[5]),
            ReluLayer(),
            AffineLayer(layers[6], layers[7]),
        )
    )
    return Digits(network, np.load(images).reshape(10, -1).astype(np.float64))
