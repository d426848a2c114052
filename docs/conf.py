"""The documentation site: `make docs`. Builds offline, from the repository alone."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import catalogue  # noqa: E402  (beside this file)

project = "dither"
author = "The dither authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "dither"
suppress_warnings = ["myst.xref_missing", "docutils"]

catalogue.write(HERE)
