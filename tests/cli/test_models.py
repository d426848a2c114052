"""Classifiers on the command line: the names of their features."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from dither.cli.models import features_of
from dither.errors import InvalidParameter


def test_names_of_features(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,bmi,city\n1,2,3\n")
    knows, unaware = SimpleNamespace(feature_names_in_=["age", "bmi"]), SimpleNamespace()
    assert features_of(knows, None, file, ["age"]) == ["age", "bmi"]
    assert features_of(knows, "age,bmi", file, ["age"]) == ["age", "bmi"]
    assert features_of(unaware, "bmi,age", file, ["age"]) == ["bmi", "age"]
    assert features_of(unaware, None, file, ["age"]) == ["age", "bmi", "city"]
    with pytest.raises(click.UsageError, match="to be the model's own features age,bmi"):
        features_of(knows, "bmi,age", file, ["age"])
    with pytest.raises(InvalidParameter, match="no feature 'city'"):
        features_of(knows, None, file, ["city"])
