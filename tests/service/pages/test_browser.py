"""The page in a real Chromium: no console errors, axe finds nothing, news arrive, keys and phones work."""

import json
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from tests.service.collectors import people, send
from tests.service.pages.states import STATES, collector_in, served
from tests.support.chromium import Chromium, program

pytestmark = pytest.mark.skipif(program() is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def browser():
    with Chromium() as one:
        yield one


def _axe() -> str:
    package = pytest.importorskip("axe_core_python", reason="the package axe-core-python is not installed")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


LIVE = "document.getElementById('live').textContent.startsWith('Live:')"


def test_every_state_is_clean(browser):
    axe = _axe()
    for number, state in enumerate(STATES):
        with served(collector_in(state)[0]) as address:
            browser.look(360 if number % 2 else 1100, dark=number in (1, 2))
            browser.open(f"{address}/")
            assert browser.until(LIVE)
            assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), state
            browser.call("Runtime.evaluate", expression=axe)
            found = browser.run("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
            assert found == [], (state, found)
            assert browser.console == [], (state, browser.console)


def test_axe_would_find_something(browser):
    """The twin: a picture without words and a pale text."""
    axe = _axe()
    browser.open(
        "data:text/html,<title>x</title><html lang=en><main><img src='data:,'><p style='color:%23eee'>pale"
    )
    browser.call("Runtime.evaluate", expression=axe)
    found = browser.run("axe.run().then(r => r.violations.map(v => v.id))")
    assert {"image-alt", "color-contrast"} <= set(found)
    browser.console.clear()


def test_news_arrive_and_an_open_table_stays_open(browser):
    collector, published = collector_in("few")
    browser.look(1100)
    with served(collector) as address:
        browser.open(f"{address}/")
        assert browser.until(LIVE)
        browser.run("document.querySelector('summary').focus(); true")
        browser.press("Enter")
        assert browser.until("document.querySelector('details').open")
        send(collector, published, "minutes", people(900)[0], seed=9)
        assert browser.until("document.getElementById('q0-answer').textContent.includes('960')")
        assert browser.run("document.querySelector('details').open")
        assert browser.run("document.activeElement.tagName") == "SUMMARY"
        assert "960" in browser.run("document.getElementById('q0-table').textContent")
        # Everything that can be used is reached by the keyboard.
        links = browser.run("[...document.querySelectorAll('a,summary,[tabindex]')].length")
        seen = set()
        for _ in range(links + 2):
            browser.press("Tab")
            seen.add(browser.run("document.activeElement.outerHTML.slice(0, 200)"))
        assert len(seen) >= 12
    assert browser.until(
        "document.getElementById('live').textContent.includes('interrupted')", patience=30
    )  # the server has gone
    browser.console.clear()  # which the browser notes


def test_a_script_of_somebody_else_does_not_run(browser):
    collector, _ = collector_in("empty")
    with served(collector) as address:
        browser.open(f"{address}/")
        browser.console.clear()
        browser.run(
            "(() => {const s = document.createElement('script'); s.textContent = 'window.hacked = 1';"
            "document.body.append(s); return true})()"
        )
        assert browser.run("window.hacked === undefined")
        assert any("Content Security Policy" in line for line in browser.console), json.dumps(browser.console)
        browser.console.clear()
