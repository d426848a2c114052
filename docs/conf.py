"""The documentation site: `make docs`. Builds offline, from the repository alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import catalogue  # noqa: E402  (beside this file)
import interfaces  # noqa: E402
import listings  # noqa: E402
import name_page  # noqa: E402
import search_index  # noqa: E402
import site_parts  # noqa: E402

project = "dither"
author = "The dither authors"
project_copyright = "the dither authors; MIT licence"
extensions = ["myst_nb", "sphinx_copybutton", "formulas"]
nb_execution_mode = "off"  # notebooks show their stored outputs; the tests run them
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_links_external_new_tab = False
html_math_renderer = "mathml"
exclude_patterns = ["_build", "playground", "jupyter_execute"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = "dither"
html_theme_options: dict[str, Any] = {"top_of_page_buttons": []}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_additional_pages = {"search": "search.html"}  # ranked by _static/search.js
html_show_sphinx = False
html_last_updated_fmt = None
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
if site_parts.repository():
    html_theme_options |= {"source_repository": site_parts.repository(), "source_branch": "main"}

site_parts.write()
catalogue.write(HERE)
pages = {"api": listings.api(), "cli": listings.cli(), **name_page.pages(), **interfaces.pages()}
site_parts.write_pages(pages)


def setup(app: Any) -> None:
    """Register what the site needs besides its extensions."""
    app.connect("builder-inited", site_parts.without_sphinx_search)
    app.connect("source-read", site_parts.read)
    app.connect("doctree-read", site_parts.outside_of_navigation)
    app.connect("doctree-read", site_parts.fold_long_tables)
    app.connect("html-page-context", site_parts.frame, priority=900)
    app.connect("build-finished", site_parts.finish)
    app.connect("build-finished", search)


def search(app: Any, error: Exception | None) -> None:
    """Write the index of the search beside its script."""
    if error is None and app.builder.format == "html":
        search_index.write(Path(app.outdir) / "_static" / "search_index.js")
