"""Classifiers and records that are named on the command line."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dither.errors import InvalidParameter, MissingExtra, unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from dither.foundation.arrays import Array


def load(text: str) -> Any:
    """Return the classifier named package.module:name, or the one in a file of joblib or pickle."""
    path = Path(text)
    if path.suffix in (".joblib", ".pkl", ".pickle"):
        if not path.is_file():
            raise click.UsageError(f"file not found: {path}; check the name of the model")
        try:
            joblib = importlib.import_module("joblib")  # comes with scikit-learn
        except ImportError:
            raise MissingExtra("a saved model", "classifiers") from None
        return joblib.load(path)
    module, _, name = text.partition(":")
    if not name:
        raise click.UsageError(
            f"expected a model to be package.module:name, or a file that ends in .joblib or .pkl, got "
            f"{text!r}"
        )
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise click.UsageError(
            f"expected a model that can be imported, got {text!r} ({error}); correct MODULE:NAME"
        ) from None
    finally:
        sys.path.pop(0)


def features_of(model: object, said: str | None, file: Path, randomised: list[str]) -> list[str]:
    """Return the names of a model's features: its own, those in `said`, or all columns of the file."""
    from dither.data.formats.format import table_format

    known = getattr(model, "feature_names_in_", None)
    if known is not None:
        names = [str(name) for name in known]
        if said is not None and said.split(",") != names:
            raise click.UsageError(
                f"expected --columns to be the model's own features {','.join(names)}, got {said}; leave "
                "--columns out"
            )
    elif said is not None:
        names = said.split(",")
    else:
        names = table_format(file).columns(file)
    missing = [name for name in randomised if name not in names]
    if missing:
        raise unknown_name("feature", missing[0], names)
    return names


def records(file: Path, names: list[str], numbers: Collection[str]) -> Array:
    """Return the named columns of a table as rows. Those in `numbers` are numbers; others may be text."""
    import numpy as np

    from dither.data.formats.format import table_format

    chunks = list(table_format(file).read(file, names))
    columns: list[list[Any]] = []
    for name in names:
        cells = [cell for chunk in chunks for cell in chunk.cells(name)]
        if any(cell is None or cell == "" for cell in cells):
            raise InvalidParameter(
                f"{file.name}: expected a value in each cell of {name!r}, got an empty one; fill it in or "
                "leave the row out"
            )
        try:
            columns.append([float(cell) for cell in cells])
        except (TypeError, ValueError):
            if name in numbers:
                raise InvalidParameter(
                    f"{file.name}: expected numbers in the column {name!r}; name a column of labels with "
                    "--category instead"
                ) from None
            columns.append([str(cell) for cell in cells])
    kinds = {type(cell) for column in columns for cell in column[:1]}
    rows = np.empty((len(columns[0]), len(columns)), dtype=float if kinds <= {float} else object)
    for index, column in enumerate(columns):
        rows[:, index] = column
    return rows


def category_labels(text: str) -> list[Any]:
    """Return categories that are separated by commas: as numbers if all of them are, as `records` does."""
    labels = [label.strip() for label in text.split(",")]
    try:
        return [float(label) for label in labels]
    except ValueError:
        return labels
