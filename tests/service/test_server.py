"""`serve` without what it needs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dither.errors import MissingExtra
from dither.service.server import ServerPlan, serve
from tests.service.campaigns import TOML


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "psycopg"])
def test_without_its_packages_a_collector_names_the_extra_and_makes_no_file(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(TOML, encoding="utf-8")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"dither\[service\]"):
        serve(ServerPlan((str(campaign),), str(tmp_path / "store.sqlite"), port=0), print)
    assert list(tmp_path.iterdir()) == [campaign]
