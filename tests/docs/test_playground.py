"""The playground: one small page, up to date, strict, and right: its estimates are those of Python."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dither as dt
from dither.collection.web.playground import playground_headers, playground_page
from tests.support.chromium import Browser, axe_script, chromium
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "playground" / "index.html"
READY = "document.documentElement.dataset.ready"


@cache
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("playground_build", PAGE.with_name("build.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def data() -> dict[str, Any]:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', PAGE.read_text(), re.DOTALL
    )
    assert found is not None
    return dict(json.loads(found[1]))


def test_the_page_is_the_one_that_is_built() -> None:
    """From the client, the specifications and the words of today; the curves are checked below."""
    built: str = build().page(goals=data()["goals"])
    assert PAGE.read_text(encoding="utf-8") == built, "run: python docs/playground/build.py"
    assert playground_page() == PAGE.read_bytes()


@pytest.mark.slow
def test_the_curves_are_those_of_compare() -> None:
    held, place = data(), data()["curve"].index(1.0)
    for goal, shown in zip(build().GOALS, held["goals"], strict=True):
        rows = {row["mechanism"]: row for row in dt.compare(goal["domain"], epsilon=1.0)}
        for name, title in goal["of"].items():
            error = rows[name][goal["column"]] ** goal["power"]
            assert shown["mechanisms"][title][place] == pytest.approx(error, rel=1e-4)
            assert shown["best"][place] <= shown["mechanisms"][title][place] * (1 + 1e-4)


def test_the_page_is_small_and_strict() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(text.encode()) <= 300_000
    policy = playground_headers()["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    for part in re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r"(?:src|href)=|style=\"|\son\w+=\"", text.partition("<script")[0])


def crowd(page: Browser) -> dict[str, Any]:
    return dict(page.value("playground.crowd()"))


def choose(page: Browser, question: int, epsilon: int, people: int) -> None:
    page.value(f"document.querySelectorAll('input[name=question]')[{question}].click()")
    for name, value in (("epsilon", epsilon), ("people", people)):
        page.value(
            f"{{const e = document.getElementById('{name}'); e.value = {value}; "
            "e.dispatchEvent(new Event('input')); }"
        )


@pytest.mark.slow
def test_estimates_are_those_of_python(tmp_path: Path) -> None:
    questions = data()["questions"]
    with chromium(tmp_path) as page:
        page.open(PAGE.as_uri(), READY)
        for number, question in enumerate(questions):
            for epsilon, people in ((0, 6), (4, 2), (10, 4)):
                choose(page, number, epsilon, people)
                told = crowd(page)
                mechanism = dt.from_json(question["specifications"][epsilon])
                reports = mechanism.reports(np.array(told["cells"], dtype=mechanism.layout))
                if "labels" in question:
                    found = dt.frequencies(reports)
                    # Intervals of sets also allow for people with more items than are reported. The page's
                    # people have no more, so its intervals are those of the noise and the sample.
                    half = 1.96 * np.asarray(found.standard_error)
                    pairs = zip(np.asarray(found.value), half, strict=True)
                else:
                    mean = dt.mean(reports)
                    pairs = zip([float(mean)], [mean.half_width()], strict=True)
                for (value, half), shown in zip(pairs, told["estimates"], strict=True):
                    assert shown["value"] == pytest.approx(value, rel=1e-9, abs=1e-12)
                    assert shown["half"] == pytest.approx(half, rel=0.06)
        troubles = [
            one for one in page.events if one["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")
        ]
        assert troubles == []


@pytest.mark.slow
def test_keys_and_narrow_screens(tmp_path: Path) -> None:
    with chromium(tmp_path) as page:
        page.look(width=320, height=640)
        page.open(PAGE.as_uri(), READY)
        assert page.value("document.documentElement.scrollWidth <= innerWidth")
        page.value("document.getElementById('tab-try').focus()")
        page.key("ArrowRight", 39)
        assert page.value("document.activeElement.id") == "tab-compare"
        assert page.value("document.getElementById('try').hidden")
        assert page.value("document.documentElement.scrollWidth <= innerWidth")
        page.key("ArrowLeft", 37)
        before = page.value("document.getElementById('sent').textContent")
        assert before.startswith("Your device sends: ")
        page.value("document.getElementById('epsilon').focus()")
        page.key("ArrowRight", 39)
        assert page.value("document.getElementById('epsilon-shown').value") == "1.5"
        assert page.value("document.getElementById('epsilon').getAttribute('aria-valuetext')") == "ε = 1.5"


@pytest.mark.slow
def test_numbers_and_axes_on_a_phone(tmp_path: Path) -> None:
    with chromium(tmp_path) as page:
        page.look(width=360, height=640)
        page.open(PAGE.as_uri(), READY)
        small = "[playground.shown.minus((-0.3).toFixed(0)), playground.shown.percent(-1e-9, 1)]"
        assert page.value(small) == ["0", "0.0\u202f%"]
        assert page.value("[playground.shown.minus('-3'), playground.shown.rounded(-0.001)]") == [
            "−3",
            "−0.0010",
        ]
        for number in range(len(data()["questions"])):
            for epsilon in (0, 4, 10):
                choose(page, number, epsilon, 0)
                texts = page.value(
                    "[...document.querySelectorAll('#crowd .soft')].map((one) => one.textContent)"
                )
                assert len(texts) >= 3, (number, epsilon)  # two numbers, and what they are
                assert texts[-1] in ("minutes", "share of people")
                outside = page.value(
                    "[...document.querySelectorAll('svg text')].map((one) => one.getBoundingClientRect())"
                    ".filter((box) => box.right > innerWidth || box.left < 0).length"
                )
                assert outside == 0, (number, epsilon)
        page.value("document.getElementById('tab-compare').click()")
        titles = page.value("[...document.querySelectorAll('#curves .soft')].map((one) => one.textContent)")
        assert {"error", "ε, privacy loss of one answer"} <= set(titles)


SETS = 3  # the question about sets of items, and the ε of its specification
TICK = """
(() => { const wanted = %s;
for (const box of document.querySelectorAll('#answer input'))
  if (box.checked !== wanted.includes(box.value)) box.click();
return [...document.querySelectorAll('#answer input:checked')].length; })()
"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 1000])
def test_a_set_is_ticked(tmp_path: Path, width: int) -> None:
    """Of an empty set, of one, of all: the report is one of the names, as likely as the picture says."""
    question, epsilon = data()["questions"][SETS], 8
    labels, (own, other) = question["labels"], question["rates"][epsilon]
    asked = dt.from_json(question["specifications"][epsilon])
    assert (own, other) == pytest.approx((asked.p, asked.q))
    with chromium(tmp_path) as page:
        page.look(width=width, height=900)
        page.open(PAGE.as_uri(), READY)
        choose(page, SETS, epsilon, 0)
        for ticked in ([], labels[:1], labels[:3], labels):
            assert page.value(TICK % json.dumps(ticked)) == len(ticked)
            sent = re.fullmatch(
                r"Your device sends: (.+) \(1 byte: 0[0-8]\)\.",
                page.value("document.getElementById('sent').textContent"),
            )
            assert sent is not None
            assert sent[1] in [*labels, "(none)"]
            said = page.value("document.querySelector('#law svg').getAttribute('aria-label')")
            shown = {name: int(share) for share, name in re.findall(r"(\d+)\u202f% for ([^,.]+)", said)}
            kept = min(len(ticked), 3) / max(len(ticked), 1)
            likely = {name: kept * own + (1 - kept) * other if name in ticked else other for name in labels}
            likely["(none)"] = 1.0 - sum(likely.values())
            assert shown == pytest.approx({name: 100 * share for name, share in likely.items()}, abs=0.51)
            assert page.value("document.documentElement.scrollWidth <= innerWidth")
            if likely["(none)"] < 0.02:
                assert sum(shown.values()) == pytest.approx(100, abs=4)
        assert page.problems() == []


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("axe"))


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1000])
def test_a_screen_reader_finds_its_way(tmp_path: Path, axe: str, dark: bool, width: int) -> None:
    with chromium(tmp_path) as page:
        page.look(width=width, dark=dark)
        page.open(PAGE.as_uri(), READY)
        page.value(f"{axe}; true")
        for step in ("tab-try", "tab-compare"):
            page.value(f"document.getElementById('{step}').click()")
            found = page.value(
                "axe.run(document).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes[0].html))"
            )
            assert found == []
        page.value("document.getElementById('people').remove()")  # the twin: a label without its control …
        page.value("document.getElementById('tab-try').click()")
        page.value("document.querySelector('.control').insertAdjacentHTML('beforeend', '<input>')")
        assert page.value("axe.run(document).then((r) => r.violations.length)") > 0
