"""The site builds offline without a warning; in a browser it fits a phone, and keys and readers can use it.

Needs the group `docs`.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dither.core.registry import names
from tests.support.chromium import Browser, axe_script, chromium
from tests.support.repository import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import site_parts

PAGES = {
    "start",
    "gallery",
    "epsilon",
    "recipes",
    "recipe_stars",
    "faq",
    "papers",
    "dpia",
    "choose",
    "people",
    "rankings",
    "missing",
    "collect",
    "threats",
    "theory",
    "reproduce",
    "extend",
    "api",
    "cli",
    "glossary",
    "nist",
    "from_diffprivlib",
    "from_opendp",
    "from_pure_ldp",
    "from_rappor",
    "notebooks/analyse",
    "api/javascript",
    "api/collector",
    "api/mean",
    "project/changelog",
    "project/cite",
    "project/security",
    "playground/index",
}
# One page of each kind: text, formulas, tables, code, lists, names, a notebook, a benchmark, the search.
KINDS = (
    "index",
    "start",
    "recipe_stars",
    "coverage",
    "theory",
    "choose",
    "trust",
    "cli",
    "api",
    "api/mean",
    "mechanisms/Podium",
    "notebooks/analyse",
    "benchmarks/README",
    "glossary",
    "search",
)
FITTED = "document.documentElement.dataset.fitted"
WIDE = """[...document.querySelectorAll(".content table, .content pre, .content img, .content .formula")]
    .filter((part) => {
        const box = part.closest(".table-wrapper") ?? part;
        const right = part.getBoundingClientRect().right;
        const wide = box.scrollWidth > box.clientWidth + 1 || right > innerWidth + 1;
        return wide && !part.closest(".aligned, .formula");
    })
    .map((part) => part.outerHTML.slice(0, 200))"""
UNREACHABLE = """[...document.querySelectorAll(".content *")]
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.tabIndex < 0
        && ["auto", "scroll"].includes(getComputedStyle(part).overflowX))
    .map((part) => part.outerHTML.slice(0, 200))"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does, without a network, and return its folder."""
    for name in ("sphinx", "furo", "myst_nb", "sphinx_copybutton", "latex2mathml"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-j", "auto", "-q", "-W", "--keep-going", "-b", "html", "docs"]
    offline = {**os.environ, "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(
        [*build, str(folder)], cwd=ROOT, env=offline, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site, and return its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def show(browser: Browser, address: str) -> None:
    """Open a page, and wait until its script has fitted it."""
    browser.open(address, f"location.href === {address!r} && document.readyState === 'complete' && {FITTED}")


def test_every_page_is_there_and_every_link_leads_somewhere(site: Path) -> None:
    built = {page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.html")}
    assert PAGES | {f"mechanisms/{name}" for name in names()} <= built
    assert "<math" in (site / "theory.html").read_text(encoding="utf-8")
    lost = [
        (page.name, link)
        for page in site.rglob("*.html")
        for link in re.findall(r'(?:href|src)="([^"#?:]+)(?:[#?][^"]*)?"', page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert lost == []


def test_pages_are_small_and_pictures_have_texts(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(site).as_posix()
        assert len(text) < 250_000 or name.startswith(("playground/", "genindex")), name
        for picture in re.findall(r"<img [^>]*>", text):
            said = re.search(r'alt="([^"]*)"', picture)
            assert said, f"{name}: {picture}"
            assert len(said[1]) > 20, f"{name}: {picture}"
            assert not said[1].endswith((".png", ".svg")), f"{name}: {picture}"
        entries = re.findall(r'class="toctree-l', text)
        assert len(entries) <= 40, name


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_scrolls_sideways_but_aligned_columns(
    site: Path, address: str, tmp_path: Path, width: int
) -> None:
    wide, unreachable = {}, {}
    with chromium(tmp_path) as browser:
        browser.look(width=width)
        for file in sorted(site.rglob("*.html"))[:: 1 if width < 1000 else 3]:
            page = file.relative_to(site).as_posix()
            if page.startswith(("playground/", "genindex", "search")):
                continue
            show(browser, f"{address}/{page}")
            assert browser.value("document.documentElement.scrollWidth <= innerWidth"), page
            wide[page], unreachable[page] = browser.value(WIDE), browser.value(UNREACHABLE)
    assert {page: found for page, found in wide.items() if found} == {}
    assert {page: found for page, found in unreachable.items() if found} == {}


def test_the_measure_sees_what_is_too_wide(address: str, tmp_path: Path) -> None:
    with chromium(tmp_path) as browser:
        browser.look(width=375)
        show(browser, f"{address}/start.html")
        browser.value(
            "document.querySelector('article').insertAdjacentHTML('beforeend', "
            "'<pre style=\"white-space: pre; overflow: auto\">' + 'x'.repeat(200) + '</pre>')"
        )
        assert len(browser.value(WIDE)) == len(browser.value(UNREACHABLE)) == 1


@pytest.mark.parametrize(
    ("words", "page"),
    [("install", "start.html#install"), ("epsilon", "epsilon.html"), ("likert", "recipe_likert.html")],
)
def test_the_search_finds_what_newcomers_ask_first(
    address: str, tmp_path: Path, words: str, page: str
) -> None:
    with chromium(tmp_path) as browser:
        browser.open(f"{address}/search.html?q={words}", "document.querySelector('ul.search li a')")
        first = browser.value("document.querySelector('ul.search li a').getAttribute('href')")
        assert first.partition("?")[0] in (page, page.partition("#")[0])


def test_no_gap_between_a_formula_and_a_full_stop(address: str, tmp_path: Path) -> None:
    gaps = """[...document.querySelectorAll("math.before-stop")].map((math) => {
        const range = document.createRange();
        range.setStart(math.nextSibling, 0);
        range.setEnd(math.nextSibling, 1);
        const last = [...math.querySelectorAll("mi, mn, mo")].at(-1).getBoundingClientRect();
        const stop = range.getBoundingClientRect();
        const below = stop.top > last.bottom;
        return below ? 0 : (stop.left - last.right) / parseFloat(getComputedStyle(math).fontSize);
    })"""
    with chromium(tmp_path) as browser:
        browser.look(width=1280)
        for page in ("kernel", "epsilon", "theory"):
            show(browser, f"{address}/{page}.html")
            found = browser.value(gaps)
            assert len(found) > 2
            assert max(found) < 0.1, page


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("axe"))


def test_the_search_leads_to_places_that_exist(site: Path) -> None:
    """Every section of the index has its anchor in the built page."""
    text = (site / "_static" / "search_index.js").read_text(encoding="utf-8")
    pages = json.loads(text.removeprefix("window.ditherSearch = ").rstrip(";\n"))
    lost = []
    for entry in pages:
        built = (site / f"{entry['page']}.html").read_text(encoding="utf-8")
        lost += [
            (entry["page"], anchor)
            for anchor, *_ in entry["sections"]
            if anchor and f'id="{anchor}"' not in built
        ]
    assert lost == []


def screens(browser: Browser, address: str, pages: list[str], width: int, height: int) -> dict[str, float]:
    """Return the length of each page in screens of this size, the longest first."""
    browser.look(width=width, height=height)
    found = {}
    for page in pages:
        show(browser, f"{address}/{page}.html")
        found[page] = browser.value("document.querySelector('.content').scrollHeight") / height
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def listed(found: dict[str, float], limit: float) -> dict[str, float]:
    """Print the lengths (pytest -s), and return those above the limit."""
    print("\n".join(f"{length:5.1f}  {page}" for page, length in found.items()))
    return {page: round(length, 1) for page, length in found.items() if length > limit}


def test_no_page_is_long_on_a_phone(site: Path, address: str, tmp_path: Path) -> None:
    """At most 15 screens: chapters of longer pages are folded, and a link into one opens it."""
    pages = sorted(page.stem for page in site.glob("*.html") if page.stem != "genindex")
    with chromium(tmp_path) as browser:
        assert listed(screens(browser, address, pages, 390, 844), 15) == {}
        show(browser, f"{address}/wire.html#the-device-text")
        assert browser.value("document.querySelector('#the-device-text > details').open")


# Measured tables and the list of terms: they are looked up, as is the part Reference.
TABLES = {"coverage", "coverage_few", "glossary"}


def test_pages_that_people_read_have_at_most_five_screens(address: str, tmp_path: Path) -> None:
    parts = [first for _, first in site_parts.navigation() if first != "reference"]
    pages = [page for first in parts for page in site_parts.listed(first) if "/" not in page]
    with chromium(tmp_path) as browser:
        found = screens(browser, address, ["index", *pages], 1280, 800)
        assert len(found) > 80
        assert listed({page: length for page, length in found.items() if page not in TABLES}, 5) == {}
        assert found["coverage"] > 5  # the measure sees a long page


def test_contents_are_visible_from_1100_pixels(address: str, tmp_path: Path) -> None:
    seen = "document.querySelector('.toc-tree').getBoundingClientRect().right <= innerWidth"
    with chromium(tmp_path) as browser:
        for width, visible in ((1100, True), (1280, True), (1000, False)):
            browser.look(width=width)
            show(browser, f"{address}/epsilon.html")
            assert browser.value(seen) == visible, width


def test_pictures_are_turned_over_in_the_dark_theme_alone(address: str, tmp_path: Path) -> None:
    turned = "getComputedStyle(document.querySelector('article img')).filter.startsWith('invert')"
    with chromium(tmp_path) as browser:
        for dark in (False, True):
            browser.look(width=1280, dark=dark)
            show(browser, f"{address}/recipe_stars.html")
            assert browser.value(turned) == dark


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_a_screen_reader_finds_its_way(
    address: str, tmp_path: Path, axe: str, width: int, dark: bool
) -> None:
    found = {}
    with chromium(tmp_path) as browser:
        browser.look(width=width, dark=dark)
        for page in KINDS:
            show(browser, f"{address}/{page}.html")
            browser.value(f"{axe}; true")
            serious = browser.value(
                "axe.run(document).then((result) => result.violations"
                ".filter((one) => ['serious', 'critical'].includes(one.impact))"
                ".map((one) => `${one.id}: ${one.nodes.length} ${one.nodes[0].html.slice(0, 200)}`))"
            )
            found |= {page: serious} if serious else {}
        browser.value("document.querySelector('[role=heading]')?.removeAttribute('aria-level')")
        browser.value(
            "document.querySelector('article').insertAdjacentHTML('beforeend', '<img src=x><input>')"
        )
        assert browser.value("axe.run(document).then((result) => result.violations.length)") > 1
    assert found == {}
