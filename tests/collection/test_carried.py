"""The device that the wheel of dither carries: loaded under its own name, whatever else is installed."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.support.repository import ROOT

USES = """
import tempfile
from pathlib import Path
import dither as dt
with dt.Account.create(Path(tempfile.mkdtemp(), "me.account"), epsilon=1) as account:
    account.answer(dt.Inquiry("q", dt.KRR(dt.Categories(3), epsilon=0.5)), 1)
import dither_device
print(Path(dither_device.__file__).parents[1])
"""
ALONE = """
import dither_device
print(dither_device.Telemetry, dither_device.Account)
"""


def run(python: Path | str, code: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run some lines, with folders on the path and without what this process has there."""
    return subprocess.run(
        [str(python), "-c", code],
        env={"PYTHONPATH": ":".join(map(str, paths)), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def other_device(folder: Path, version: str) -> Path:
    """Write another package of this name, as an older distribution would have installed it."""
    package = folder / "dither_device"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f'__version__ = "{version}"', encoding="utf-8")
    return folder


def test_an_installed_package_of_another_version_is_not_used(tmp_path: Path) -> None:
    done = run(sys.executable, USES, other_device(tmp_path, "0.0.1"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(ROOT / "clients" / "python" / "src")


def test_a_program_that_has_imported_another_version_is_told_so(tmp_path: Path) -> None:
    done = run(sys.executable, "import dither_device" + USES, other_device(tmp_path, "0.0.1"))
    assert "dither needs dither-device" in done.stderr
    assert "0.0.1" in done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give both wheels, built from this repository."""
    pytest.importorskip("hatchling")
    place = tmp_path_factory.mktemp("wheels")
    for folder in (ROOT, ROOT / "clients" / "python"):
        words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return {file.name.partition("-0")[0]: file for file in place.glob("*.whl")}


class Environment:
    """An empty environment that finds the dependencies of dither in this one; nothing is downloaded."""

    def __init__(self, place: Path) -> None:
        venv.create(place, with_pip=True)
        self.python = place / "bin" / "python"
        (site,) = (place / "lib").glob("*/site-packages")
        others = [path for path in sys.path if path.endswith("site-packages")]
        (site / "dependencies.pth").write_text("\n".join(others), encoding="utf-8")

    def pip(self, *words: object) -> None:
        """Run pip without an index."""
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def install(self, *words: object) -> None:
        self.pip("install", "-q", "--no-index", "--no-deps", "--no-build-isolation", *words)

    def dither_device(self) -> str:
        """Return the folder of the device that dither uses."""
        done = run(self.python, USES)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def device_alone(self) -> bool:
        """Return whether the device is there for a program that does not import dither."""
        return run(self.python, ALONE).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("order", [("dither", "dither_device"), ("dither_device", "dither")])
def test_either_wheel_is_removed_and_the_other_one_works(
    order: tuple[str, str], wheels: dict[str, Path], tmp_path: Path
) -> None:
    for gone in order:
        environment = Environment(tmp_path / gone)
        for name in order:
            environment.install(wheels[name])
        assert environment.dither_device().endswith("dither/clients/python")
        assert environment.device_alone()
        environment.pip("uninstall", "-q", "-y", gone)
        if gone == "dither":
            assert environment.device_alone()
            assert run(environment.python, USES).returncode != 0
        else:
            assert environment.dither_device().endswith("dither/clients/python")


@pytest.mark.slow
def test_an_editable_install_uses_the_repository(wheels: dict[str, Path], tmp_path: Path) -> None:
    environment = Environment(tmp_path / "editable")
    environment.install("--editable", ROOT)
    assert environment.dither_device() == str(ROOT / "clients" / "python" / "src")
    assert environment.device_alone()
    environment.install(wheels["dither_device"])
    environment.pip("uninstall", "-q", "-y", "dither-device")
    assert environment.dither_device() == str(ROOT / "clients" / "python" / "src")
