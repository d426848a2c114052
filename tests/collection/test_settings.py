"""Settings of a collector: what is wrong is refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.collection.settings import Settings
from dither.errors import InvalidParameter


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("grace = -1", "expected grace to be an integer of at least 0"),
        ("queue = 0", "expected queue to be an integer of at least 1"),
        ('rate = "20"', "expected rate to be a positive number"),
        ("rate = nan", "expected rate to be a positive number"),
        ('proxies = "10.0.0.1"', "expected proxies to be a list of texts"),
        ('proxies = ["10.0.0.0/33"]', "neither an address nor a network"),
        ("raet = 20", "rate"),
        ("rate = 1,5", "to be valid TOML"),
        ('origins = ["city.example"]', "an origin as browsers send it"),
        ('origins = ["https://city.example/"]', "an origin as browsers send it"),
        ('origins = ["https://City.example"]', "an origin as browsers send it"),
        ('origins = ["https://city.example:443"]', "an origin as browsers send it"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(text)
    with pytest.raises(InvalidParameter, match=told):
        Settings.read(tmp_path / "limits.toml")


def test_origins_that_browsers_send_are_accepted() -> None:
    some = (
        "*",
        "null",
        "https://city.example",
        "http://127.0.0.1:8000",
        "http://[::1]:80",
        "app://x",
        "https://a:80",
    )
    with pytest.raises(InvalidParameter):
        Settings(origins=some)
    some = tuple(origin for origin in some if origin != "http://[::1]:80")
    assert Settings(origins=some).origins == some
