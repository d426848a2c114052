"""`<dither-consent>` and `<dither-question>` in Chromium, with a collector that counts what they send."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest

from tests.collection.serving import Process
from tests.conformance.test_browser import Pages, pages
from tests.conformance.test_javascript import CLIENT, node
from tests.support.chromium import Browser, axe_script, chromium

TOML: Final = """
[campaign]
name = "city"
asker = "city.example"
contact = "mail@city.example"
purpose = "We plan <b>bus lines</b>.\\nNobody is tracked."
purposes = { de = "Wir planen Buslinien.", ar = "نخطط لخطوط الحافلات." }
languages = ["en", "de", "ar"]
begins = 2020-01-01
ends = 2120-01-01
people = 1
repeat = "same"
epsilon = 7

[questions.minutes]
interval = [0, 180]
unit = "min"
step = 5
text = { en = "How long is your way to work?", de = "Wie lang ist Ihr Arbeitsweg?", ar = "كم طول الطريق؟" }

[questions.travel]
categories = ["bus", "car", "bike"]
[questions.travel.text]
en = "How do you <i>travel</i>?"
de = "Wie sind Sie unterwegs?"
ar = "كيف تسافر؟"
[questions.travel.names]
en = ["By bus", "By car", "By bicycle"]
de = ["Mit dem Bus", "Mit dem Auto", "Mit dem Fahrrad"]
ar = ["بالحافلة", "بالسيارة", "بالدراجة"]

[questions.canton]
categories = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]

[questions.uses]
several = ["mail", "maps", "chat", "other"]
most = 2

[questions.pay]
interval = [0, 1000]
optional = true

[questions.income]
interval = [0, 100000]
scale = "log"
unit = "€"

[questions.day]
date = [2000-01-01, 2026-12-31]

[questions.hour]
time = true
"""
BROWSER: Final = Path(__file__).parent / "browser"
QUESTIONS: Final = ("minutes", "travel", "canton", "uses", "pay", "income", "day", "hour")
ROOT: Final = "document.querySelector('dither-question[name={}]').shadowRoot"


def _page(browser: Browser, at: str, *, lang: str = "en", width: int = 390, dark: bool = False) -> None:
    browser.look(width=width, height=900, dark=dark)
    browser.open(f"{at}&lang={lang}", "window.ready")
    assert browser.value("window.failed ?? ''") == ""
    browser.wait(f"{ROOT.format('hour')}?.querySelector('input')")
    browser.wait("document.querySelector('dither-consent').shadowRoot?.querySelector('button')")


def _check_words(browser: Browser, at: str) -> None:
    """Look at words: in the language of the page, and nothing of an asker is read as HTML."""
    for lang, expected in (("de", "Mit dem Fahrrad"), ("ar", "بالدراجة"), ("fr", "By bicycle")):
        _page(browser, at, lang=lang)
        assert expected in browser.value(f"{ROOT.format('travel')}.textContent")
    assert "How do you <i>travel</i>?" in browser.value(f"{ROOT.format('travel')}.textContent")
    assert browser.value(f"{ROOT.format('travel')}.querySelector('i')") is None
    said = browser.value("document.querySelector('dither-consent').shadowRoot.textContent")
    assert "<b>bus lines</b>" in said
    assert "by all of them together" in said


def _answer(browser: Browser) -> None:
    """Choose in every control, and press every button twice: one answer to each question is drawn."""
    for name, choose in {
        "minutes": "root.querySelector('input').value = 45",
        "travel": "root.querySelectorAll('input')[2].click()",
        "canton": "root.querySelector('select').value = '3'",
        "uses": "root.querySelectorAll('input').forEach((one) => one.click())",
        "pay": "root.querySelectorAll('button')[1].click()",
        "income": "root.querySelector('input').value = 52000",
        "day": "root.querySelector('input').value = '2025-02-03'",
        "hour": "root.querySelector('input').value = '13:45'",
    }.items():
        press = "" if name == "pay" else "root.querySelector('button[type=submit]').click();" * 2
        browser.value(f"(() => {{ const root = {ROOT.format(name)}; {choose}; {press} }})()")
        browser.wait(f"outcomes.{name}")


def _bundled() -> str:
    """Return the page in React as one module, with react-dom; skip where npm has not installed them."""
    modules = CLIENT / "node_modules"
    if not (modules / "react-dom").is_dir():
        pytest.skip("there is no react-dom: npm ci in clients/javascript")
    options = {"entryPoints": [str(BROWSER / "react.js")], "bundle": True, "write": False, "format": "esm"}
    options |= {"nodePaths": [str(modules)], "define": {"process.env.NODE_ENV": '"development"'}}
    script = (
        f"import {{ build }} from {json.dumps((modules / 'esbuild/lib/main.js').as_uri())};"
        f"const {{ outputFiles }} = await build({json.dumps(options)});"
        "process.stdout.write(outputFiles[0].text);"
    )
    words = [node(), "--input-type=module", "-e", script]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", ["questions", "react"])
def test_a_page_of_elements_is_answered_and_counted(page: str, tmp_path: Path) -> None:
    """Light and dark, narrow and wide, axe finds nothing; consent is asked first. React has the same."""
    bundle = _bundled() if page == "react" else "{}"
    with pages(bundle) as server, chromium(tmp_path / "profile") as browser:
        origin = f"http://127.0.0.1:{server.server_port}"
        with Process(tmp_path, str(tmp_path / "reports.db"), "--origin", origin, toml=TOML) as collector:
            _check_page(tmp_path, page, server, browser, collector)


def _check_page(shots: Path, page: str, server: Pages, browser: Browser, collector: Process) -> None:
    with urllib.request.urlopen(collector.campaign) as answer:
        key = json.loads(answer.read())["key"]
    at = f"{server.address(f'{page}.html')}?{urlencode({'address': collector.campaign, 'key': key})}"
    axe = axe_script(shots)
    for width in (390, 1280):
        for dark in (False, True):
            _page(browser, at, width=width, dark=dark)
            browser.screenshot(shots / f"{page}-{width}-{'dark' if dark else 'light'}.png")
            browser.value(axe + ";0")
            found = browser.value("axe.run().then(({violations}) => violations.map(({id}) => id))")
            assert found == []
            assert browser.value("document.documentElement.scrollWidth <= innerWidth")
    _check_words(browser, at)
    _page(browser, at)
    press = "document.querySelector('dither-consent').shadowRoot.querySelectorAll('button')[{}].click()"
    shown = "document.querySelector('dither-consent').shadowRoot.textContent"
    assert "Nothing is answered or sent unless you agree here." in browser.value(shown)
    _answer(browser)  # nobody chose yet: nothing is answered
    assert browser.value("outcomes") == dict.fromkeys(QUESTIONS, "refusedconsent")
    assert "Agree above to answer" in browser.value(f"{ROOT.format('travel')}.textContent")
    assert browser.value("given()") == 0
    browser.value("outcomes = {}; " + press.format(1))  # no
    browser.wait("document.querySelector('dither-consent').shadowRoot.textContent.includes('declined')")
    _answer(browser)
    assert browser.value("outcomes") == dict.fromkeys(QUESTIONS, "refusedconsent")
    browser.value("outcomes = {}; " + press.format(0))
    browser.wait("document.querySelector('dither-consent').shadowRoot.textContent.includes('You agreed')")
    _answer(browser)
    assert set(browser.value("outcomes").values()) <= {"drawn", "resent", "acknowledged"}
    assert browser.value("given()") == len(QUESTIONS)
    browser.wait("true")
    browser.value("new Promise(done => setTimeout(done, 1500))")
    assert browser.value("waiting()") == 0
    browser.screenshot(shots / f"{page}-answered.png")
    problems = [text for text in browser.problems() if "favicon" not in text and "404" not in text]
    assert problems == []
    if page == "questions":
        _check_unknown_name(browser)


def _check_unknown_name(browser: Browser) -> None:
    """Look at an element that names no question: it says so, the console says why, and the others stay."""
    browser.value(
        "document.querySelector('main').insertAdjacentHTML('beforeend', '<dither-question name=minuts>')"
    )
    browser.value("connectAll() && 0")
    browser.wait(f"{ROOT.format('minuts')}?.textContent.includes('cannot show this question')")
    assert any('name="minuts">: the campaign asks minutes,travel' in text for text in browser.problems())
