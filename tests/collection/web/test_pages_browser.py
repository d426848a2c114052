"""The page in a real Chromium: no console errors, axe finds nothing, news arrive, keys and phones work."""

from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from tests.collection.collectors import people, send
from tests.collection.pages.states import LIVE, STATES, collector_in, served
from tests.support.chromium import chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as one:
        yield one


def _axe() -> str:
    package = pytest.importorskip("axe_core_python", reason="the package axe-core-python is not installed")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_state_is_clean(browser):
    axe = _axe()
    for number, state in enumerate(STATES):
        with served(collector_in(state)[0]) as address:
            browser.look(width=360 if number % 2 else 1100, dark=number in (1, 2))
            browser.open(f"{address}/", LIVE)
            assert browser.value("document.documentElement.scrollWidth <= window.innerWidth"), state
            browser.call("Runtime.evaluate", expression=axe)
            found = browser.value("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
            assert found == [], (state, found)
            assert browser.problems() == [], state
            browser.open("about:blank", "true")


@pytest.mark.slow
def test_axe_would_find_something(browser):
    """The twin: a picture without words and a pale text."""
    axe = _axe()
    pale = "<title>x</title><html lang=en><main><img src='data:,'><p style='color:%23eee'>pale"
    browser.open(f"data:text/html,{pale}", "document.querySelector('p')")
    browser.call("Runtime.evaluate", expression=axe)
    found = browser.value("axe.run().then(r => r.violations.map(v => v.id))")
    assert {"image-alt", "color-contrast"} <= set(found)
    browser.problems()


@pytest.mark.slow
def test_news_arrive_and_an_open_table_stays_open(browser):
    collector, published = collector_in("few")
    browser.look(width=1100)
    with served(collector) as address:
        browser.open(f"{address}/", LIVE)
        browser.value("document.querySelector('summary').focus(); true")
        browser.key("Enter", 13, "\r")
        browser.wait("document.querySelector('details').open")
        send(collector, published, "minutes", people(900)[0], seed=9)
        browser.wait("document.getElementById('q0-answer').textContent.includes('960')")
        assert browser.value("document.querySelector('details').open")
        assert browser.value("document.activeElement.tagName") == "SUMMARY"
        assert "960" in browser.value("document.getElementById('q0-table').textContent")
        # Everything that can be used is reached by the keyboard.
        links = browser.value("[...document.querySelectorAll('a,summary,[tabindex]')].length")
        seen = set()
        for _ in range(links + 2):
            browser.key("Tab", 9)
            seen.add(browser.value("document.activeElement.outerHTML.slice(0, 200)"))
        assert len(seen) >= 12
    browser.wait("document.getElementById('live').textContent.includes('interrupted')")  # the server has gone
    browser.problems()  # which the browser notes


@pytest.mark.slow
def test_a_script_of_somebody_else_does_not_run(browser):
    collector, _ = collector_in("empty")
    with served(collector) as address:
        browser.open(f"{address}/", LIVE)
        browser.problems()
        browser.value(
            "(() => {const s = document.createElement('script'); s.textContent = 'window.hacked = 1';"
            "document.body.append(s); return true})()"
        )
        assert browser.value("window.hacked === undefined")
        assert any("Content Security Policy" in line for line in browser.problems())
