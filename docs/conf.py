"""The documentation site: `make docs`. Builds offline, from the repository alone."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import catalogue  # noqa: E402  (beside this file)
import listings  # noqa: E402

project = "dither"
author = "The dither authors"
extensions = ["myst_parser"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "dither"
suppress_warnings = ["myst.xref_missing", "docutils"]

catalogue.write(HERE)
(HERE / "api").mkdir(exist_ok=True)
for name, text in {**listings.api(), "cli": listings.cli()}.items():
    (HERE / f"{name}.md").write_text(text)
