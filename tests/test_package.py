"""The package as a whole: light to import, honest about its names, true to its README."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dither as dt

ROOT = Path(__file__).parent.parent
HEAVY = (
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "sklearn",
    "torch",
    "matplotlib",
    "click",
    "rich",
    "pyscipopt",
)


def _modules() -> list[str]:
    return [
        module.name
        for module in pkgutil.walk_packages(dt.__path__, "dither.")
        if "__main__" not in module.name
    ]


def test_importing_dither_pulls_in_nothing_heavy() -> None:
    code = f"import sys, dither; print([name for name in {HEAVY!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"


def test_importing_dither_is_quick() -> None:
    """At most numpy's own time plus 0.1 s, as the best of several, for machines are noisy."""

    def seconds(name: str) -> float:
        best = 60.0
        for _ in range(7):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
            best = min(best, time.perf_counter() - begin)
        return best

    assert seconds("dither") <= seconds("numpy") + 0.1


def test_public_names_are_sorted_and_real() -> None:
    assert list(dt.__all__) == sorted(
        dt.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name)
    )
    for name in dt.__all__:
        thing = getattr(dt, name)
        assert thing.__doc__, f"{name} has no docstring"


@pytest.mark.parametrize("name", _modules())
def test_examples_in_docstrings_run(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except dt.errors.MissingExtra as missing:
        pytest.skip(str(missing))
    assert module.__doc__, f"{name} has no docstring"
    assert doctest.testmod(module).failed == 0


def test_files_stay_small() -> None:
    long = [path.name for path in (ROOT / "src").rglob("*.py") if len(path.read_text().splitlines()) > 400]
    assert long == []
