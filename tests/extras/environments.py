"""Empty environments with a wheel in them: by uv where there is one, else by pip, which takes minutes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest


def uv() -> str | None:
    """Return the path of uv: the machine's, or that of the package of this name."""
    if found := shutil.which("uv"):
        return found
    if find_spec("uv") is None:
        return None
    from uv import find_uv_bin

    return str(find_uv_bin())


def run(*words: object, cwd: Path) -> str:
    """Return what a command prints where no variable of this Python is set; fail with the end of it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-4000:]
    return done.stdout


def environment(place: Path, *packages: object, python: str = sys.executable) -> Path:
    """Make an environment with packages, and return its interpreter; skip where no index answers."""
    there = place / "bin" / "python"
    if quick := uv():
        run(quick, "venv", "--quiet", "--python", python, place, cwd=place.parent)
    else:
        venv.create(place, with_pip=True)
        if python != sys.executable:
            pytest.skip("another version of Python is tried with uv, which is not here")
    if packages:
        add(there, *packages)
    return there


def add(python: Path, *packages: object) -> None:
    """Install packages into the environment of an interpreter; skip where no index answers."""
    install = [uv(), "pip", "install", "--python", python] if uv() else [python, "-m", "pip", "install"]
    try:
        run(*install, "-q", *packages, cwd=python.parent)
    except AssertionError as error:
        said = str(error).lower()
        if any(
            words in said for words in ("dns error", "connection error", "failed to establish", "max retries")
        ):
            pytest.skip("there is no package index to install from")
        raise


def remove(python: Path, package: str) -> None:
    """Remove a package from the environment of an interpreter."""
    if quick := uv():
        run(quick, "pip", "uninstall", "-q", "--python", python, package, cwd=python.parent)
    else:
        run(python, "-m", "pip", "uninstall", "-q", "--yes", package, cwd=python.parent)


def packages(python: Path) -> set[str]:
    """Return the names of the packages of an environment."""
    script = "import importlib.metadata as m, json; print(json.dumps([d.name for d in m.distributions()]))"
    return {
        name.lower().replace("_", "-") for name in json.loads(run(python, "-c", script, cwd=python.parent))
    }
