"""Pages of these tests wait for all of their parts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="package")
def patience() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dither.collection.web.pages._PATIENCE", 60.0)
        yield
