"""Every extra has a script that runs where nothing else is installed; test_installed.py runs it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.extras.test_installed import DECLARED, HERE, LIGHT


def test_every_extra_has_a_script() -> None:
    assert {path.stem for path in HERE.glob("*.py")} >= {*LIGHT, "core"}


def test_the_extra_all_is_all_of_them_but_servers_and_torch() -> None:
    """Importing mpyc reads the command line of its importer, and torch has gigabytes for one chapter."""
    (every,) = DECLARED["optional-dependencies"]["all"]
    assert set(every.partition("[")[2].rstrip("]").split(",")) == set(LIGHT) - {"servers", "torch"}


@pytest.mark.parametrize(
    "extra", ["classifiers", "frames", "geo", "optimal", "plot", "protocols", "sql", "survey", "formulas"]
)
@pytest.mark.some(every=4)
def test_a_script_runs_with_everything_installed(
    extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only its extra is installed, it runs in the slow tests; a name that it uses is missed here."""
    monkeypatch.chdir(tmp_path)
    try:
        runpy.run_path(str(HERE / f"{extra}.py"))
    except ImportError as error:
        pytest.skip(str(error))
