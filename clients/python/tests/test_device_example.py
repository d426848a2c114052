"""The example, and what is released: a small tool end to end, the wheel, and the versions that agree."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
import tomllib
import zipfile
import zlib
from pathlib import Path
from types import ModuleType

import pytest
from device_support import ROOT, SOURCE, publish, stub

import dither
import dither_device
from tests.support.repository import PYPROJECT

OWN = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MOST = 150_000  # bytes of a wheel


def load(name: str) -> ModuleType:
    plan = importlib.util.spec_from_file_location(f"telemetry_{name}", ROOT / f"examples/telemetry/{name}.py")
    assert plan is not None
    assert plan.loader is not None
    module = importlib.util.module_from_spec(plan)
    plan.loader.exec_module(module)
    return module


def test_the_program_of_the_example_answers_and_sends(tmp_path: Path) -> None:
    demo = load("demo")
    text = (ROOT / "examples/telemetry/campaign.toml").read_text(encoding="utf-8")
    publish(tmp_path, text.replace("2026-03-31", "2120-03-31").replace("days = 30", "days = 1"))
    with stub() as collector:
        assert demo.run_tool(tmp_path, 0, collector.address).isdecimal()
        for _ in range(600):
            if collector.batches:
                break
            time.sleep(0.05)
    (batch,) = collector.batches
    assert len(batch.reports) == 3
    assert batch.label == "1.0"


def test_the_campaign_of_the_example_is_signed_with_a_new_key(tmp_path: Path) -> None:
    """The first step of the long run below."""
    key = load("demo").publish(tmp_path, 10)
    assert re.fullmatch(r"[0-9a-f]{64}", key)
    assert dither_device.Campaign((tmp_path / "campaign.json").read_text("utf-8"), key=key).asker


@pytest.mark.slow
def test_the_example_from_end_to_end() -> None:
    told = load("demo").run(9, least=10)
    rows = [row for row in told["rows"] if row["question"] == "command"]
    assert [row["answer"] for row in rows] == ["lines", "words", "top"]
    assert all(row["low"] <= row["value"] <= row["high"] and row["n"] == 10 for row in rows)


def test_versions_agree() -> None:
    assert OWN["version"] == dither_device.__version__ == PYPROJECT["project"]["version"]
    for name in ("requires-python", "license"):
        assert OWN[name] == PYPROJECT["project"][name]
    assert OWN["dependencies"] == []
    assert (SOURCE.parent / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_is_small() -> None:
    files = [path for path in (SOURCE / "dither_device").iterdir() if path.is_file()]
    assert (SOURCE / "dither_device" / "py.typed") in files
    assert sum(len(zlib.compress(path.read_bytes(), 9)) for path in files) < 0.9 * MOST


@pytest.mark.slow
def test_the_wheel_is_built_and_works_alone(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=SOURCE.parent, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    size = wheel.stat().st_size
    assert size < MOST
    for page in ("telemetry.md", "devices.md"):  # what they say, and no more than a tenth beside it
        (stated,) = re.findall(r"wheel (?:has|of) (\d+) kB", (ROOT / "docs" / page).read_text("utf-8"))
        assert abs(size / 1000 - int(stated)) < 8
    names = zipfile.ZipFile(wheel).namelist()
    assert {"dither_device/py.typed", "dither_device/telemetry.py"} <= set(names)
    assert not [name for name in names if "test" in name]
    # From the file itself, without site packages and without a folder of modules.
    code = "import dither_device as d; print(d.__file__, d.Telemetry, d.Campaign, d.Account)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(wheel), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert wheel.name in done.stdout


def test_every_name_is_there_and_documented() -> None:
    for name in dither_device.__all__:
        assert getattr(dither_device, name).__doc__
    assert set(dither_device.__all__) <= set(dir(dither_device))
    with pytest.raises(AttributeError):
        dither_device.nothing  # noqa: B018
    assert "dither_device" not in dither.__all__
