"""The wheel and the source distribution that the tests of extras install."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extras.environments import environment, run
from tests.support.repository import ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give the wheel and the source distribution, and the wheel of dither-device, built once."""
    place = tmp_path_factory.mktemp("built")
    python = environment(place / "builder", "hatchling>=1.27")
    run(python, "-m", "hatchling", "build", "-d", place / "dist", cwd=ROOT)
    (wheel,), (source,) = (place / "dist").glob("*.whl"), (place / "dist").glob("*.tar.gz")
    client = ROOT / "clients" / "python"
    run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", place / "device", cwd=client)
    (device,) = (place / "device").glob("*.whl")
    return {"wheel": wheel, "source": source, "device": device}
