"""Load classifiers and records for `dither classify`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from dither.arrays import Floats
from dither.domains import Interval
from dither.errors import InvalidParameter, MissingExtra
from dither.files.format import format_of
from dither.registry import named


def load(text: str) -> Any:
    """Return the classifier package.module:name, or the one in a file of joblib or pickle."""
    path = Path(text)
    if path.suffix in (".joblib", ".pkl", ".pickle"):
        if not path.is_file():
            raise click.UsageError(f"there is no file {path.name}")
        try:
            joblib = importlib.import_module("joblib")  # comes with scikit-learn
        except ImportError:
            raise MissingExtra("a saved model", "classifiers") from None
        return joblib.load(path)
    module, _, name = text.partition(":")
    if not name:
        raise click.UsageError("a model is package.module:name, or a file that ends in .joblib or .pkl")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise click.UsageError(f"the model cannot be imported: {error}") from None
    finally:
        sys.path.pop(0)


def features_of(model: Any, said: str | None, file: Path, randomised: list[str]) -> list[str]:
    """Return the names of a model's features: its own, those given, or all columns of the file."""
    known = getattr(model, "feature_names_in_", None)
    if known is not None:
        names = [str(name) for name in known]
    elif said is not None:
        names = said.split(",")
    else:
        names = format_of(file).columns(file)
    missing = [name for name in randomised if name not in names]
    if missing:
        raise InvalidParameter(f"there is no feature {', '.join(missing)}; there are {', '.join(names)}")
    return names


def records(file: Path, names: list[str]) -> Floats:
    """Return the named columns of a table as rows of numbers."""
    chunks = list(format_of(file).read(file, names))
    try:
        columns = [[float(cell) for chunk in chunks for cell in chunk.cells(name)] for name in names]
    except (TypeError, ValueError):
        raise InvalidParameter("every feature of a record is a number, and none is missing") from None
    return np.array(columns).T


def inside(kind: str, domain: Interval) -> Any:
    """Return the named mechanism, truncated if its reports can lie outside the domain."""
    made: Any = named(kind)(domain, epsilon=1.0)
    low, high = getattr(made, "support", (domain.low, domain.high))
    return made.truncated() if low < domain.low or high > domain.high else made
