"""The wheel in an empty environment: the core alone, and each extra alone. Slow; needs a package index.

Each extra has a short script beside this file, run where only the wheel and that extra are installed.
`PIP_CONSTRAINT` is heeded, so that a machine without a graphics card can ask for a small torch.
"""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support.repository import PYPROJECT, ROOT

HERE = Path(__file__).parent
DECLARED = PYPROJECT["project"]
EXTRAS = sorted(DECLARED["optional-dependencies"])
LIGHT = [extra for extra in EXTRAS if extra != "all"]
CORE = {"numpy", "cryptography", "lazy-loader", "click", "rich"}
BROUGHT = {
    "cffi",
    "pycparser",
    "markdown-it-py",
    "mdurl",
    "packaging",
    "pygments",
    "typing-extensions",
}  # by the core's own

pytestmark = pytest.mark.slow


def _run(*words: object, cwd: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def _environment(place: Path) -> Path:
    venv.create(place, with_pip=True)
    return place / "bin" / "python"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give the wheel and the source distribution, built once."""
    place = tmp_path_factory.mktemp("built")
    python = _environment(place / "builder")
    try:
        _run(python, "-m", "pip", "install", "-q", "hatchling", cwd=place)
    except AssertionError:
        pytest.skip("there is no package index to install from")
    _run(python, "-m", "hatchling", "build", "-d", place / "dist", cwd=ROOT)
    (wheel,), (source,) = (place / "dist").glob("*.whl"), (place / "dist").glob("*.tar.gz")
    return {"wheel": wheel, "source": source}


def test_the_wheel_holds_the_two_packages_and_nothing_else(built: dict[str, Path]) -> None:
    names = zipfile.ZipFile(built["wheel"]).namelist()
    assert all(name.startswith(("dither/", "dither_papers/", "dither-")) for name in names)
    assert "dither/py.typed" in names
    assert {"dither/clients/javascript/dither.js", "dither/conformance/2/draws.json"} <= set(names)
    assert {"dither_papers/deviations.md", "dither_papers/expected/podium.json"} <= set(names)
    assert any(name.endswith("designs.zip") for name in names)
    with tarfile.open(built["source"]) as packed:
        assert any(name.endswith("src/dither/py.typed") for name in packed.getnames())
    assert built["wheel"].stat().st_size < 5_000_000


def test_the_core_alone(built: dict[str, Path], tmp_path: Path) -> None:
    python = _environment(tmp_path / "venv")
    _run(python, "-m", "pip", "install", "-q", built["wheel"], cwd=tmp_path)
    listed = json.loads(_run(python, "-m", "pip", "list", "--format", "json", cwd=tmp_path))
    found = {one["name"].lower().replace("_", "-") for one in listed}
    assert found - {"dither", "pip", "setuptools", "wheel"} - BROUGHT == CORE
    assert "Commands" in _run(python.parent / "dither", "--help", cwd=tmp_path)
    audited = _run(
        python, "-m", "dither", "audit", "podium", "--interval", 0, 1, "--epsilon", 1, cwd=tmp_path
    )
    assert "holds" in audited
    made = _run(python, "-m", "dither", "reproduce", "podium", "table I", "--quick", cwd=tmp_path)
    assert "220 of 220 numbers as expected" in made
    _run(python, "-I", "-W", "error", HERE / "core.py", ROOT / "README.md", cwd=tmp_path)


def test_the_source_distribution_installs(built: dict[str, Path], tmp_path: Path) -> None:
    python = _environment(tmp_path / "venv")
    _run(python, "-m", "pip", "install", "-q", built["source"], cwd=tmp_path)
    assert json.loads(_run(python.parent / "dither", "version", "--json", cwd=tmp_path))["dither"]


@pytest.mark.parametrize("extra", LIGHT)
def test_an_extra_alone(extra: str, built: dict[str, Path], tmp_path: Path) -> None:
    python = _environment(tmp_path / "venv")
    _run(python, "-m", "pip", "install", "-q", f"dither[{extra}] @ {built['wheel'].as_uri()}", cwd=tmp_path)
    _run(python, "-I", HERE / f"{extra}.py", cwd=tmp_path)


def test_all_extras_together(built: dict[str, Path], tmp_path: Path) -> None:
    python = _environment(tmp_path / "venv")
    _run(python, "-m", "pip", "install", "-q", f"dither[all] @ {built['wheel'].as_uri()}", cwd=tmp_path)
    for extra in sorted({*LIGHT} - {"servers"}):
        _run(python, "-I", HERE / f"{extra}.py", cwd=tmp_path)
