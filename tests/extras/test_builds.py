"""Keys, stores and accounts in a clone do not get into a source distribution, a wheel or a container."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.extras.environments import environment, run
from tests.support.repository import PYPROJECT, ROOT

# What the quick start, the operator's guide and the page about accounts write into the folder they run in.
SECRETS = (
    *("asker.key", "asker.campaigns", "asker.campaigns.lock", "collector.key", "admin.token", "me.account"),
    *("commute.sqlite", "commute.sqlite-wal", "commute.sqlite.lock", "commute.sqlite.before-3"),
    *("monday.backup", ".asker.key.0a1b2c3d.part", "me.account-wal", "campaign.key"),
)
FOLDERS = (".", "examples/collector", "src/dither", "telemetry", "papers/dither_papers")


def plant(root: Path) -> set[str]:
    """Write secrets into folders of a clone; return their paths."""
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in SECRETS:
            (root / folder / name).write_text("dither-private-key-1:…", encoding="utf-8")
    return {(Path(folder) / name).as_posix() for folder in FOLDERS for name in SECRETS}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that a build reads, and secrets among them."""
    root = tmp_path_factory.mktemp("clone")
    forced = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in forced:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("", encoding="utf-8")
    for name in ("pyproject.toml", "README.md", "LICENSE", "tools/hatch_build.py", "src/dither/errors.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    plant(root)
    return root


@pytest.mark.parametrize("ignored", [True, False], ids=["with .gitignore", "without"])
@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_hatchling_lists_no_secret(clone: Path, kind: str, ignored: bool) -> None:
    """Either `.gitignore` or `exclude` is enough: an archive of the sources may lack the first."""
    pytest.importorskip("hatchling")
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    (clone / ".gitignore").unlink(missing_ok=True)
    if ignored:
        shutil.copy(ROOT / ".gitignore", clone)
    builder = (SdistBuilder if kind == "sdist" else WheelBuilder)(str(clone))
    listed = {Path(file.path).relative_to(clone).as_posix() for file in builder.recurse_included_files()}
    assert "src/dither/errors.py" in listed
    assert not {name for name in listed if Path(name).name in SECRETS}


def test_git_ignores_secrets_and_nothing_that_is_tracked() -> None:
    names = [f"{folder}/{name}" for folder in FOLDERS for name in SECRETS]
    words = ["git", "check-ignore", "--no-index", "--stdin"]
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is not a repository of git")
    told = subprocess.run(words, input="\n".join(names), cwd=ROOT, text=True, capture_output=True, check=True)
    assert told.stdout.split("\n")[:-1] == names
    listed = ["git", "ls-files", "-ci", "--exclude-standard"]
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True)
    assert tracked.stdout == b""


def test_the_container_has_what_is_installed_and_nothing_else() -> None:
    """The context has the files that a build reads; the image has none of them but the settings."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    patterns = [line for line in lines if line and not line.startswith("#")]
    assert patterns[0] == "*"  # everything is left out that is not named
    named = [line[1:] for line in patterns if line.startswith("!")]
    assert all((ROOT / name).exists() for name in named)
    excluded = PYPROJECT["tool"]["hatch"]["build"]["exclude"]
    assert patterns[1 + len(named) :] == [f"**/{name}" for name in excluded]  # the last one that fits counts
    forced = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for name in (*forced, *PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]):
        assert any(f"{name}/".startswith(f"{kept}/") for kept in named), name

    recipe = (ROOT / "examples" / "collector" / "Containerfile").read_text(encoding="utf-8")
    build, _, final = recipe.rpartition("\nFROM ")
    assert re.search(r"^FROM \S+ AS build$", build, re.MULTILINE)
    copied = re.findall(r"^COPY (.*)$", final, re.MULTILINE)
    assert copied == [
        "--from=build /opt/dither /opt/dither",
        "examples/collector/collector.toml /etc/dither/",
    ]


@pytest.mark.slow
def test_make_dist_in_a_clone_with_secrets(tmp_path: Path) -> None:
    """`make dist` builds what is committed; a plain build in the same clone leaves secrets out as well."""
    root = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), root], check=True)
    plant(root)
    (root / "src" / "dither" / "stray.py").write_text("", encoding="utf-8")
    python = environment(root / ".venv", *PYPROJECT["dependency-groups"]["package"])
    for name in (".demo", ".package"):
        (python.parents[1] / name).touch()
    run("make", "dist", cwd=root)
    run(python, "-m", "hatchling", "build", "-d", root / "plain", cwd=root)
    built = [*(root / "dist").iterdir(), *(root / "plain").iterdir()]
    assert len(built) == 6
    for file in built:
        if file.suffix == ".whl":
            with zipfile.ZipFile(file) as wheel:
                archive = wheel.namelist()
        else:
            with tarfile.open(file) as sources:
                archive = sources.getnames()
        assert len(archive) > 10
        assert not {name for name in archive if Path(name).name in SECRETS}, file
        stray = [name for name in archive if name.endswith("stray.py")]
        assert not stray or file.parent.name == "plain"
