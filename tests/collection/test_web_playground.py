"""The collector serves the playground, under the page's own policy."""

from __future__ import annotations

import datetime
from pathlib import Path

from dither.collection.collector import Collector
from dither.collection.settings import Settings
from dither.collection.store.opening import open_store
from dither.collection.web.playground import playground_page
from tests.collection.caller import Caller


def test_the_page_and_its_policy(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "reports.db"))
    caller = Caller(Collector(store, Settings(), lambda: datetime.date(2026, 5, 1)))
    try:
        answered = caller.get("/playground")
        assert answered.status_code == 200
        assert answered.content == playground_page()
        assert answered.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in answered.headers["content-security-policy"]
        assert "/playground" in caller.get("/openapi.json").json()["paths"]
    finally:
        caller.close()
