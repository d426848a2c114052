"""Where the repository's files are, and the reference values that were computed elsewhere."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# The papers' data, which are not part of the repository. Tests that need them skip where they are absent.
DATA = Path(os.environ.get("DITHER_DATA", ROOT.parent / "shared" / "data"))


def reference(name: str) -> Any:
    """Return the values of `tests/reference/NAME.json`."""
    return json.loads((TESTS / "reference" / f"{name}.json").read_text(encoding="utf-8"))
