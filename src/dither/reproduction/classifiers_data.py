"""Paper 002, chapter 7: the authors' tables and images, and classifiers trained on them."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from dither.arrays import Floats
from dither.classifiers import DatasetUtility, Network, UtilityMethod, over_records, utility
from dither.classifiers.feature_law import feature_law
from dither.classifiers.models.network import convolution, pooling
from dither.classifiers.proofs.relaxation import AffineLayer, ReluLayer
from dither.errors import MissingExtra
from dither.mechanisms.combined.each import Each
from dither.randomness import Seeded
from dither.reproduction.figure import Setting

# File, what is predicted, the two features that are randomised, the record's row, what replaces its age.
_TABLES: Final = {
    "stroke": ("qcu_stroke_normalized.csv.gz", "stroke", ("age", "bmi"), 4, None),
    "bank": ("qcu_bank_normalized.csv.gz", "Exited", ("Age", "EstimatedSalary"), 0, 0.22),
}


@final
@dataclass(frozen=True, eq=False)
class Trained:
    """A table, and a logistic regression and a forest trained on all of its rows."""

    names: list[str]
    chosen: tuple[str, str]
    table: Floats
    record: Floats
    linear: Any
    forest: Any

    def rows(self, points: Floats) -> Floats:
        """Return the record with other values of the two randomised features, one row for each point."""
        rows = np.repeat(self.record[None], len(points), axis=0)
        rows[:, [self.names.index(name) for name in self.chosen]] = points
        return rows

    def forest_utility(self, mechanism: Any) -> float:
        """Return the exact utility of the forest for the record."""
        return utility(self.forest, self.record, self._each(mechanism), names=self.names).estimate

    def overall(self, linear: bool, mechanism: Any, count: int) -> DatasetUtility:
        """Return the exact utility over the first records of the table."""
        chosen = self.linear if linear else self.forest
        rows = self.table[:count].copy()
        # k-RR has hundredths below 1: a value of 1 is moved to the last of them.
        private = [self.names.index(name) for name in self.chosen]
        rows[:, private] = np.minimum(rows[:, private], feature_law(mechanism).line.high)
        return over_records(chosen, rows, self._each(mechanism), names=self.names)

    def _each(self, mechanism: Any) -> Each:
        return Each(dict.fromkeys(self.chosen, mechanism))


def records(setting: Setting, data: str) -> Trained | None:
    """Train on a table of the data folder; return None if it does not exist."""
    path = setting.file(_TABLES[data][0])
    return None if path is None else _trained(path, data)


def needed_records(setting: Setting, data: str) -> Trained:
    """Train on a table of the data folder; raise InvalidParameter if it does not exist."""
    return _trained(setting.needed(_TABLES[data][0]), data)


@lru_cache(maxsize=4)
def _trained(path: Path, data: str) -> Trained:
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtra("training classifiers", "classifiers") from None
    _, label, chosen, place, age = _TABLES[data]
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        header, *body = csv.reader(stream)
    numbers = np.array(body, dtype=np.float64)
    names = [name for name in header if name != label]
    table = numbers[:, [header.index(name) for name in names]]
    private = [names.index(name) for name in chosen]
    table[:, private] = np.clip(table[:, private], 0.0, 1.0)  # some body masses are above 1
    answers = numbers[:, header.index(label)].astype(np.int64)
    record = table[place].copy()
    if age is not None:  # the "randomly selected record" is the first row with another age
        record[private[0]] = age
    linear = LogisticRegression(max_iter=1000).fit(table, answers)
    forest = RandomForestClassifier(100, random_state=0).fit(table, answers)
    return Trained(names, chosen, table, record, linear, forest)


@final
@dataclass(frozen=True, eq=False)
class Digits:
    """The authors' network for digits of 7 × 7 pixels, and ten images."""

    network: Network
    images: Floats

    def kept(self, place: int, mechanism: Any, runs: int, seed: int) -> float:
        """Return how often an image keeps its digit when every pixel is randomised."""
        found = utility(
            self.network,
            self.images[place],
            mechanism,
            method=UtilityMethod.MONTE_CARLO,
            queries=runs,
            source=Seeded(seed),
        )
        return found.estimate


def digits(setting: Setting) -> Digits:
    """Read the network and the images from the data folder."""
    weights, images = (
        setting.needed(f"qcu_{name}") for name in ("cnn_mnist7x7_weights.npz", "mnist7x7_ten.npy")
    )
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
