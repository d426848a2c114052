"""Other versions: every Python that is found, and the lowest versions that pyproject.toml allows. Slow.

The wheel is installed with most extras. The tests of files, the command line, the
collector, the core, maps and pictures run on it. Each environment takes some minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.extras.environments import add, environment, run, uv
from tests.support.repository import PYPROJECT, ROOT

pytestmark = pytest.mark.slow

EXTRAS = "classifiers,frames,geo,optimal,plot,protocols,service,solver,sql"
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"  # on which all tests run anyway
TOOLS = (
    "httpx",
    "hypothesis",
    "mpmath",
    "packaging",
    "prometheus-client",
    "pytest",
    "pytest-xdist",
    "sqlglot",
)
ROOMS = ("cli", "collection", "core", "data", "estimation/maps", "foundation")
STATED = [
    line.rpartition(" ")[2]
    for line in PYPROJECT["project"]["classifiers"]
    if line.startswith("Programming Language :: Python :: 3.")
]
NEWER = ["3.14", "3.15"]  # not stated: no interpreter was found to try them with


@cache
def interpreter(version: str) -> str | None:
    """Return an interpreter of a version, such as 3.12, that this machine has."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    named = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"versions/{version}.*/bin/python"))]
    if quick := uv():
        found = [quick, "python", "find", "--no-python-downloads", version]
        named.append(subprocess.run(found, capture_output=True, text=True, check=False).stdout.strip())
    script = "import sys; print('%d.%d' % sys.version_info[:2])"
    for one in filter(None, named):
        shown = subprocess.run([one, "-c", script], capture_output=True, text=True, check=False).stdout
        if shown.strip() == version:
            return str(one)
    return None


def try_tests(python: Path, *options: str) -> None:
    """Run tests of the repository on the dither that is installed; those that need another package skip."""
    rooms = [ROOT / "tests" / name for name in ROOMS]
    assert [room for room in rooms if not room.is_dir()] == [], "pytest runs nothing"
    shown = run(python, "-c", "import dither; print(dither.__file__)", cwd=python.parent)
    assert str(python.parent.parent) in shown
    run(python, "-m", "pytest", "-n", 2, "--dist", "worksteal", "-m", "not slow", *options, *rooms, cwd=ROOT)


@pytest.mark.parametrize("version", [version for version in (*STATED, *NEWER) if version != RUNNING])
def test_a_version_of_python(version: str, built: dict[str, Path], tmp_path: Path) -> None:
    found = interpreter(version)
    if found is None:
        pytest.skip(
            f"there is no Python {version} here: uv python install {version}, or pyenv install {version}"
        )
    python = environment(tmp_path / "venv", f"dither[{EXTRAS}] @ {built['wheel'].as_uri()}", python=found)
    add(python, *TOOLS)
    try_tests(python)


def test_the_lowest_versions_that_are_allowed(built: dict[str, Path], tmp_path: Path) -> None:
    if uv() is None:
        pytest.skip("uv chooses the lowest versions, and is not here: pip install uv")
    lowest = interpreter(STATED[0]) or sys.executable
    python = environment(tmp_path / "venv", python=lowest)
    wheel = f"dither[{EXTRAS}] @ {built['wheel'].as_uri()}"
    add(python, "--resolution", "lowest-direct", "--only-binary", ":all:", wheel)
    add(python, *TOOLS)
    try_tests(python, "-W", "default")  # old packages warn of new ones
