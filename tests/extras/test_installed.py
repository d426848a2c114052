"""The wheel in an empty environment: the core alone, and each extra alone. Slow; needs a package index.

Each extra has a short script beside this file, run where only the wheel and that extra are installed.
`UV_TORCH_BACKEND=cpu`, or a `PIP_CONSTRAINT`, asks for a small torch on a machine without a graphics card.
"""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.extras.environments import add, environment, packages, remove, run
from tests.support.repository import PYPROJECT, ROOT

HERE = Path(__file__).parent
DECLARED = PYPROJECT["project"]
EXTRAS = sorted(DECLARED["optional-dependencies"])
LIGHT = [extra for extra in EXTRAS if extra != "all"]
CORE = {"numpy", "cryptography", "lazy-loader", "click"}
BROUGHT = {
    "cffi",
    "pycparser",
    "packaging",
    "typing-extensions",
}  # by the core's own

pytestmark = pytest.mark.slow


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
    python = environment(tmp_path / "venv", built["wheel"])
    assert packages(python) - {"dither", "pip", "setuptools", "wheel"} - BROUGHT == CORE
    assert "COMMAND" in run(python.parent / "dither", "--help", cwd=tmp_path)
    audited = run(python, "-m", "dither", "audit", "podium", "--interval", 0, 1, "--epsilon", 1, cwd=tmp_path)
    assert "holds" in audited
    made = run(python, "-m", "dither", "reproduce", "podium", "table I", "--quick", cwd=tmp_path)
    assert "220 of 220 numbers as expected" in made
    run(python, "-I", "-W", "error", HERE / "core.py", ROOT / "README.md", cwd=tmp_path)


def test_the_source_distribution_installs(built: dict[str, Path], tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", built["source"])
    assert json.loads(run(python.parent / "dither", "version", "--json", cwd=tmp_path))["dither"]


def answers_on_a_device(python: Path, cwd: Path) -> str:
    """Return where `dither_device` was loaded from by a program that opens an account of dither."""
    script = (
        "import dither as dt, sys; from pathlib import Path; "
        "account = dt.Account.create(Path('person.account'), epsilon=2); "
        "question = dt.KRR(dt.Categories(['yes', 'no']), epsilon=1); "
        "inquiry = dt.Inquiry('smoker', question, asker='clinic.example'); "
        "assert account.answer(inquiry, 'yes') is not None; "
        "print(sys.modules['dither_device'].__file__)"
    )
    return run(python, "-I", "-c", script, cwd=cwd).strip()


@pytest.mark.parametrize("order", [("dither", "device"), ("device", "dither")])
def test_dither_and_its_device_install_in_either_order(
    order: tuple[str, str], built: dict[str, Path], tmp_path: Path
) -> None:
    """Either is removed, and the other goes on: they share no file."""
    wheels = {"dither": built["wheel"], "device": built["device"]}
    python = environment(tmp_path / "venv", *(wheels[name] for name in order[:1]))
    add(python, wheels[order[1]])
    assert {"dither", "dither-device"} <= packages(python)
    (tmp_path / "both").mkdir()
    own = "dither/clients/python/dither_device/__init__.py"
    assert answers_on_a_device(python, tmp_path / "both").endswith(own)
    alone = run(python, "-I", "-c", "import dither_device as d; print(d.__file__)", cwd=tmp_path).strip()
    assert alone.endswith("site-packages/dither_device/__init__.py")
    remove(python, {"dither": "dither", "device": "dither-device"}[order[0]])
    (tmp_path / "one").mkdir()
    if order[0] == "device":
        assert answers_on_a_device(python, tmp_path / "one").endswith(own)
    else:
        assert run(python, "-I", "-c", "import dither_device", cwd=tmp_path) == ""


def test_an_editable_install_has_the_device_of_its_repository(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    add(python, "--editable", ROOT)
    loaded = answers_on_a_device(python, tmp_path)
    assert loaded == str(ROOT / "clients" / "python" / "src" / "dither_device" / "__init__.py")


@pytest.mark.parametrize("extra", LIGHT)
def test_an_extra_alone(extra: str, built: dict[str, Path], tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", f"dither[{extra}] @ {built['wheel'].as_uri()}")
    run(python, "-I", HERE / f"{extra}.py", cwd=tmp_path)


def test_all_extras_together(built: dict[str, Path], tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", f"dither[all] @ {built['wheel'].as_uri()}")
    for extra in sorted({*LIGHT} - {"servers", "torch"}):
        run(python, "-I", HERE / f"{extra}.py", cwd=tmp_path)
