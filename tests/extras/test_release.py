"""What a release consists of, read by tools that others use: package, recipe, image, list of parts. Slow."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.extras.environments import environment, run
from tests.support.repository import PYPROJECT, ROOT

pytestmark = pytest.mark.slow

TOOLS = PYPROJECT["dependency-groups"]["package"]
RECIPE = ROOT / "tools" / "packaging" / "conda" / "recipe.yaml"
IMAGE = ROOT / "examples" / "collector" / "Containerfile"


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an environment with the tools of a release, and return its folder of programs."""
    return environment(tmp_path_factory.mktemp("tools") / "venv", *TOOLS).parent


def test_the_package_is_in_order(tools: Path, built: dict[str, Path], tmp_path: Path) -> None:
    assert run(tools / "twine", "check", "--strict", *built.values(), cwd=tmp_path).count("PASSED") == 3
    # W009: a wheel with two packages, which this one is on purpose.
    assert "OK" in run(tools / "check-wheel-contents", "--ignore", "W009", built["wheel"], cwd=tmp_path)


def test_the_same_commit_gives_the_same_bytes(tools: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), clone], check=True)
    build = [tools / "python", "-m", "hatchling", "build", "-d"]
    for name in ("first", "second"):
        run("env", "SOURCE_DATE_EPOCH=1700000000", *build, tmp_path / name, cwd=clone)
    for file in (tmp_path / "first").iterdir():
        assert file.read_bytes() == (tmp_path / "second" / file.name).read_bytes()


def test_the_recipe_is_rendered(tools: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from rattler_build import Stage0Recipe, VariantConfig; "
        "(made,) = Stage0Recipe.from_file(Path(sys.argv[1])).render(VariantConfig()); print(made)"
    )
    shown = run(tools / "python", "-c", script, RECIPE, cwd=tmp_path)
    assert "package='dither'" in shown
    assert f"version='{PYPROJECT['project']['version']}'" in shown
    broken = tmp_path / "recipe.yaml"
    broken.write_text(RECIPE.read_text(encoding="utf-8").replace("requirements:", "requirments:"))
    with pytest.raises(AssertionError, match="requirments"):
        run(tools / "python", "-c", script, broken, cwd=tmp_path)


def test_the_image_is_in_order(tools: Path, tmp_path: Path) -> None:
    if not (tools / "hadolint").exists():
        pytest.skip("hadolint is a package for Linux")
    assert run(tools / "hadolint", "--no-color", IMAGE, cwd=tmp_path) == ""


def test_the_list_of_parts_is_of_what_runs(tools: Path, tmp_path: Path) -> None:
    """The lines of `make sbom`, without its environment."""
    plan = subprocess.run(
        ["make", "-n", "sbom", f"VENV={tmp_path}/venv"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.replace("\\\n", " ")
    lines = [line for line in plan.splitlines() if "/bin/uv pip compile" in line or "cyclonedx-py" in line]
    assert len(lines) == 2
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "dist").mkdir()
    for line in lines:
        run("sh", "-c", line.replace(f"{tmp_path}/venv/bin", str(tools)), cwd=tmp_path)
    parts = json.loads((tmp_path / "dist" / "dither.cdx.json").read_text(encoding="utf-8"))
    names = {part["name"] for part in parts["components"]}
    assert {"numpy", "cryptography", "starlette", "uvicorn", "psycopg"} <= names
    assert not {"pytest", "mypy", "ruff", "hypothesis"} & names
    assert parts["metadata"]["component"]["name"] == "dither"
